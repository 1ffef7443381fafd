#include "analysis/message_logs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "format/messages/decode/log_reader.h"

namespace refrain::analysis {
namespace {

namespace fs = std::filesystem;
namespace messages = format::messages;
using messages::Kind;

// "rank-12.rfm"
std::optional<uint64_t> rank_of(const std::string& name) {
  constexpr std::string_view kBegin = "rank-", kEnd = ".rfm";
  if (name.size() <= kBegin.size() + kEnd.size() || name.compare(0, kBegin.size(), kBegin) != 0 ||
      name.compare(name.size() - kEnd.size(), kEnd.size(), kEnd) != 0)
    return std::nullopt;
  uint64_t rank = 0;
  const char* const end = name.data() + name.size() - kEnd.size();
  const auto [after, error] = std::from_chars(name.data() + kBegin.size(), end, rank);
  return error == std::errc() && after == end ? std::optional(rank) : std::nullopt;
}

// "run=0123456789abcdef all"
std::optional<uint64_t> run_of(const Trace& trace) {
  constexpr std::string_view kRun = "run=";
  const std::string text(trace.info().text_of("messages"));
  uint64_t run = 0;
  if (text.compare(0, kRun.size(), kRun) != 0) return std::nullopt;
  const auto [after, error] =
      std::from_chars(text.data() + kRun.size(), text.data() + text.size(), run, 16);
  return error == std::errc() ? std::optional(run) : std::nullopt;
}

// What a record adds to the sums of a log that its process has not ended itself. What MPI_Unpack
// and the like have filled is among it then.
void count(const messages::Record& r, RankMessages& out) {
  messages::Sums& sums = out.sums;
  switch (r.kind) {
    case Kind::kContents:
    case Kind::kPart:
    case Kind::kFetched:
      ++sums.receives;
      sums.received_bytes += r.bytes;
      sums.crossing_bytes += r.bytes;
      sums.kept_bytes += r.bytes;
      break;
    case Kind::kInside:
      ++sums.receives;
      sums.received_bytes += r.bytes;
      break;
    case Kind::kMissing:
      ++sums.receives;
      sums.received_bytes += r.bytes;
      sums.crossing_bytes += r.bytes;
      ++out.missing;
      break;
    case Kind::kNoted: out.noted[static_cast<size_t>(r.noted)] += r.count; break;
    case Kind::kEnd:
      sums = r.sums;
      out.end = r.end;
      out.error_number = r.error_number;
      break;
    default: break;
  }
}

// Goes past the bytes of the last record. False: they are not all there, as its process died.
base::Result<bool> skip_bytes(messages::LogReader& log) {
  std::byte piece[65536];
  while (log.left() > 0)
    if (const auto taken = log.take(piece); !taken.ok()) return taken.error();
  return !log.is_cut();
}

base::Result<RankMessages> read_log(const std::string& path, uint64_t rank, uint64_t run,
                                    uint64_t ranks) {
  RankMessages out;
  out.rank = rank;
  std::error_code ignored;
  out.file_bytes = fs::file_size(path, ignored);
  auto log = messages::LogReader::open_file(path);
  if (!log.ok()) {
    if (log.error().code != base::ErrorCode::kFailed) return log.error();
    out.damage = log.error().to_string();
    return out;
  }
  if (log->header().run != run)
    return base::fail("this log is of another run than the trace", path);
  if (log->header().rank != rank || log->header().ranks != ranks)
    return base::fail("this is the log of rank " + std::to_string(log->header().rank) + " of " +
                          std::to_string(log->header().ranks),
                      path);
  for (const messages::RankRun& run_of_ranks : log->header().group)
    out.inside_ranks += run_of_ranks.count;
  for (messages::Record r;;) {
    const auto more = log->next(r);
    if (!more.ok()) out.damage = more.error().to_string();
    if (!more.ok() || !*more) break;
    if (const auto whole = skip_bytes(*log); !whole.ok())
      out.damage = whole.error().to_string();
    else if (*whole)
      count(r, out);
  }
  out.is_complete = log->is_complete();
  return out;
}

void add(const RankMessages& one, RankMessages& all) {
  all.sums.receives += one.sums.receives;
  all.sums.received_bytes += one.sums.received_bytes;
  all.sums.crossing_bytes += one.sums.crossing_bytes;
  all.sums.kept_bytes += one.sums.kept_bytes;
  all.sums.unlogged += one.sums.unlogged;
  all.file_bytes += one.file_bytes;
  all.missing += one.missing;
  for (size_t i = 0; i < std::size(all.noted); ++i) all.noted[i] += one.noted[i];
  all.is_complete = all.is_complete && one.is_complete;
}

}  // namespace

std::string message_folder(const std::string& trace_path) { return trace_path + ".messages"; }

base::Result<MessageLogs> read_message_logs(
    const Trace& trace, const std::string& trace_path,
    const std::function<void(uint64_t, uint64_t)>& progress) {
  const auto run = run_of(trace);
  if (!run)
    return base::unsupported("there are no message logs of this run: record with --messages all",
                             trace_path);
  MessageLogs out;
  out.folder = message_folder(trace_path);
  std::error_code error;
  std::vector<std::pair<uint64_t, std::string>> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(out.folder, error))
    if (const auto rank = rank_of(entry.path().filename().string()))
      files.emplace_back(*rank, entry.path().string());
  if (error) return base::fail("the message logs of the trace: " + error.message(), out.folder);
  if (files.empty()) return base::fail("there is no message log", out.folder);
  std::sort(files.begin(), files.end());
  out.all.is_complete = true;
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  for (const auto& [rank, path] : files) {
    auto one = read_log(path, rank, *run, ranks);
    if (!one.ok()) return one.error();
    add(*one, out.all);
    out.ranks.push_back(std::move(*one));
    if (progress) progress(out.ranks.size(), files.size());
  }
  return out;
}

}  // namespace refrain::analysis
