#include "python/rank.h"

#include <memory>
#include <utility>

#include "events/payload.h"
#include "mpi/call_table.h"
#include "python/values.h"
#include "text/path_names.h"

namespace refrain::python {

namespace py = pybind11;

SignatureView::SignatureView(const Signature& signature, std::shared_ptr<Opened> opened,
                             const Moved& moved)
    : opened_(std::move(opened)),
      signature_(signature),
      moved_(moved),
      id_(signature.id),
      name_(signature.name),
      result_(to_python(signature.result, opened_->trace)),
      error_(to_python(signature.error_class, opened_->trace)),
      matched_(to_python(signature.matched, opened_->trace)),
      failed_(signature.failed()) {
  // The reader owns the names.
  for (const Argument& argument : signature.args) arg_names_.emplace_back(argument.name);
}

const py::dict& SignatureView::args() {
  if (args_) return *args_;
  py::dict out;
  for (size_t i = 0; i < signature_.args.size(); ++i) {
    const Value& value = signature_.args[i].value;
    out[py::str(arg_names_[i])] = to_python(value, opened_->trace);
    if (value.kind == ValueKind::kChanged)
      out[py::str(arg_names_[i] + "_in")] = to_python(value.at_entry(), opened_->trace);
  }
  return args_.emplace(std::move(out));
}

py::list SignatureView::call_path() {
  py::list out;
  if (signature_.site == kNoDefinition) return out;
  for (const text::PathStep& step : opened_->paths.steps(signature_.site)) {
    const py::object function =
        step.function.empty() ? py::none() : py::object(py::str(step.function));
    out.append(py::make_tuple(function, step.site));
  }
  return out;
}

RankView::RankView(std::shared_ptr<Opened> opened, Rank rank, Times times)
    : opened_(std::move(opened)), reader_(opened_->trace, rank, times), transfers_(reader_) {}

// A receive hands in nothing; its partner is who it asks for, or whose message it took.
Moved RankView::moved_by(const Signature& signature) {
  Moved out{0, -1};
  bool is_first = true;
  for (const events::Transfer& t : transfers_.transfers(signature.id)) {
    if (out.bytes && t.is_sized)
      *out.bytes = events::add(*out.bytes, events::multiply(t.bytes, t.repeat));
    else
      out.bytes.reset();
    const Rank other = t.source == reader_.rank() ? t.dest : t.source;
    out.peer = is_first || out.peer == other ? other : -1;
    is_first = false;
  }
  const mpi::CallInfo* info = mpi::find_call(signature.call);
  if (info == nullptr || info->traffic != mpi::Traffic::kRecv) return out;
  const Value* source = &events::argument(signature, "source");
  if (!source->is_integer() && signature.matched.kind == ValueKind::kStatus)
    source = &signature.matched.items[0];
  const Value& status = events::argument(signature, "status");
  if (!source->is_integer() && status.at_exit().kind == ValueKind::kStatus)
    source = &status.at_exit().items[0];
  if (!source->is_integer()) return out;
  const auto comm = opened_->trace.communicator(signature.context, reader_.rank());
  out.peer = (comm ? *comm : opened_->trace.world(reader_.rank())).peer(source->number);
  return out;
}

const py::object& RankView::signature(const Signature& signature) {
  auto& known = known_[signature.id];
  if (!known)
    known = py::cast(std::make_shared<SignatureView>(signature, opened_, moved_by(signature)));
  return known;
}

}  // namespace refrain::python
