// Plans of signatures (plan.h): made once, and used by every call.

#include <mpi.h>

#include <algorithm>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "mpi_runtime/status_fields.h"
#include "replay/reissue.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;

// Longer arrays stay with the general functions: plans of all signatures are in memory.
constexpr uint64_t kMostElements = 256;

uint64_t mask_of(ParamKind kind) {
  const size_t bytes = handle_bytes(kind);
  return bytes >= sizeof(uint64_t) ? UINT64_MAX : (uint64_t{1} << (8 * bytes)) - 1;
}

int position(const mpi::CallInfo& info, ParamKind kind) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].kind == kind) return static_cast<int>(i);
  return -1;
}

// Whether do_by_hand() has nothing to do for the function: messages, and what completes them.
bool is_of_messages(const mpi::CallInfo& info, const mpi::CallMeaning& meaning) {
  switch (info.group) {
    case mpi::CallGroup::kP2p:
    case mpi::CallGroup::kColl:
    case mpi::CallGroup::kCompletion:
    case mpi::CallGroup::kPersist: break;
    default: return false;
  }
  return info.params.size() > 1 && info.id != mpi::kMPI_Cancel &&
         info.id != mpi::kMPI_Grequest_start &&
         meaning.does_any(mpi::kDoesSend | mpi::kDoesReceive | mpi::kDoesProbe | mpi::kDoesStart |
                          mpi::kDoesComplete | mpi::kDoesCollective) &&
         !meaning.does_any(mpi::kDoesMake | mpi::kDoesFree | mpi::kDoesFile | mpi::kDoesAccess);
}

}  // namespace

Plan& Player::make_plan(const Signature& signature) {
  if (signature.id >= plans_.size()) plans_.resize(signature.id + 1);
  std::unique_ptr<Plan>& plan = plans_[signature.id];
  plan = std::make_unique<Plan>();
  plan->info = mpi::find_call(signature.call);
  plan->meaning = &mpi::meaning_of(signature.call);
  if (plan->info == nullptr) return *plan;
  plan->is_mark = plan->info->group == mpi::CallGroup::kMark;
  plan->site = sites_->address_of(signature.site);
  tell_changed();
  plan_checks(signature, *plan);
  plan_puts(signature, *plan);
  plan_requests(signature, *plan);
  const mpi::CallMeaning& meaning = *plan->meaning;
  plan->is_by_hand = !is_of_messages(*plan->info, meaning) || signature.failed();
  plan->has_pending =
      plan->info->group == mpi::CallGroup::kIo || meaning.does_any(mpi::kDoesAccess);
  plan->may_release =
      meaning.does_any(mpi::kDoesFree) || position(*plan->info, ParamKind::kMessage) >= 0;
  return *plan;
}

// ---- inputs ----

Check Player::plan_check(const mpi::ParamInfo& param, const Value& value) {
  Check check;
  check.kind = param.kind;
  if (is_handle(param.kind)) {
    check.mask = mask_of(param.kind);
    if (value.kind == ValueKind::kRequest) {
      check.how = Check::How::kObject;
      check.expected = value.id;
    } else if (value.is_constant()) {
      const auto bits = constant(value.constant_id());
      if (bits) check.how = Check::How::kBits;
      check.expected = static_cast<int64_t>(bits.value_or(0) & check.mask);
    } else if (value.is_object()) {
      const auto bits = predefined(value.definition());
      check.how = bits ? Check::How::kBits : Check::How::kObject;
      check.expected =
          bits ? static_cast<int64_t>(*bits & check.mask) : object_number(param.kind, value);
    }
    return check;
  }
  const auto number = number_of(value);
  if (number && is_number(param.kind)) {
    check.how = Check::How::kNumber;
    check.expected = *number;
  }
  return check;
}

// False: the general function is to look at it.
bool Player::plan_array(const mpi::ParamInfo& param, const Value& value, Check& check, Plan& plan) {
  if (value.size() > kMostElements || value.size() == 0) return false;
  if (!is_handle(param.kind) && !is_number(param.kind)) return false;
  check.how = Check::How::kArray;
  check.first = static_cast<uint32_t>(plan.elements.size());
  value.for_each([&](const Value& element) {
    const Check one = plan_check(param, element.at_entry());
    if (one.how == Check::How::kGeneral) check.how = Check::How::kGeneral;
    plan.elements.push_back(one);
  });
  check.count = static_cast<uint32_t>(plan.elements.size()) - check.first;
  return true;
}

