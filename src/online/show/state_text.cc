#include "online/show/state_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::online {

namespace {

constexpr size_t kMaxRuns = 8;

std::string ranks_text(const std::vector<uint64_t>& ranks) {
  base::RunList list;
  for (const uint64_t r : ranks) list.append(static_cast<int64_t>(r));
  return (ranks.size() == 1 ? "rank " : "ranks ") + text::rank_list_text(list, kMaxRuns);
}

// "rank 0 in MPI_Recv waits for rank 1 in MPI_Recv, ..."
std::string circle_text(const JobNow& job) {
  constexpr size_t kMostNamed = 8;
  std::string out = "a circle, if these calls are as those before:";
  for (size_t i = 0; i < std::min(job.circle.size(), kMostNamed); ++i)
    out += fmt::format("{} rank {} in {}", i == 0 ? "" : " waits for", job.circle[i].first,
                       job.circle[i].second);
  if (job.circle.size() > kMostNamed)
    out += fmt::format(" and {} more", job.circle.size() - kMostNamed);
  return out + fmt::format(" waits for rank {}", job.circle.front().first);
}

std::string trouble_text(const JobNow& job) {
  std::string out;
  if (job.nobody_moves)
    out += text::bad(
               "Every rank waits in MPI and none moves: a deadlock, or calls that take so "
               "long.") +
           "\n";
  if (!job.circle.empty()) out += "  " + circle_text(job) + "\n";
  for (const Stuck& s : job.stuck)
    out += fmt::format("  {}: in {} for {}\n", ranks_text(s.ranks), s.call,
                       text::duration_text(s.since_ns));
  if (!job.story.empty()) out += text::bad(text::printable(job.story)) + "\n";
  if (!job.story.empty() && !job.spool.empty())
    out +=
        "  `refrain recover " + text::printable(job.spool) + "` makes a trace of what is there.\n";
  for (const format::LossRecord& l : job.losses)
    out +=
        fmt::format("  loss: {}{}: {}\n", l.reason,
                    l.rank < 0 ? "" : fmt::format(", rank {}", l.rank), text::printable(l.detail));
  return out;
}

std::string functions_text(const JobNow& job, size_t top) {
  text::Table table({"<function", "calls", "time", "share", "bytes"});
  for (const FunctionNow& row : job.functions) {
    if (table.rows() == top) break;
    const auto time_ns = static_cast<double>(row.time_ns);
    table.add({row.call, text::count_text(row.count), text::time_text(time_ns),
               text::percent_text(time_ns, job.run_ns), text::bytes_text(row.bytes)});
  }
  return table.rows() == 0 ? std::string() : table.text();
}

// Those that have made the fewest calls first: who is behind.
std::string ranks_table(const JobNow& job, size_t top) {
  std::vector<const RankNow*> order;
  uint64_t most = 0;
  for (const RankNow& r : job.ranks) {
    order.push_back(&r);
    most = std::max(most, r.calls);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const RankNow* a, const RankNow* b) { return a->calls < b->calls; });
  text::Table table({"rank", "calls", "<", "<state", "<call", "since"});
  for (const RankNow* r : order) {
    if (table.rows() == top) break;
    table.add({std::to_string(r->rank), text::count_text(r->calls),
               text::bar_text(static_cast<double>(r->calls), static_cast<double>(most)),
               to_string(r->state),
               r->state == RankState::kComputing && !r->call.empty() ? "after " + r->call : r->call,
               text::duration_text(r->since_ns)});
  }
  std::string out = table.text();
  if (order.size() > top)
    out += fmt::format("  {}: those that have made most calls\n",
                       text::others_text(order.size() - top));
  return out;
}

// "rank 3 1.2 s, rank 0 40 ms"
std::string most_text(const WaitsNow& waits, size_t top, uint64_t WaitsNow::OfRank::*what) {
  std::vector<const WaitsNow::OfRank*> order;
  for (const WaitsNow::OfRank& r : waits.ranks)
    if (r.*what > 0) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(),
                   [what](const auto* a, const auto* b) { return a->*what > b->*what; });
  std::string out;
  for (size_t i = 0; i < std::min(order.size(), top); ++i)
    out += fmt::format("{}rank {} {}", i == 0 ? "" : ", ", order[i]->rank,
                       text::duration_text(order[i]->*what));
  return order.size() > top ? out + fmt::format(", {}", text::others_text(order.size() - top))
                            : out;
}

