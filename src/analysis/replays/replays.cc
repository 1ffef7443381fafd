#include "analysis/replays/replays.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/replays/left_out.h"
#include "analysis/replays/replaced_values.h"
#include "analysis/replays/replay_objects.h"
#include "analysis/replays/replay_places.h"
#include "analysis/replays/thread_pairs.h"
#include "analysis/replays/uncertain_requests.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::analysis {
namespace {

using mpi::Direction;
using mpi::ParamKind;

bool is_wildcard(const Value& value) {
  return value.name() == "MPI_ANY_SOURCE" || value.name() == "MPI_ANY_TAG";
}

class LocationComparison {
 public:
  LocationComparison(const Trace& original, const Trace& again, Rank rank, uint32_t thread,
                     uint32_t again_thread, RankReader& a, RankReader& b, ReplayComparison& out)
      : original_(original),
        again_(again),
        rank_(rank),
        thread_(thread),
        again_thread_(again_thread),
        has_threads_(original.locations(rank).size() > 1),
        is_filtered_(lacks_calls(original)),
        a_(a),
        b_(b),
        places_(original, again),
        out_(out),
        names_(original, again),
        replaced_(original, again) {}

  // False: there was a difference.
  bool run() {
    auto one = a_.cursor(thread_), other = b_.cursor(again_thread_);
    if (!one.ok() || !other.ok())
      return one.ok() == other.ok() || differ(nullptr, nullptr, "", {}, {});
    const Call* b = other->next();
    while (const Call* a = one->next()) {
      if (cannot_fail_again(*a->signature) ||
          is_about_what_is_missing(*a->signature, b != nullptr ? b->signature : nullptr)) {
        allow(Allowed::kLeftOut);
        continue;
      }
      for (; b != nullptr && cannot_fail_again(*b->signature); b = other->next())
        allow(Allowed::kLeftOut);
      if (is_cut(b)) {
        allow(Allowed::kCut);
        continue;
      }
      if (b == nullptr || !same_function(*a->signature, *b->signature)) {
        if (may_be_left_out(*a->signature)) {
          allow(Allowed::kLeftOut);
          continue;
        }
        return differ(a, b, "", {}, {});
      }
      if (is_failure_left_out(a_, thread_, *a, *b->signature)) {
        allow(Allowed::kLeftOut);
        continue;
      }
      ++out_.calls;
      if (!same_call(*a, *b)) return false;
      b = other->next();
    }
    return b == nullptr || is_cut(b) || differ(nullptr, b, "", {}, {});
  }

 private:
  void allow(Allowed what) {
    ++out_.allowed[static_cast<size_t>(what)];
    used_.push_back(what);
  }

  bool differ(const Call* a, const Call* b, std::string_view parameter, Value recorded,
              Value replayed) {
    ReplayDifference difference;
    difference.rank = rank_;
    difference.thread = thread_;
    if (a != nullptr) difference.seq = a->seq, difference.call = a->signature->name;
    if (b != nullptr) difference.again_seq = b->seq, difference.again_call = b->signature->name;
    difference.parameter = parameter;
    difference.recorded = std::move(recorded);
    difference.replayed = std::move(replayed);
    out_.first = std::move(difference);
    return false;
  }

  // The replay has ended before its original, which lacks MPI_Finalize on some rank.
  bool is_cut(const Call* b) const {
    if (original_.info().complete) return false;
    return b == nullptr || b->signature->call == mpi::kMPI_Finalize;
  }

  bool same_call(const Call& call_a, const Call& call_b) {
    const Signature &a = *call_a.signature, &b = *call_b.signature;
    const uint64_t pair = uint64_t{a.id} << 32 | b.id;
    if (const auto known = equal_.find(pair); known != equal_.end()) {
      for (const Allowed what : known->second) ++out_.allowed[static_cast<size_t>(what)];
      note_requests(a, b);
      return true;
    }
    has_requests_ = has_numbers_ = false;
    used_.clear();
    if (a.call != b.call) allow(Allowed::kForms);
    const mpi::CallInfo* const info = mpi::find_call(a.call);
    if (a.failed() != b.failed() && !(info != nullptr && asks_environment(*info)))
      return differ(&call_a, &call_b, "result", a.error_class, b.error_class);
    if (!places_.same(a.site, b.site)) allow(Allowed::kPlaces);
    has_unseen_ = false;
    making_ = a.id;
    for (size_t i = 0; i < a.args.size() && i < b.args.size(); ++i)
      has_unseen_ = has_unseen_ || is_unseen(a.args[i].value, b.args[i].value);
    note_requests(a, b);
    for (size_t i = 0; i < a.args.size(); ++i) {
      const Value& one = a.args[i].value;
      const Value& other = i < b.args.size() ? b.args[i].value : Value::null();
      if (same(one, other)) continue;
      const auto allowed = may_differ(a, info, i, one, other);
      if (!allowed) return differ(&call_a, &call_b, a.args[i].name, one, other);
      allow(*allowed);
    }
    if (has_requests_) uncertain_.note(a);
    if (has_numbers_) allow(Allowed::kNumbers);
    if (!has_requests_) equal_[pair] = used_;
    return true;
  }

