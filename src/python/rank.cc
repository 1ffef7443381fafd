#include "python/rank.h"

#include <memory>
#include <utility>

#include "python/values.h"

namespace refrain::python {

namespace py = pybind11;

SignatureView::SignatureView(const Signature& signature, std::shared_ptr<Opened> opened)
    : opened_(std::move(opened)),
      signature_(signature),
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

RankView::RankView(std::shared_ptr<Opened> opened, Rank rank, Times times)
    : opened_(std::move(opened)), reader_(opened_->trace, rank, times) {}

const py::object& RankView::signature(const Signature& signature) {
  auto& known = known_[signature.id];
  if (!known) known = py::cast(std::make_shared<SignatureView>(signature, opened_));
  return known;
}

}  // namespace refrain::python
