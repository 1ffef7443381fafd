// A signature of the file has values that depend on the rank, as expressions. The slot evaluator
// computes them for this rank, and what is left is to give parameters their names and to turn
// fields into values. Nothing here multiplies runs out, so that a value takes as much memory as its
// bytes.

#include "reader/decode_signature.h"

#include <array>
#include <string>
#include <utility>

#include "format/signatures/walk.h"
#include "mpi/call_table.h"
#include "reader/posted_status.h"

namespace refrain::reader {

using format::Field;
using format::FieldTag;

namespace {

// Of a kind, and otherwise empty.
Value with_kind(ValueKind kind) {
  Value value;
  value.kind = kind;
  return value;
}

// A run of integers as an item of an array.
Value integer_run(uint64_t count, int64_t start, int64_t step) {
  Value value = Value::integer(start);
  value.repeat = count;
  value.step = count > 1 ? step : 0;
  return value;
}

// A program that posts ten thousand receives passes requests of neighbouring signatures to each of
// its tests. False: the request does not go on with the last run.
bool continues(std::vector<Value>& items, const Field& field) {
  if (field.tag != FieldTag::kRequest || field.repeat != 1 || items.empty()) return false;
  Value& run = items.back();
  if (run.kind != ValueKind::kRequest) return false;
  const int64_t step = static_cast<int64_t>(field.number) - static_cast<int64_t>(run.id);
  if (run.repeat == 1 && step != 0)
    run.step = step;
  else if (run.step == 0 || field.number != run.request_of_element(run.repeat))
    return false;
  ++run.repeat;
  return true;
}

// The value that stands in place of a status which the program did not want.
Value ignored_status(bool is_array) {
  return Value::constant(is_array ? "MPI_STATUSES_IGNORE" : "MPI_STATUS_IGNORE");
}

}  // namespace

SignatureDecoder::SignatureDecoder(const format::TraceData& data,
                                   const DefinitionTable& definitions, Rank rank, uint64_t position)
    : data_(data),
      definitions_(definitions),
      who_{static_cast<uint64_t>(rank), position},
      slots_(data) {}

std::string_view SignatureDecoder::made_up_name(std::string_view stem, size_t number) {
  std::string name = std::string(stem) + std::to_string(number);
  return *made_up_names_.insert(std::move(name)).first;
}

std::string_view SignatureDecoder::argument_name(const mpi::CallInfo* info, size_t position) {
  if (info != nullptr && position < info->params.size()) return info->params[position].name;
  return made_up_name("arg", position);
}

Value SignatureDecoder::array_of(const Field& field) const {
  Value array = with_kind(ValueKind::kArray);
  array.items.reserve(field.runs.size() + field.ranges.size());
  for (const Field& child : field.children) {
    if (continues(array.items, child)) continue;
    array.items.push_back(to_value(child));
    array.items.back().repeat = child.repeat;
  }
  // What is kept for long has no room for more.
  array.items.shrink_to_fit();
  for (const format::IntRun& run : field.runs)
    array.items.push_back(integer_run(run.count, run.start, run.step));
  for (const std::array<int64_t, 3>& range : field.ranges) {
    Value triple = with_kind(ValueKind::kArray);
    for (const int64_t v : range) triple.items.push_back(Value::integer(v));
    array.items.push_back(std::move(triple));
  }
  return array;
}

Value SignatureDecoder::to_value(const Field& field) const {
  Value value;
  switch (field.tag) {
    case FieldTag::kNone:
    case FieldTag::kResult: return value;
    case FieldTag::kInt: return Value::integer(field.value);
    case FieldTag::kConst: return Value::constant(static_cast<ConstantId>(field.number));
    case FieldTag::kObject:
    case FieldTag::kFunction:
      // check_content() has refused such a trace; a null value is shown if it has not.
      if (field.number >= definitions_.size()) return value;
      value.kind = field.tag == FieldTag::kObject ? ValueKind::kObject : ValueKind::kFunction;
      value.id = static_cast<uint32_t>(field.number);
      value.number = definitions_.symbolic_id(value.id);
      return value;
    case FieldTag::kRequest:
      value.kind = ValueKind::kRequest;
      value.id = static_cast<uint32_t>(field.number);
      return value;
    // The call makes the request, so the signature is its own name.
    case FieldTag::kNewRequest:
      value.kind = ValueKind::kRequest;
      value.id = current_;
      value.number = static_cast<int64_t>(field.number);
      return value;
    case FieldTag::kBuffer:
      value.kind = ValueKind::kBuffer;
      value.id = static_cast<uint32_t>(field.buffer_class);
      value.number = field.value;
      value.offset = field.offset_bytes;
      if (field.buffer_class == format::BufferClass::kDevice)
        value.items.push_back(Value::integer(field.device));
      return value;
    case FieldTag::kString:
    case FieldTag::kBytes:
      value.kind = field.tag == FieldTag::kString ? ValueKind::kString : ValueKind::kBytes;
      value.text = field.text;
      return value;
    // Replaced when all parameters are there: it takes source and tag from others.
    case FieldTag::kStatusAsPosted: return posted_placeholder();
    case FieldTag::kStatusEmpty:
      return Value::status(Value::constant("MPI_ANY_SOURCE"), Value::constant("MPI_ANY_TAG"));
    case FieldTag::kStatus:
    case FieldTag::kStatusError:
    case FieldTag::kMatched:
    case FieldTag::kChanged:
      value.kind = field.tag == FieldTag::kChanged ? ValueKind::kChanged : ValueKind::kStatus;
      for (const Field& child : field.children) value.items.push_back(to_value(child));
      return value;
    case FieldTag::kArray:
    case FieldTag::kMatchedArray:
    case FieldTag::kIntRuns:
    case FieldTag::kIntList:  // parse_fields() makes kIntRuns of it
    case FieldTag::kPairArray: return array_of(field);
    case FieldTag::kBits:
      value.kind = ValueKind::kBits;
      value.number = static_cast<int64_t>(field.number);
      for (const uint32_t id : field.constants) value.items.push_back(Value::constant(id));
      return value;
  }
  return value;
}

const Value& SignatureDecoder::posted_message(SignatureId id) {
  const auto [it, is_new] = posted_.try_emplace(id);
  if (!is_new || id >= data_.signatures.size()) return it->second;
  // Only parameters of the creating call itself are looked at: no recursion through requests.
  const auto fields = format::parse_fields(data_.signatures[id].shape, slots_.values(id, who_));
  if (!fields) return it->second;
  const mpi::CallInfo* info = mpi::find_call(static_cast<CallId>(fields->call_id));
  Signature receive;
  for (size_t i = 0; i < fields->parameters.size(); ++i)
    receive.args.push_back({argument_name(info, i), to_value(fields->parameters[i])});
  it->second = message_asked_for(receive);
  return it->second;
}

Signature SignatureDecoder::decode(SignatureId id) {
  Signature signature;
  signature.id = current_ = id;
  if (id >= data_.signatures.size()) return signature;
  const auto fields = format::parse_fields(data_.signatures[id].shape, slots_.values(id, who_));
  if (!fields) return signature;  // trace_of() has refused such a trace
  const mpi::CallInfo* info = mpi::find_call(static_cast<CallId>(fields->call_id));
  signature.call = static_cast<CallId>(fields->call_id);
  signature.name = info != nullptr ? info->name : made_up_name("call#", fields->call_id);
  const int64_t context = slots_.context_of(id, who_).definition;
  if (context >= 0)
    signature.context = definitions_.communicator_of(static_cast<DefinitionId>(context));
  if (fields->site.tag == FieldTag::kObject && fields->site.number < definitions_.size())
    signature.site = static_cast<DefinitionId>(fields->site.number);
  signature.args.reserve(fields->parameters.size());
  for (size_t i = 0; i < fields->parameters.size(); ++i) {
    const Field& field = fields->parameters[i];
    Value value = to_value(field);
    if (field.tag == FieldTag::kMatched || field.tag == FieldTag::kMatchedArray)
      signature.matched =
          std::exchange(value, ignored_status(field.tag == FieldTag::kMatchedArray));
    signature.args.push_back({argument_name(info, i), std::move(value)});
  }
  fill_posted_statuses(signature,
                       [this](SignatureId of) -> const Value& { return posted_message(of); });
  if (fields->result) signature.result = to_value(*fields->result);
  if (signature.result.is_array()) {  // an error code and its class
    signature.error_class = signature.result.at(1);
    signature.result = signature.result.at(0);
  }
  return signature;
}

}  // namespace refrain::reader
