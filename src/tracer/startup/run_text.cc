#include "tracer/startup/run_text.h"

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "mpi_runtime/built_with.h"
#include "tracer/calls/posix_calls.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"

namespace refrain::tracer {

namespace {

constexpr const char* kRecorder = "refrain 0.1.0";

std::string first_line(const char* text, char end) {
  const size_t n = std::strcspn(text, "\n");
  std::string s(text, n);
  const size_t cut = s.find(end);
  if (cut != std::string::npos) s.resize(cut);
  for (char& c : s)
    if (c == '\t') c = ' ';
  return s;
}

// gmtime_r() and strftime() would read the file of the time zone first.
std::string utc_text(time_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string own_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

}  // namespace

std::map<std::string, std::string> run_text(const Process& p) {
  std::map<std::string, std::string> text;
  text["mpi"] = own_word();
  text["mpi_version"] = first_line(library_version().c_str(), ',');
  if (!is_built_with_this())
    text["built_with"] = std::string(kBuiltWithName) + " " + kBuiltWithVersion;
  text["program"] = p.options.program.empty() ? own_path() : p.options.program;
  text["command"] = p.options.command.empty() ? text["program"] : p.options.command;
  text["recorder"] = kRecorder;
  text["timing"] = p.times != nullptr ? p.times->spec().to_string() : "stats";
  if (p.times != nullptr && p.times->segments() != nullptr) {  // `refrain recover` asks
    if (p.times->segment_source() != "loops") text["segments"] = p.times->segment_source();
    if (p.times->across_ranks() != "groups") text["across_ranks"] = p.times->across_ranks();
  }
  if (!p.options.filter.empty()) text["filter"] = p.options.filter;
  if (!p.options.totals) text["totals"] = "off";
  if (p.options.gaps) text["gaps"] = "on";  // `refrain recover` asks
  if (counts_posix()) text["posix"] = "on";
  // Asked again in MPI_Finalize, when the program may have changed its environment and directory.
  if (!p.options.messages.empty() && p.run != 0) {
    char run[32];
    std::snprintf(run, sizeof run, "run=%016llx ", static_cast<unsigned long long>(p.run));
    text["messages"] = run + p.options.messages;
  }
  if (!p.options.working_directory.empty()) text["working_directory"] = p.options.working_directory;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ran_s = static_cast<time_t>(p.clock.ran_ns(p.init_ticks) / 1000000000u);
  text["started"] = utc_text(now.tv_sec - ran_s);
  return text;
}

}  // namespace refrain::tracer
