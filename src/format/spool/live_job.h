// The file by which a job tells `refrain live serve` of itself (`record --live-dir`): RUN.job in a
// folder that both know, mode 0600, lines of text, written by the first rank that comes to it:
//
//   refrain job 1
//   spool /home/a/run.rfn.spool
//   trace /home/a/run.rfn
//   run 0123456789abcdef
//   ranks 16
//   name app
//   end
//
// Without the last line it is not complete yet. Paths are absolute and have no newline. The name is
// optional: letters, digits, `.`, `_` and `-`, no `.` at its begin.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace refrain::format::spool {

inline constexpr const char* kLiveJobEnding = ".job";
inline constexpr size_t kMaxLiveJobBytes = 16384;

struct LiveJob {
  std::string spool, trace;
  uint64_t run = 0, ranks = 0;
  std::string name{};  // empty: that of the trace
};

inline std::string run_text(uint64_t run) {
  std::string text(16, '0');
  for (size_t i = 0; i < 16; ++i) text[15 - i] = "0123456789abcdef"[run >> 4 * i & 15];
  return text;
}

inline bool is_job_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

// Empty where a path cannot stand in a line.
inline std::string write_live_job(const LiveJob& job) {
  if ((job.spool + job.trace).find('\n') != std::string::npos) return {};
  return "refrain job 1\nspool " + job.spool + "\ntrace " + job.trace + "\nrun " +
         run_text(job.run) + "\nranks " + std::to_string(job.ranks) +
         (is_job_name(job.name) ? "\nname " + job.name : "") + "\nend\n";
}

// Nothing where the text is not a whole file of this kind.
inline std::optional<LiveJob> read_live_job(std::string_view text) {
  const auto line = [&text](std::string_view key) -> std::optional<std::string_view> {
    const size_t end = text.find('\n');
    if (end == text.npos || text.substr(0, key.size()) != key) return std::nullopt;
    const std::string_view value = text.substr(key.size(), end - key.size());
    text.remove_prefix(end + 1);
    return value;
  };
  const auto number = [](std::optional<std::string_view> digits, int base, uint64_t& to) {
    if (!digits || digits->empty()) return false;
    const char* const end = digits->data() + digits->size();
    const auto [at, error] = std::from_chars(digits->data(), end, to, base);
    return at == end && error == std::errc();
  };
  LiveJob job;
  if (line("refrain job 1") != "") return std::nullopt;
  const auto spool = line("spool "), trace = line("trace ");
  if (!spool || !trace || !spool->starts_with('/') || !trace->starts_with('/')) return std::nullopt;
  job.spool = *spool;
  job.trace = *trace;
  if (!number(line("run "), 16, job.run) || !number(line("ranks "), 10, job.ranks))
    return std::nullopt;
  if (const auto name = line("name ")) {
    if (!is_job_name(*name)) return std::nullopt;
    job.name = *name;
  }
  if (line("end") != "" || !text.empty()) return std::nullopt;
  return job;
}

}  // namespace refrain::format::spool