// How far the numbers go.
std::string waits_heading(const WaitsNow& waits) {
  std::string out = "Waits until " + text::duration_text(waits.swept_until_ns) + " of the run";
  if (waits.lag_ns > 0) out += ", " + text::duration_text(waits.lag_ns) + " behind";
  if (waits.lag_ns > 0 && waits.behind_rank >= 0)
    out += fmt::format(" (rank {})", waits.behind_rank);
  if (waits.unmatched_ends > 0)
    out += fmt::format("; {} messages and collectives are too many to be looked at",
                       text::count_text(waits.unmatched_ends));
  if (!waits.stopped.empty()) out += "; no further: " + text::printable(waits.stopped);
  return out + "\n";
}

std::string waits_text(const JobNow& job, size_t top) {
  const WaitsNow& waits = job.waits;
  if (!waits.why_not.empty()) return "no waits: " + waits.why_not + "\n";
  if (waits.calls == 0) return waits.stopped.empty() ? std::string() : waits_heading(waits);
  const uint64_t over_ns =
      waits.swept_until_ns - std::min(waits.swept_until_ns, waits.recent_from_ns);
  std::vector<const WaitsNow::OfPattern*> order;
  for (const WaitsNow::OfPattern& p : waits.patterns) order.push_back(&p);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->ns > b->ns; });
  text::Table table({"<pattern", "waits", "time", "in the last " + text::duration_text(over_ns)});
  for (const WaitsNow::OfPattern* p : order) {
    if (table.rows() == top) break;
    table.add({std::string(analysis::waits::title_of(p->pattern)), text::count_text(p->count),
               text::time_text(static_cast<double>(p->ns)),
               text::time_text(static_cast<double>(p->recent_ns))});
  }
  std::string out = waits_heading(waits);
  if (table.rows() > 0) out += table.text();
  constexpr size_t kMostNamed = 4;
  const std::string for_whom = most_text(waits, kMostNamed, &WaitsNow::OfRank::causing_ns),
                    who = most_text(waits, kMostNamed, &WaitsNow::OfRank::waiting_ns);
  if (!for_whom.empty()) out += "  waited for: " + for_whom + "\n";
  if (!who.empty()) out += "  that waited: " + who + "\n";
  return out;
}

}  // namespace

std::string summary_text(const JobNow& job) {
  std::string out = fmt::format("{}: {}, {}", text::printable(job.name), to_string(job.state),
                                text::counted_text(job.world_size, "rank"));
  if (!job.ranks.empty() && job.ranks.size() < job.world_size)
    out += fmt::format(" ({} seen)", job.ranks.size());
  out += ", " + text::counted_text(job.calls, "call");
  if (job.state == JobState::kRunning)
    out += fmt::format(", {} a second",
                       text::count_text(static_cast<uint64_t>(job.calls_per_s + 0.5)));
  if (job.running_ns > 0) out += ", " + text::duration_text(job.running_ns);
  return out;
}

std::string state_text(const JobNow& job, size_t top) {
  std::string out = text::heading(summary_text(job)) + "\n" + trouble_text(job);
  if (job.loop.most > 0)
    out += fmt::format("  iterations of {}{} from {} on: {} to {} over the ranks\n",
                       job.loop.least_calls < job.loop.calls
                           ? fmt::format("loops of {} to ", text::count_text(job.loop.least_calls))
                           : "a loop of ",
                       text::counted_text(job.loop.calls, "call"), job.loop.call,
                       text::count_text(job.loop.least), text::count_text(job.loop.most));
  out += functions_text(job, top);
  out += waits_text(job, top);
  if (!job.ranks.empty()) out += ranks_table(job, top);
  if (job.state == JobState::kFinished)
    out += "Its trace is written: `refrain profile` and the other verbs say more.\n";
  return out;
}

}  // namespace refrain::online