  // A request is known by the call that made it, which has another number in each trace.
  void note_requests(const Signature& a, const Signature& b) { made_[a.id] = b.id; }

  std::optional<Allowed> may_differ(const Signature& s, const mpi::CallInfo* info, size_t i,
                                    const Value& one, const Value& other) {
    if (info == nullptr || i >= info->params.size()) return std::nullopt;
    const mpi::ParamInfo& param = info->params[i];
    const mpi::CallMeaning& meaning = mpi::meaning_of(s.call);
    if (is_named_anew(param, one, other)) return Allowed::kUnseen;
    if (have_no_elements(one, other)) return Allowed::kBuffers;
    // What such an object answers is unknown as well.
    if (is_unseen(one, other) || (has_unseen_ && param.direction != Direction::kIn))
      return Allowed::kUnseen;
    // A replay's threads do not take turns as the program's did, so it asks for all of them at
    // once.
    if (s.call == mpi::kMPI_Init_thread && has_threads_ && param.name == "required")
      return Allowed::kForms;
    switch (param.kind) {
      case ParamKind::kBuffer:
      case ParamKind::kPointer:
      case ParamKind::kAddress: return Allowed::kBuffers;
      case ParamKind::kFunction: return Allowed::kFunctions;
      case ParamKind::kInfo: return Allowed::kInfos;
      case ParamKind::kString:
        if (meaning.reissue == mpi::Reissue::kStandIn) return Allowed::kNames;
        break;
      case ParamKind::kDisplacement:
        if (replaced_.is_address(param.name, one, other)) return Allowed::kBuffers;
        break;
      case ParamKind::kRequest:
        if (all_pairs(one.at_entry(), other.at_entry(), [&](const Value& a, const Value& b) {
              return same(a, b) || (uncertain_.may_be_complete(a) && b.kind != ValueKind::kRequest);
            }))
          return Allowed::kAnswers;
        return masked_request(s, one, other);
      case ParamKind::kStatus:
        if (differs_for_nobody(one.at_exit(), other.at_exit(), s.failed()))
          return Allowed::kAnswers;
        if (uncertain_.has_any_of(s)) return Allowed::kAnswers;
        if (all_pairs(one.at_exit(), other.at_exit(), [&](const Value& a, const Value& b) {
              return same(a, b) || is_same_but_for_tag(a, b);
            }))
          return Allowed::kReplaced;
        break;
      case ParamKind::kTag:
        if (replaced_.is_tag(one.at_entry(), other.at_entry())) return Allowed::kReplaced;
        break;
      case ParamKind::kDatatype:
        // A handle that the call ignores may be none of a datatype; the replay's may be any.
        if (one.at_entry().is_null() && param.direction == Direction::kIn) return Allowed::kUnseen;
        if (all_pairs(one.at_entry(), other.at_entry(), [&](const Value& a, const Value& b) {
              return same(a, b) || replaced_.is_type(a, b);
            }))
          return Allowed::kReplaced;
        break;
      case ParamKind::kComm:
        // MPI made another one, which the replay has replaced by one with the recorded ranks.
        if (param.direction == Direction::kOut && meaning.reissue == mpi::Reissue::kForced)
          return Allowed::kUnseen;
        break;
      default: break;
    }
    const bool is_end = param.kind == ParamKind::kRank || param.kind == ParamKind::kTag;
    const bool looks = meaning.does_any(mpi::kDoesReceive | mpi::kDoesProbe);
    if (is_end && looks && (asks_for_any(s) || !has_flag(s))) return Allowed::kWildcards;
    const bool is_output = param.direction != Direction::kIn;
    if (is_output && meaning.reissue != mpi::Reissue::kForced && asks_environment(*info))
      return Allowed::kAnswers;
    if (is_output && param.kind == ParamKind::kString) return Allowed::kAnswers;
    return std::nullopt;
  }

