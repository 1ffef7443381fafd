// Arrays are kept as runs; what walks them is in the header, as it is a template.

#include "refrain/value.h"

#include "mpi/call_table.h"

namespace refrain {

namespace {
const Value kNullValue;
}

std::string_view Value::name() const {
  return kind == ValueKind::kConstant ? mpi::constant_name(id) : std::string_view();
}

const Value& Value::at_exit() const {
  return kind == ValueKind::kChanged && items.size() == 2 ? items[0] : *this;
}

const Value& Value::at_entry() const {
  return kind == ValueKind::kChanged && items.size() == 2 ? items[1] : *this;
}

const Value& Value::source() const {
  return kind == ValueKind::kStatus && items.size() >= 2 ? items[0] : kNullValue;
}

const Value& Value::tag() const {
  return kind == ValueKind::kStatus && items.size() >= 2 ? items[1] : kNullValue;
}

uint64_t Value::size() const {
  if (!is_array()) return 0;
  uint64_t n = 0;
  for (const Value& run : items) n += run.repeat;
  return n;
}

Value Value::element(uint64_t i) const {
  Value one = *this;
  one.repeat = 1;
  one.step = 0;
  if (kind == ValueKind::kRequest)
    one.id = request_of_element(i);
  else
    one.number = number_of_element(i);
  return one;
}

Value Value::at(uint64_t i) const {
  if (!is_array()) return {};
  for (const Value& run : items) {
    if (i < run.repeat) return run.element(i);
    i -= run.repeat;
  }
  return {};
}

Value Value::integer(int64_t v) {
  Value value;
  value.kind = ValueKind::kInteger;
  value.number = v;
  return value;
}

Value Value::constant(ConstantId id) {
  Value value;
  value.kind = ValueKind::kConstant;
  value.id = id;
  return value;
}

Value Value::constant(std::string_view name) {
  const ConstantId id = mpi::constant_id(name);
  return id == 0 ? Value() : constant(id);
}

Value Value::status(Value source, Value tag) {
  Value value;
  value.kind = ValueKind::kStatus;
  value.items.push_back(std::move(source));
  value.items.push_back(std::move(tag));
  return value;
}

}  // namespace refrain