void Player::plan_checks(const Signature& signature, Plan& plan) {
  const auto& params = plan.info->params;
  for (size_t i = 0; i < std::min(params.size(), signature.args.size()); ++i) {
    const mpi::ParamInfo& param = params[i];
    const Value& value = signature.args[i].value.at_entry();
    if (value.is_null() || param.direction == Direction::kOut) continue;
    Check check;
    if (value.is_constant() && (param.is_array || param.kind == ParamKind::kBuffer)) {
      const auto bits = constant(value.constant_id());
      if (!bits) continue;
      check.how = Check::How::kWord;
      check.expected = static_cast<int64_t>(*bits);
    } else if (value.is_array()) {
      if (param.kind == ParamKind::kString) continue;
      if (!plan_array(param, value, check, plan)) check.how = Check::How::kGeneral;
    } else {
      const bool has_check = is_handle(param.kind) || is_number(param.kind) ||
                             param.kind == ParamKind::kString || param.kind == ParamKind::kFunction;
      if (!has_check) continue;
      check = plan_check(param, value);
    }
    check.param = static_cast<uint8_t>(i);
    plan.checks.push_back(check);
  }
}

void Player::plan_words(const Given& given, Plan& plan) {
  plan.widths = given.widths();
  plan.words.assign(2 * given.size(), 0);
  plan.other_checks.clear();
  for (const Check& check : plan.checks) {
    if (check.param >= given.size()) continue;
    const bool is_word = check.how == Check::How::kWord ||
                         (!given.is_pointer(check.param) &&
                          (check.how == Check::How::kNumber || check.how == Check::How::kBits));
    const uint64_t mask = check.how == Check::How::kBits ? check.mask : UINT64_MAX;
    if (!is_word) {
      plan.other_checks.push_back(check);
      continue;
    }
    plan.words[check.param] = static_cast<uint64_t>(check.expected);
    plan.words[given.size() + check.param] = mask;
  }
  plan_short_way(plan);
}

// True: it is what was recorded. False: the general function decides.
bool Player::is_as_planned(const Given& given, const Plan& plan, const Check& check) {
  const size_t i = check.param;
  const auto is_same = [&](const Check& one, size_t k) {
    if (one.how == Check::How::kNumber) return given.number(i, k) == one.expected;
    const uint64_t key = given.key(i, k);
    if (one.how == Check::How::kBits)
      return (key & one.mask) == static_cast<uint64_t>(one.expected);
    const Object* const object = objects_.find(one.kind, key);
    return object != nullptr && object->number == one.expected;
  };
  switch (check.how) {
    case Check::How::kWord: return given.word(i) == static_cast<uint64_t>(check.expected);
    case Check::How::kGeneral: return false;
    case Check::How::kArray:
      if (given.word(i) == 0) return false;
      for (uint32_t k = 0; k < check.count; ++k)
        if (!is_same(plan.elements[check.first + k], k)) return false;
      return true;
    default: return (given.word(i) == 0 && given.is_pointer(i)) || is_same(check, 0);
  }
}

// ---- outputs ----

StatusPlan Player::plan_status(const Value& value) const {
  StatusPlan out;
  if (value.kind != ValueKind::kStatus) return out;
  out.is_there = true;
  const auto field = [&](const Value& from, bool& has, int& to) {
    const auto number = number_of(from);
    has = number.has_value();
    to = static_cast<int>(number.value_or(0));
  };
  field(value.source(), out.has_source, out.source);
  field(value.tag(), out.has_tag, out.tag);
  if (value.items.size() > 2) field(value.items[2], out.has_error, out.error);
  return out;
}

Put Player::plan_put(const Signature& signature, size_t i, Plan& plan) {
  const mpi::ParamInfo& param = plan.info->params[i];
  const Value& value = signature.args[i].value.at_exit();
  Put put;
  put.param = static_cast<uint8_t>(i);
  if (value.size() > kMostElements) return put;
  if (param.kind == ParamKind::kStatus) {
    put.how = Put::How::kStatus;
    put.first = static_cast<uint32_t>(plan.statuses.size());
    if (value.is_array())
      value.for_each([&](const Value& v) { plan.statuses.push_back(plan_status(v)); });
    else
      plan.statuses.push_back(plan_status(value));
    put.count = static_cast<uint32_t>(plan.statuses.size()) - put.first;
    return put;
  }
  if (is_handle(param.kind)) {
    const bool is_own = value.kind == ValueKind::kRequest && value.id == signature.id;
    if (is_own && param.kind == ParamKind::kRequest && !param.is_array)
      put.how = Put::How::kRequest;
    return put;
  }
  if (!is_number(param.kind)) return put;
  if (!value.is_array()) {
    const auto number = number_of(value);
    if (number) put.how = Put::How::kNumber;
    put.value = number.value_or(0);
    return put;
  }
  put.how = Put::How::kArray;
  put.first = static_cast<uint32_t>(plan.numbers.size());
  value.for_each([&](const Value& element) {
    const auto number = number_of(element.at_exit());
    if (!number) put.how = Put::How::kGeneral;
    plan.numbers.push_back(number.value_or(0));
  });
  put.count = static_cast<uint32_t>(plan.numbers.size()) - put.first;
  return put;
}