  // Numbers of objects are others behind one that the replay has made otherwise, or that the
  // original lacks. Of the datatypes in another one each MPI gives out the handles it likes: one
  // or two for two that are alike, and datatypes made later get other numbers, then.
  bool is_named_anew(const mpi::ParamInfo& param, const Value& one, const Value& other) {
    if (param.direction != Direction::kOut) return false;
    const bool is_type = param.kind == ParamKind::kDatatype, is_list = is_type && one.is_array();
    const bool may_be = param.kind == ParamKind::kComm || has_unseen_ || is_filtered_ || is_list ||
                        (is_type && has_renamed_types_);
    const auto is_same = [&](const Value& a, const Value& b) {
      if (!a.is_object() || !b.is_object() || !same_object(original_, again_, rank_, a, b))
        return false;
      names_.note(a, b);
      return true;
    };
    if (!may_be || !all_pairs(one, other, is_same)) return false;
    has_renamed_types_ = has_renamed_types_ || is_list;
    return true;
  }

  // What was made by a call that the original lacks, which filters have left out.
  bool is_unseen(const Value& one, const Value& other) const {
    const Value &a = one.at_entry(), &b = other.at_entry();
    if (a.is_object()) return b.is_null();
    if (has_threads_) return false;
    if (a.kind == ValueKind::kRequest) return is_unknown_request(a);
    if (!a.is_array() || a.size() != b.size()) return false;
    bool found = false;
    a.for_each([&](const Value& element) {
      found = found || (element.kind == ValueKind::kRequest && is_unknown_request(element));
    });
    return found;
  }

  bool is_unknown_request(const Value& request) const {
    return request.request_signature() != making_ && made_.count(request.request_signature()) == 0;
  }

  static bool asks_for_any(const Signature& s) {
    for (const Argument& argument : s.args)
      if (is_wildcard(argument.value.at_entry())) return true;
    return false;
  }

  // Requests that the call left as they were; and sends for other sends, where MPI gives out one
  // handle for several that are complete: which of them a call names is the recorder's guess.
  std::optional<Allowed> masked_request(const Signature& s, const Value& one, const Value& other) {
    const Value &a = one.at_entry(), &b = other.at_entry();
    if (a.size() != b.size()) return std::nullopt;
    if (mpi::meaning_of(s.call).reissue == mpi::Reissue::kForced) return Allowed::kRequests;
    bool good = true;
    const auto look = [&](const Value& mine, const Value& theirs) {
      good = good && (same(mine, theirs) || (is_send(a_, mine) && is_send(b_, theirs)));
    };
    if (!a.is_array()) {
      look(a, b);
    } else {
      std::vector<Value> found;
      b.for_each([&](const Value& request) { found.push_back(request); });
      size_t i = 0;
      a.for_each([&](const Value& request) { look(request, found[i++]); });
    }
    return good ? std::optional(Allowed::kRequests) : std::nullopt;
  }

  // The status of a receive from MPI_PROC_NULL says so, or is left as it was: MPIs differ in that.
  // Where one request of a call has failed, others may be complete by then, or left open.
  static bool is_of_nobody(const Value& status, bool has_failed) {
    return status.kind == ValueKind::kStatus &&
           (status.source().name() == "MPI_PROC_NULL" || (has_failed && status.source().is_null()));
  }
  bool differs_for_nobody(const Value& a, const Value& b, bool has_failed) {
    return all_pairs(a, b, [&](const Value& status, const Value& other) {
      return (a.is_array() && same(status, other)) || is_of_nobody(status, has_failed) ||
             is_of_nobody(other, has_failed);
    });
  }

  bool is_same_but_for_tag(const Value& a, const Value& b) {
    return a.kind == ValueKind::kStatus && b.kind == ValueKind::kStatus &&
           same(a.source(), b.source()) && replaced_.is_tag(a.tag(), b.tag());
  }
  static bool is_send(RankReader& reader, const Value& request) {
    if (request.kind != ValueKind::kRequest) return false;
    const Signature& maker = reader.signature(request.request_signature());
    const mpi::CallMeaning& meaning = mpi::meaning_of(maker.call);
    return meaning.does_any(mpi::kDoesSend) && !meaning.does_any(mpi::kDoesReceive);
  }

