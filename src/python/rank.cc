#include "python/rank.h"

#include <memory>
#include <utility>

#include "python/values.h"

namespace refrain::python {

namespace py = pybind11;

SignatureView::SignatureView(const Signature& signature, const Trace& trace, std::string site)
    : trace_(trace),
      signature_(signature),
      id_(signature.id),
      name_(signature.name),
      site_(std::move(site)),
      result_(to_python(signature.result, trace)),
      error_(to_python(signature.error_class, trace)),
      matched_(to_python(signature.matched, trace)),
      failed_(signature.failed()) {
  // The reader owns the names.
  for (const Argument& argument : signature.args) arg_names_.emplace_back(argument.name);
}

const py::dict& SignatureView::args() {
  if (args_) return *args_;
  py::dict out;
  for (size_t i = 0; i < signature_.args.size(); ++i) {
    const Value& value = signature_.args[i].value;
    out[py::str(arg_names_[i])] = to_python(value, trace_);
    if (value.kind == ValueKind::kChanged)
      out[py::str(arg_names_[i] + "_in")] = to_python(value.at_entry(), trace_);
  }
  return args_.emplace(std::move(out));
}

RankView::RankView(const Trace& trace, Rank rank, Times times)
    : trace_(trace), reader_(trace_, rank, times), sites_(trace_, true) {}

const py::object& RankView::signature(const Signature& signature) {
  auto& known = known_[signature.id];
  if (!known)
    known =
        py::cast(std::make_shared<SignatureView>(signature, trace_, sites_.name(signature.site)));
  return known;
}

}  // namespace refrain::python
