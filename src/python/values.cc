#include "python/values.h"

#include <string>

#include "python/errors.h"
#include "text/escape.h"
#include "text/values.h"

namespace refrain::python {

namespace py = pybind11;

namespace {

py::object text_or_bytes(const Value& value) {
  if (value.kind == ValueKind::kString && text::is_utf8(value.text)) return py::str(value.text);
  return py::bytes(value.text);
}

py::object status_of(const Value& value, const Trace& trace) {
  static constexpr const char* kNames[] = {"source", "tag", "error"};
  py::dict out;
  for (size_t i = 0; i < value.items.size() && i < std::size(kNames); ++i)
    out[kNames[i]] = to_python(value.items[i], trace);
  return out;
}

py::object list_of(const Value& value, const Trace& trace) {
  if (value.size() > kMaxElements)
    throw RefrainError(base::fail(
        "an array of " + std::to_string(value.size()) + " elements is too long for a list",
        trace.name()));
  py::list out;
  value.for_each_run([&](const Value& element, uint64_t count) {
    const py::object one = to_python(element, trace);
    for (uint64_t i = 0; i < count; ++i) out.append(one);
  });
  return out;
}

}  // namespace

py::object to_python(const Value& value, const Trace& trace) {
  switch (value.kind) {
    case ValueKind::kNull: return py::none();
    case ValueKind::kInteger: return py::int_(value.number);
    case ValueKind::kString:
    case ValueKind::kBytes: return text_or_bytes(value);
    case ValueKind::kStatus: return status_of(value, trace);
    case ValueKind::kArray: return list_of(value, trace);
    case ValueKind::kChanged: return to_python(value.at_exit(), trace);
    default: break;
  }
  std::string text;
  if (!text::append_value(text, value, trace, text::Style::kText))
    throw RefrainError(base::fail("a value is too long", trace.name()));
  return py::str(text);
}

}  // namespace refrain::python
