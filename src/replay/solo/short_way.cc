// The short way of nearly all calls: messages, and what completes them, of a rank with one thread
// that is alone.
//
// Rules: no allocation, no lock, no system call but for the next block of the log. Budget: 400
// instructions, and what is copied. A call takes it where its plan says so, where it is the next
// one of the trace, and where all its inputs are the recorded ones: all of them are compared here
// as well. Whatever is otherwise has the long way (answer_at()), which finds the call where it was
// and decides. What is rare stands in functions of its own, so that it costs nothing else.

#include <mpi.h>
#include <sys/single_threaded.h>

#include <algorithm>
#include <bit>

#include "mpi_runtime/status_fields.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {

using mpi::ParamKind;

Object& Player::make_request(const Plan& plan, SignatureId signature) {
  Object& made = objects_.make(ParamKind::kRequest, signature);
  made.made_by = plan.info->id;
  made.is_persistent = plan.info->persistent;
  return made;
}

// When it is known which arguments are passed by value.
void Player::plan_short_way(Plan& plan) {
  bool is_short = !plan.is_by_hand && !plan.has_pending && !plan.may_release &&
                  !plan.frees_request && plan.has_result && plan.widths != nullptr &&
                  plan.own_rank < 0;
  for (const Check& check : plan.other_checks)
    is_short = is_short && check.how != Check::How::kGeneral;
  for (const Put& put : plan.puts)
    is_short = is_short && put.how != Put::How::kGeneral && put.param < plan.words.size() / 2;
  plan.is_short = is_short;
  const auto& params = plan.info->params;
  plan.has_one_status =
      plan.status_param >= 0 && !params[static_cast<size_t>(plan.status_param)].is_array;
  plan.has_one_request = plan.completes && plan.other_checks.size() == 1 &&
                         plan.other_checks.front().how == Check::How::kObject &&
                         plan.other_checks.front().param == plan.request_param &&
                         !params[static_cast<size_t>(plan.request_param)].is_array;
  plan.ends_one_request = plan.has_one_request && !plan.finished.empty();
  plan.has_more = plan.makes_request || (plan.completes && !plan.has_one_request);
}

// Whether the call is the planned one, with all its inputs. `request`: the one that it is about.
inline bool Player::is_as_recorded(const Entry& entry, const uint64_t* words, uintptr_t site,
                                   const Plan& plan, Object*& request) {
  if (!plan.is_short || plan.widths != entry.widths || plan.info->id != entry.call) return false;
  if (plan.site != site && plan.site != 0 && site != 0) return false;
  for (uint64_t places = entry.handle_places; places != 0; places &= places - 1)
    if (words[std::countr_zero(places)] == 0) return false;
  if (!plan.are_words_equal(words, entry.params)) return false;
  if (plan.other_checks.empty()) return true;
  if (!plan.has_one_request) return are_others_as_planned(entry, words, plan);
  const auto param = static_cast<size_t>(plan.request_param);
  uint64_t key = 0;
  std::memcpy(&key, reinterpret_cast<const void*>(words[param]), sizeof(MPI_Request));
  request = objects_.find(ParamKind::kRequest, key);
  return request != nullptr && request->number == plan.other_checks.front().expected &&
         !request->is_general;
}

bool Player::are_others_as_planned(const Entry& entry, const uint64_t* words, const Plan& plan) {
  const Given given(entry, const_cast<uint64_t*>(words));
  return std::all_of(plan.other_checks.begin(), plan.other_checks.end(),
                     [&](const Check& check) { return is_as_planned(given, plan, check); });
}

Player::Short Player::answer_short(const Entry& entry, uint64_t* words, uintptr_t site) {
  Thread* const thread = known_thread();
  if (!is_plain_ || thread == nullptr || __libc_single_threaded == 0 || !thread->ahead.empty())
    return {};
  thread->units.call_begins();
  if (messages_.is_open() && !messages_.is_still_turn_of(thread->location)) return {};
  const Call* call = nullptr;
  Plan* known = nullptr;
  do {  // marks of the program are no calls of MPI
    call = thread->cursor ? thread->cursor->next() : nullptr;
    if (call == nullptr) return {};
    known = &plan_of(*call->signature);
  } while (known->is_mark);
  Plan& plan = *known;
  Object* request = nullptr;
  if (!is_as_recorded(entry, words, site, plan, request)) {
    leave_ahead(*thread, *call, plan);
    return {};
  }
  const uint64_t seq = call->seq;
  if (seq > thread->answered) skip_units(*thread, seq - thread->answered);
  thread->answered = std::max(thread->answered, seq + 1);
  ++thread->taken;
  ++counts_.calls;
  if (!plan.puts.empty()) request = put_short(entry, words, plan, *call->signature, request);
  if (plan.has_more || messages_.may_have(thread->location, seq) || messages_.is_at_end())
    finish_short(entry, words, site, {call->signature, &plan, seq}, request);
  if (plan.ends_one_request && !request->is_persistent) {
    objects_.erase(*request);
    const uint64_t null = null_handle(ParamKind::kRequest);
    std::memcpy(reinterpret_cast<void*>(words[plan.request_param]), &null, sizeof(MPI_Request));
  }
  thread->units.call_ended();
  return {plan.result, true};
}

