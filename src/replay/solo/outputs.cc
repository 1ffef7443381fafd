// Writes what a call of the trace returned: scalars, handles, strings and statuses.

#include <mpi.h>

#include <cstring>
#include <string>

#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"
#include "mpi/handle_kinds.h"
#include "mpi_runtime/status_fields.h"
#include "replay/reissue.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;

}  // namespace

const Value& Player::Frame::value(size_t i) const {
  static const Value kNone;
  return signature != nullptr && i < signature->args.size() ? signature->args[i].value : kNone;
}

std::optional<uint64_t> Player::constant(uint32_t id) const {
  return id < constants_.size() ? constants_[id] : std::nullopt;
}

// The handle of a predefined object; nothing for one that the program made.
std::optional<uint64_t> Player::predefined(DefinitionId definition) {
  const auto [known, is_new] = predefined_.try_emplace(definition, std::nullopt);
  if (is_new) {
    const uint32_t id = mpi::constant_id(trace_->object_name(definition));
    if (id != 0) known->second = constant(id);
  }
  return known->second;
}

std::optional<int64_t> Player::number_of(const Value& value) const {
  switch (value.kind) {
    case ValueKind::kInteger: return value.number;
    case ValueKind::kConstant: {
      const auto bits = constant(value.constant_id());
      return bits ? std::optional(static_cast<int64_t>(*bits)) : std::nullopt;
    }
    case ValueKind::kBits: {
      int64_t bits = value.number;
      for (const Value& bit : value.items)
        bits |= static_cast<int64_t>(constant(bit.constant_id()).value_or(0));
      return bits;
    }
    default: return std::nullopt;
  }
}

// Handles of MPI_T are of several kinds, each with numbers of its own.
int64_t Player::object_number(ParamKind kind, const Value& value) {
  if (kind != ParamKind::kToolHandle) return value.number;
  const std::string name = trace_->object_name(value.definition());
  return value.number * 64 + static_cast<int64_t>(name.find('#'));  // their names differ in length
}

// The handle that the program gets for a recorded one.
uint64_t Player::handle_of(const Frame& frame, ParamKind kind, const Value& value) {
  if (value.is_constant()) return constant(value.constant_id()).value_or(null_handle(kind));
  if (value.kind == ValueKind::kRequest) {
    if (value.id == frame.signature->id) {
      Object& made = objects_.make(kind, value.id);
      made.made_by = frame.info.id;
      made.is_persistent = frame.info.persistent;
      return made.key;
    }
    const Object* const known = objects_.find_number(kind, value.id);
    return known == nullptr ? null_handle(kind) : known->key;
  }
  if (!value.is_object()) return null_handle(kind);
  if (const auto bits = predefined(value.definition())) return *bits;
  const int64_t number = object_number(kind, value);
  Object* known = objects_.find_number(kind, number);
  const bool is_other = known != nullptr && known->definition != value.definition() &&
                        frame.meaning.does_any(mpi::kDoesMake);
  const bool is_again =
      known != nullptr && !is_other && frame.meaning.does_any(mpi::kDoesMake) &&
      (kind == ParamKind::kGroup || kind == ParamKind::kErrhandler || kind == ParamKind::kDatatype);
  if (is_again) ++known->further_references;
  // A keyval that was freed may be there, for its attributes: this is another one.
  const bool is_next = kind == ParamKind::kKeyval && frame.meaning.does_any(mpi::kDoesMake);
  if (known == nullptr || is_other || is_next) known = &objects_.make(kind, number);
  known->definition = value.definition();
  return known->key;
}

void Player::put_status(void* status, const Value& value) const {
  if (status == nullptr || value.kind != ValueKind::kStatus) return;
  auto* const out = static_cast<MPI_Status*>(status);
  if (const auto source = number_of(value.source())) out->MPI_SOURCE = static_cast<int>(*source);
  if (const auto tag = number_of(value.tag())) out->MPI_TAG = static_cast<int>(*tag);
  if (value.items.size() > 2)
    if (const auto error = number_of(value.items[2])) out->MPI_ERROR = static_cast<int>(*error);
  mpi_runtime::put_status_bytes(*out, 0, false);
}

