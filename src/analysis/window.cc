#include "analysis/window.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::analysis {
namespace {

// Calls that are kept to find those inside of a later one.
constexpr size_t kMostKept = size_t{1} << 16;

// The time of one thread that is inside of calls. Calls come in the order of their ends, so that
// those inside of another one come before it.
class Covered {
 public:
  void add(uint64_t begin, uint64_t part) {
    while (!kept_.empty() && kept_.back().first >= begin) {
      ns_ -= kept_.back().second;
      kept_.pop_back();
    }
    ns_ += part;
    if (kept_.size() == kMostKept)
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(kMostKept / 2));
    kept_.emplace_back(begin, part);
  }
  uint64_t ns() const { return ns_; }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> kept_;  // begin, part in the window
  uint64_t ns_ = 0;
};

class ThreadFold {
 public:
  ThreadFold(const Window& window, bool may_nest, RankInWindow& out,
             std::map<SignatureId, CallsInWindow>& calls)
      : window_(window), may_nest_(may_nest), out_(out), calls_(calls) {}

  // False: nothing in the window can follow.
  bool add(const Call& call) {
    if (!call.has_time) {
      ++out_.untimed;
      return true;
    }
    const uint64_t end = std::max(call.begin_ns, call.end_ns);
    if (is_first_)
      first_ns_ = call.seq > 0 ? std::min(window_.from_ns, call.begin_ns) : call.begin_ns;
    if (is_first_ && call.seq > 0) out_.is_everything = false;
    is_first_ = false;
    first_ns_ = std::min(first_ns_, call.begin_ns);
    last_ns_ = std::max(last_ns_, end);
    if (call.begin_ns < window_.from_ns || end > window_.to_ns) out_.is_everything = false;
    const uint64_t part = window_.part(call.begin_ns, end);
    const bool begins = window_.has(call.begin_ns);
    if (part == 0 && !begins) return may_nest_ || call.begin_ns < window_.to_ns;
    covered_.add(call.begin_ns, part);
    CallsInWindow& of = calls_[call.signature->id];
    of.begun += begins ? 1 : 0;
    of.min_ns = of.parts == 0 ? part : std::min(of.min_ns, part);
    of.max_ns = std::max(of.max_ns, part);
    ++of.parts;
    of.ns += part;
    return true;
  }

  void finish() {
    const uint64_t all = is_first_ ? 0 : window_.part(first_ns_, last_ns_);
    out_.in_mpi_ns += covered_.ns();
    out_.outside_ns += all > covered_.ns() ? all - covered_.ns() : 0;
  }

 private:
  const Window& window_;
  bool may_nest_;
  RankInWindow& out_;
  std::map<SignatureId, CallsInWindow>& calls_;
  Covered covered_;
  bool is_first_ = true;
  uint64_t first_ns_ = 0, last_ns_ = 0;
};

// The part of a thread's pieces of the recorder's own work that lies in the window. A piece begins
// when its call ends, and is over before the next one begins.
uint64_t own_work(Cursor& cursor, const format::OwnWork& work, const Window& window) {
  uint64_t ns = 0;
  for (const format::OwnPiece& piece : work.pieces) {
    cursor.seek(piece.call);
    const Call* call = cursor.next();
    if (call == nullptr || !call->has_time) break;
    const uint64_t begin = std::max(call->begin_ns, call->end_ns);
    if (begin >= window.to_ns) break;
    call = cursor.next();
    if (call == nullptr || !call->has_time) break;
    const uint64_t end = begin + std::min(piece.ns, UINT64_MAX - begin);
    ns += window.part(begin, std::min(end, std::max(begin, call->begin_ns)));
  }
  return ns;
}

}  // namespace

bool has_calls_inside_of_calls(RankReader& reader) {
  const Trace& trace = reader.trace();
  const auto group = trace.group_of(reader.rank());
  if (!group) return false;
  for (const Trace::Occurrence& seen : trace.occurrences(*group)) {
    const std::string_view name = reader.signature(seen.signature).name;
    for (const std::string_view part :
         {"Op_create", "op_create", "keyval", "errhandler", "Grequest", "grequest", "datarep"})
      if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

Status check_window(const Trace& trace, const Window& window) {
  if (window.from_ns >= window.to_ns)
    return base::usage("the window is empty: --to-ns has to be later than --from-ns");
  if (!window.is_all() && !trace.has_times())
    return base::unsupported(
        "the trace has no times of single calls, which say what lies in a window: record with "
        "--timing exact or bins:0.02",
        trace.name());
  return base::Done{};
}

Result<CallsInRange> CallsInRange::open(RankReader& reader, uint32_t thread,
                                        const CallRange& range) {
  Result<Cursor> cursor = reader.cursor(thread);
  if (!cursor.ok()) return cursor.error();
  uint64_t first = range.first;
  if (range.from_ns > 0) {
    const Call* const call = cursor->seek_time(range.from_ns) ? cursor->next() : nullptr;
    if (!cursor->time_status().ok()) return cursor->time_status().error();
    first = call != nullptr ? std::max(first, call->seq) : UINT64_MAX;
  }
  cursor->seek(first);
  const bool nests = range.to_ns != UINT64_MAX && has_calls_inside_of_calls(reader);
  return CallsInRange(std::move(*cursor), range, nests);
}

Result<RankInWindow> rank_in_window(RankReader& reader, const Window& window) {
  RankInWindow out;
  std::map<SignatureId, CallsInWindow> calls;
  const bool nests = has_calls_inside_of_calls(reader);
  for (const Location& where : reader.trace().locations(reader.rank())) {
    if (where.calls == 0) continue;
    Result<Cursor> cursor = reader.cursor(where.thread);
    if (!cursor.ok()) return cursor.error();
    if (window.from_ns > 0) (void)cursor->seek_time(window.from_ns);
    ThreadFold fold(window, nests, out, calls);
    const Call* call = nullptr;
    bool is_empty = true;
    while ((call = cursor->next()) != nullptr) {
      is_empty = false;
      if (!fold.add(*call)) break;
    }
    if (is_empty) out.is_everything = false;  // all of them ended before the window
    fold.finish();
    const format::OwnWork* const work =
        reader::own_work_of(reader.trace(), reader.rank(), where.thread);
    if (work != nullptr) out.own_ns += own_work(*cursor, *work, window);
    if (!cursor->time_status().ok()) return cursor->time_status().error();
  }
  for (auto& [id, of] : calls) {
    of.signature = id;
    out.calls.push_back(of);
  }
  return out;
}

}  // namespace refrain::analysis