  // A request of another thread: made by a call like the one that made the other.
  bool same_maker(const Signature& a, const Signature& b) {
    const mpi::CallInfo* const info = mpi::find_call(a.call);
    if (info == nullptr || !same_function(a, b)) return false;
    for (size_t i = 0; i < a.args.size() && i < b.args.size(); ++i) {
      const ParamKind kind = info->params[i].kind;
      const bool counts = kind == ParamKind::kCount || kind == ParamKind::kComm ||
                          kind == ParamKind::kDatatype || kind == ParamKind::kRank ||
                          kind == ParamKind::kTag;
      if (counts && !asks_for_any(a) && !same(a.args[i].value, b.args[i].value)) return false;
    }
    return true;
  }

  bool same(const Value& a, const Value& b) {
    if (a.kind == ValueKind::kRequest) {
      has_requests_ = true;
      if (b.kind != ValueKind::kRequest) return false;
      const auto known = made_.find(a.request_signature());
      if (has_threads_ && (known == made_.end() || known->second != b.request_signature()))
        return same_maker(a_.signature(a.request_signature()), b_.signature(b.request_signature()));
      return known != made_.end() && known->second == b.request_signature();
    }
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case ValueKind::kObject:
        if (a.number != b.number && !has_threads_ && !names_.has(a, b)) return false;
        has_numbers_ = has_numbers_ || a.number != b.number;
        return same_object(original_, again_, rank_, a, b);
      case ValueKind::kFunction: return false;
      case ValueKind::kArray: return same_array(a, b);
      case ValueKind::kStatus:
      case ValueKind::kChanged:
      case ValueKind::kBits:
        if (a.number != b.number || a.items.size() != b.items.size()) return false;
        for (size_t i = 0; i < a.items.size(); ++i)
          if (!same(a.items[i], b.items[i])) return false;
        return true;
      default: return a == b;
    }
  }

  // Runs may be cut differently: both are walked side by side.
  bool same_array(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    size_t i = 0, k = 0;
    uint64_t in_a = 0, in_b = 0;  // of the run that is looked at
    while (i < a.items.size() && k < b.items.size()) {
      const Value &one = a.items[i], &other = b.items[k];
      const bool is_plain = one.step == 0 && other.step == 0;
      const uint64_t count = is_plain ? std::min(one.repeat - in_a, other.repeat - in_b) : 1;
      if (!same(one.element(in_a), other.element(in_b))) return false;
      in_a += count;
      in_b += count;
      if (in_a >= one.repeat) ++i, in_a = 0;
      if (in_b >= other.repeat) ++k, in_b = 0;
    }
    return true;
  }

  const Trace& original_;
  const Trace& again_;
  Rank rank_;
  uint32_t thread_, again_thread_;
  bool has_threads_, is_filtered_;  // the rank; the original
  RankReader& a_;
  RankReader& b_;
  PlaceComparison places_;
  ReplayComparison& out_;
  bool has_requests_ = false, has_unseen_ = false, has_numbers_ = false;
  bool has_renamed_types_ = false;
  SignatureId making_;  // the call that is looked at
  std::vector<Allowed> used_;
  UncertainRequests uncertain_;
  std::unordered_map<SignatureId, SignatureId> made_;
  OtherNames names_;
  ReplacedValues replaced_;
  std::unordered_map<uint64_t, std::vector<Allowed>> equal_;
};

}  // namespace

Result<ReplayComparison> compare_replay(const Trace& original, const Trace& again) {
  if (original.rank_count() != again.rank_count())
    return base::usage("has " + std::to_string(again.rank_count()) + " ranks, and " +
                           original.name() + " has " + std::to_string(original.rank_count()),
                       again.name());
  ReplayComparison out;
  for (Rank rank = 0; rank < original.rank_count(); ++rank) {
    RankReader a(original, rank), b(again, rank);
    const auto threads = std::max(original.locations(rank).size(), again.locations(rank).size());
    const auto compare = [&](uint32_t one, uint32_t other, ReplayComparison& found) {
      return LocationComparison(original, again, rank, one, other, a, b, found).run();
    };
    if (!compare_threads(threads, compare, out)) break;
  }
  return out;
}

}  // namespace refrain::analysis