void Player::put_one(Frame& frame, size_t i) {
  const mpi::ParamInfo& param = frame.info.params[i];
  const Value& whole = frame.value(i);
  const Value& value = whole.at_exit();
  if (param.direction == Direction::kInOut && whole.kind != ValueKind::kChanged &&
      param.kind != ParamKind::kStatus)
    return;
  if (frame.given.word(i) == 0) return;
  if (value.is_null()) {
    // A file that could not be opened: both MPIs say so in the handle, too.
    if (param.kind == ParamKind::kFile && param.direction == Direction::kOut && !frame.ok())
      frame.given.put(i, 0, null_handle(param.kind));
    return;
  }
  const bool is_array = value.is_array();
  switch (param.kind) {
    case ParamKind::kString:
      if (value.kind == ValueKind::kString && !param.is_array)
        std::memcpy(frame.given.address<char>(i), value.text.c_str(), value.text.size() + 1);
      return;
    case ParamKind::kStatus: {
      if (value.is_constant()) return;  // MPI_STATUS_IGNORE
      size_t k = 0;
      auto* const statuses = frame.given.address<MPI_Status>(i);
      if (!is_array) return put_status(statuses, value);
      value.for_each([&](const Value& element) { put_status(statuses + k++, element); });
      return;
    }
    case ParamKind::kBuffer:
    case ParamKind::kPointer:
    case ParamKind::kFunction: return;  // by hand
    default: break;
  }
  if (value.is_constant() && param.is_array) return;  // MPI_UNWEIGHTED and the like
  const auto put = [&](size_t k, const Value& element) {
    if (is_handle(param.kind)) {
      if (!element.is_null()) frame.given.put(i, k, handle_of(frame, param.kind, element));
    } else if (const auto number = number_of(element)) {
      frame.given.put(i, k, static_cast<uint64_t>(*number));
    }
  };
  size_t k = 0;
  if (is_array)
    value.for_each([&](const Value& element) { put(k++, element.at_exit()); });
  else
    put(0, value);
}

void Player::put_planned(Frame& frame, const Put& put) {
  if (frame.given.word(put.param) == 0) return;
  if (put.how == Put::How::kGeneral) return put_one(frame, put.param);
  if (put.how != Put::How::kRequest) return put_as_planned(frame.given, *frame.plan, put);
  Object& made = make_request(*frame.plan, frame.signature->id);
  frame.given.put(put.param, 0, made.key);
}

void Player::put_outputs(Frame& frame) {
  for (const Put& put : frame.plan->puts)
    if (put.param < frame.given.size()) put_planned(frame, put);
  if (frame.plan->has_result)
    frame.result = frame.plan->result;
  else
    put_result(frame);
}

void Player::put_result(Frame& frame) {
  const Value& result = frame.signature->result;
  if (frame.info.return_kind == "error") {
    frame.result =
        result.is_null() ? 0 : static_cast<uint64_t>(number_of(result).value_or(MPI_ERR_OTHER));
    return;
  }
  if (result.is_object() || result.kind == ValueKind::kRequest) {
    for (const ParamKind kind : {ParamKind::kComm, ParamKind::kDatatype, ParamKind::kGroup,
                                 ParamKind::kWin, ParamKind::kFile, ParamKind::kOp})
      if (const Object* const known = objects_.find_number(kind, result.number);
          known != nullptr && known->definition == result.definition())
        frame.result = known->key;
    if (const auto bits = predefined(result.definition())) frame.result = *bits;
    return;
  }
  frame.result = static_cast<uint64_t>(number_of(result).value_or(0));
}

// Handles of objects that the call frees become null handles.
void Player::release_freed(Frame& frame) {
  if (!frame.ok()) return;
  const bool frees = frame.meaning.does_any(mpi::kDoesFree);
  for (size_t i = 0; i < frame.info.params.size() && i < frame.given.size(); ++i) {
    const mpi::ParamInfo& param = frame.info.params[i];
    const bool takes_message =
        param.kind == ParamKind::kMessage && param.direction == Direction::kInOut;
    if (!is_handle(param.kind) || param.is_array || param.kind == ParamKind::kRequest) continue;
    if (param.direction == Direction::kOut || !(frees || takes_message)) continue;
    if (!frame.given.is_pointer(i) || frame.given.word(i) == 0) continue;
    const uint64_t key = frame.given.key(i);
    if (Object* const freed = objects_.find(param.kind, key);
        frees && freed != nullptr && freed->further_references > 0) {
      --freed->further_references;
      frame.given.put(i, 0, null_handle(param.kind));
      break;
    }
    if (frees) delete_attributes(param.kind, key);
    // Attributes that were set with a keyval keep its functions.
    const Object* const keyval =
        param.kind == ParamKind::kKeyval ? objects_.find(param.kind, key) : nullptr;
    if (keyval == nullptr || !keyval->was_set) objects_.erase(param.kind, key);
    frame.given.put(i, 0, null_handle(param.kind));
    break;
  }
}

}  // namespace refrain::replay::solo