void Player::plan_puts(const Signature& signature, Plan& plan) {
  const auto& params = plan.info->params;
  for (size_t i = 0; i < std::min(params.size(), signature.args.size()); ++i) {
    const mpi::ParamInfo& param = params[i];
    const Value& whole = signature.args[i].value;
    const Value& value = whole.at_exit();
    if (param.direction == Direction::kIn) continue;
    if (value.is_null()) {
      if (param.kind == ParamKind::kFile && signature.failed())
        plan.puts.push_back(Put{.param = static_cast<uint8_t>(i)});
      continue;
    }
    if (param.direction == Direction::kInOut && whole.kind != ValueKind::kChanged &&
        param.kind != ParamKind::kStatus)
      continue;
    if (param.kind == ParamKind::kBuffer || param.kind == ParamKind::kPointer ||
        param.kind == ParamKind::kFunction)
      continue;
    if (value.is_constant() && (param.is_array || param.kind == ParamKind::kStatus)) continue;
    if (param.kind == ParamKind::kStatus) plan.status_param = static_cast<int>(i);
    plan.puts.push_back(plan_put(signature, i, plan));
  }
  if (plan.info->return_kind != "error") return;
  plan.has_result = true;
  if (!signature.result.is_null())
    plan.result = static_cast<uint64_t>(number_of(signature.result).value_or(MPI_ERR_OTHER));
}

void Player::put_as_planned(const Given& given, const Plan& plan, const Put& put) {
  const size_t i = put.param;
  if (given.word(i) == 0) return;
  switch (put.how) {
    case Put::How::kGeneral:
    case Put::How::kRequest: return;
    case Put::How::kNumber: return given.put(i, 0, static_cast<uint64_t>(put.value));
    case Put::How::kArray:
      for (uint32_t k = 0; k < put.count; ++k)
        given.put(i, k, static_cast<uint64_t>(plan.numbers[put.first + k]));
      return;
    case Put::How::kStatus:
      for (uint32_t k = 0; k < put.count; ++k) {
        const StatusPlan& status = plan.statuses[put.first + k];
        auto& out = given.address<MPI_Status>(i)[k];
        if (!status.is_there) continue;
        if (status.has_source) out.MPI_SOURCE = status.source;
        if (status.has_tag) out.MPI_TAG = status.tag;
        if (status.has_error) out.MPI_ERROR = status.error;
        mpi_runtime::put_status_bytes(out, 0, false);
      }
      return;
  }
}

// ---- requests and buffers ----

// Whether its elements are of a predefined type without gaps.
bool Player::is_flat(const Signature& signature, const mpi::BufferInfo& buffer) {
  const auto at = static_cast<size_t>(buffer.type_param);
  if (buffer.extent != mpi::Extent::kElements || at >= signature.args.size()) return false;
  const Value& type = signature.args[at].value.at_entry();
  const auto bits = type.is_object() ? predefined(type.definition()) : std::nullopt;
  const mpi::TypeMap* const map = bits ? type_of(*bits & mask_of(ParamKind::kDatatype)) : nullptr;
  return map != nullptr && map->is_flat();
}

void Player::plan_requests(const Signature& signature, Plan& plan) {
  const mpi::CallInfo& info = *plan.info;
  plan.request_param = position(info, ParamKind::kRequest);
  const auto param = static_cast<size_t>(plan.request_param);
  plan.makes_request = plan.request_param >= 0 && info.params[param].direction == Direction::kOut;
  for (const ParamKind kind : {ParamKind::kFile, ParamKind::kWin, ParamKind::kComm})
    if (const int subject = position(info, kind); subject >= 0) plan.subject_param = subject;
  for (const mpi::BufferInfo& buffer : plan.meaning->buffers) {
    if (buffer.param < 0 || !(buffer.is_written || buffer.is_read_at_root)) continue;
    const auto i = static_cast<size_t>(buffer.param);
    const bool in_place =
        i < signature.args.size() && signature.args[i].value.at_entry().name() == "MPI_IN_PLACE";
    if (!in_place) plan.buffers.push_back(&buffer);
  }
  if (plan.buffers.size() == 1 && is_flat(signature, *plan.buffers.front())) {
    const int buffer = plan.buffers.front()->param;
    if (plan.request_param < 0 && info.group != mpi::CallGroup::kIo &&
        info.group != mpi::CallGroup::kType)
      plan.flat_param = buffer;
    if (plan.makes_request && info.group == mpi::CallGroup::kP2p && !info.persistent &&
        plan.meaning->does_any(mpi::kDoesReceive))
      plan.flat_later = buffer;
  }
  plan.own_rank = plan_own_block(signature, plan);
  if (plan.request_param < 0) return;
  plan.frees_request = plan.meaning->plain == mpi::kMPI_Request_free && !signature.failed();
  plan.completes = plan.meaning->plain != mpi::kMPI_Request_free && !plan.makes_request &&
                   plan.meaning->does_any(mpi::kDoesComplete);
  if (plan.completes) plan.finished = finished(signature, info, param);
}

}  // namespace refrain::replay::solo