// The long way finds the call there.
void Player::leave_ahead(Thread& thread, const Call& call, Plan& plan) {
  thread.ahead.push_back({call.signature, &plan, call.seq});
}

void Player::skip_units(Thread& thread, uint64_t calls) { thread.units.skip(calls); }

// The request that the call makes, or is about.
Object* Player::put_short(const Entry& entry, uint64_t* words, const Plan& plan,
                          const Signature& signature, Object* request) {
  const Given given(entry, words);
  for (const Put& put : plan.puts) {
    if (put.how != Put::How::kRequest) {
      put_as_planned(given, plan, put);
      continue;
    }
    request = &make_request(plan, signature.id);
    given.put(put.param, 0, request->key);
  }
  return request;
}

Player::Frame Player::frame_of(const Entry& entry, uint64_t* words, uintptr_t site,
                               const Record& record) {
  Frame frame{*entry.info, *entry.meaning, Given(entry, words), *known_thread(), site};
  frame.signature = record.signature;
  frame.plan = record.plan;
  frame.seq = record.seq;
  frame.result = record.plan->result;
  return frame;
}

// Contents that stand in one block of the log and go to one place.
bool Player::fill_short(const uint64_t* words, const Plan& plan, std::byte* at, uint64_t seq) {
  const bool has_status = plan.status_param >= 0;
  if (at == nullptr || (has_status && !(plan.has_one_status && messages_.implies_statuses())))
    return false;
  uint64_t bytes = 0;
  if (!messages_.take_whole(known_thread()->location, seq, at, bytes)) return false;
  ++counts_.filled;
  counts_.filled_bytes += bytes;
  if (!has_status || words[plan.status_param] == 0) return true;
  auto& status = *reinterpret_cast<MPI_Status*>(words[plan.status_param]);
  mpi_runtime::put_status_bytes(status, bytes, false);
  status.MPI_ERROR = 0;
  return true;
}

// What is left of a call that makes a request, fills a buffer, or completes several requests.
void Player::finish_short(const Entry& entry, uint64_t* words, uintptr_t site, const Record& record,
                          Object* request) {
  const Plan& plan = *record.plan;
  if (plan.makes_request && request != nullptr) note_request(entry, words, site, record, *request);
  const uint32_t thread = known_thread()->location;
  if (messages_.may_have(thread, record.seq)) {
    auto* const at = plan.flat_param >= 0   ? reinterpret_cast<std::byte*>(words[plan.flat_param])
                     : plan.has_one_request ? request->flat
                                            : nullptr;
    if (!fill_short(words, plan, at, record.seq) || messages_.may_have(thread, record.seq))
      fill_long(entry, words, site, record);
  }
  if (messages_.is_at_end()) fill_long(entry, words, site, record);
  if (plan.completes && !plan.has_one_request) {
    Frame frame = frame_of(entry, words, site, record);
    complete(frame);
  }
}

// As keep_places() does.
void Player::note_request(const Entry& entry, uint64_t* words, uintptr_t site, const Record& record,
                          Object& request) {
  const Plan& plan = *record.plan;
  if (plan.subject_param >= 0) {
    request.subject = words[plan.subject_param];
    request.subject_kind = entry.info->params[static_cast<size_t>(plan.subject_param)].kind;
  }
  if (plan.flat_later >= 0)
    request.flat = reinterpret_cast<std::byte*>(words[plan.flat_later]);
  else if (!plan.buffers.empty())
    places_of(frame_of(entry, words, site, record), request.places);
}

void Player::fill_long(const Entry& entry, uint64_t* words, uintptr_t site, const Record& record) {
  Frame frame = frame_of(entry, words, site, record);
  fill_buffers(frame);
}

}  // namespace refrain::replay::solo
