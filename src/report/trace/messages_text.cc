#include "report/trace/messages_text.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

using analysis::MessageLogs;
using analysis::RankMessages;
using format::messages::EndReason;
using format::messages::Noted;
using nlohmann::ordered_json;

struct NotedWord {
  Noted noted;
  const char *word, *text;
};
constexpr NotedWord kNoted[] = {
    {Noted::kFreedActive, "freed_active", "receives freed while they were active"},
    {Noted::kSharedWindow, "shared_windows", "shared windows with ranks of other groups"},
    {Noted::kPolledWindow, "polled_windows", "windows that changed without a call that could tell"},
    {Noted::kUnknownWindow, "unwatched_windows", "windows whose memory is not watched"},
    {Noted::kOverlooked, "overlooked",
     "calls that fill buffers and that the recorder does not know"},
};

std::string state_of(const RankMessages& r) {
  if (!r.damage.empty()) return "damaged";
  if (!r.is_complete) return "unfinished";
  switch (r.end) {
    case EndReason::kLimit: return "ended at --message-limit";
    case EndReason::kDisk:
      return fmt::format("ended: {}", strerror(static_cast<int>(r.error_number)));
    case EndReason::kMemory: return "ended: no memory";
    default: return "complete";
  }
}

std::vector<std::string> row_of(const std::string& name, const RankMessages& r,
                                const std::string& state) {
  return {name,
          std::to_string(r.sums.receives),
          text::bytes_text(r.sums.received_bytes),
          text::bytes_text(r.sums.crossing_bytes),
          text::bytes_text(r.sums.kept_bytes),
          text::bytes_text(r.file_bytes),
          state};
}

ordered_json json_of(const RankMessages& r) {
  ordered_json out = {{"receives", r.sums.receives},
                      {"received_bytes", r.sums.received_bytes},
                      {"crossing_bytes", r.sums.crossing_bytes},
                      {"kept_bytes", r.sums.kept_bytes},
                      {"stored_bytes", r.file_bytes},
                      {"unlogged", r.sums.unlogged},
                      {"missing", r.missing}};
  for (const NotedWord& n : kNoted) out[n.word] = r.noted[static_cast<size_t>(n.noted)];
  return out;
}

}  // namespace

std::string messages_text(const MessageLogs& logs) {
  text::Table table({"rank", "receives", "received", "crossing", "kept", "stored", "<log"});
  for (const RankMessages& r : logs.ranks)
    table.add(row_of(std::to_string(r.rank), r, state_of(r)));
  table.add(row_of("all", logs.all, ""));
  std::string out = text::printable(logs.folder) + "\n" + table.text();
  out += fmt::format("  {} of the received bytes are kept\n",
                     text::percent_text(static_cast<double>(logs.all.sums.kept_bytes),
                                        static_cast<double>(logs.all.sums.received_bytes)));
  if (logs.all.sums.unlogged > 0)
    out += fmt::format("  {} receives came after their logs had ended\n", logs.all.sums.unlogged);
  if (logs.all.missing > 0) out += fmt::format("  {} receives are not kept\n", logs.all.missing);
  for (const NotedWord& n : kNoted)
    if (const uint64_t count = logs.all.noted[static_cast<size_t>(n.noted)]; count > 0)
      out += fmt::format("  {} {}\n", count, n.text);
  for (const RankMessages& r : logs.ranks)
    if (!r.damage.empty()) out += "  " + text::printable(r.damage) + "\n";
  return out;
}

std::string messages_json(const MessageLogs& logs) {
  ordered_json out = {{"folder", logs.folder}, {"ranks", ordered_json::array()}};
  for (const RankMessages& r : logs.ranks) {
    ordered_json one = {{"rank", r.rank}, {"state", state_of(r)}, {"group", r.inside_ranks}};
    one.update(json_of(r));
    if (!r.damage.empty()) one["damage"] = r.damage;
    out["ranks"].push_back(std::move(one));
  }
  out["all"] = json_of(logs.all);
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::report
