#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "convert/output_files.h"
#include "events/refusals.h"
#include "mpi/call_name.h"
#include "proxy/program.h"
#include "proxy/proxy.h"
#include "proxy/refused.h"
#include "proxy/runtime_text.inc"
#include "reader/internal.h"

namespace refrain::proxy {
namespace {

constexpr char kWhat[] = "the proxy";
constexpr char kMain[] = "main.cc";
constexpr Rank kMostRanks = 1 << 24;  // some numbers are looked at for each of them

constexpr std::string_view kCmake =
    R"(# A program made by `refrain proxy`: CXX=mpicxx cmake -S . -B build && cmake --build build
cmake_minimum_required(VERSION 3.16)
project(proxy CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
add_executable(proxy main.cc)
target_link_libraries(proxy PRIVATE MPI::MPI_CXX Threads::Threads)
target_compile_options(proxy PRIVATE -Wall -Wextra -Wpedantic)
# The C++ bindings of Open MPI call MPI when they are loaded, which a recorder sees.
target_link_options(proxy PRIVATE -Wl,--as-needed)
)";

Status write_file(const std::string& path, std::string_view text) {
  auto file = convert::BufferedFile::create(path, kWhat);
  if (!file.ok()) return file.error();
  file->buffer().append(text);
  return file->commit_inside();
}

}  // namespace

Result<std::vector<Refusal>> refusals(const Trace& trace, const Options& options) {
  std::vector<Refusal> out;
  for (events::Refusal& one : events::refusals(trace, [&](CallId call) {
         return options.skip.contains(mpi::call_name(call)) ? std::string() : refused(call);
       }))
    out.push_back({mpi::call_name(one.call), std::move(one.why), one.calls});
  std::sort(out.begin(), out.end(),
            [](const Refusal& a, const Refusal& b) { return a.function < b.function; });
  return out;
}

Result<LeftOut> left_out(const Trace& trace, const Options& options) {
  Symbolic symbolic(trace);
  const auto families = families_of(trace);
  if (!families.ok()) return families.error();
  auto skipped = skipped_of(symbolic, *families, options.skip);
  if (!skipped.ok()) return skipped.error();
  return std::move(skipped->all);
}

Result<Outcome> generate(const Trace& trace, const Options& options) {
  if (!options.output.empty())
    if (const Status free = convert::check_output(options.output, options.force, "refrain_proxy.h");
        !free.ok())
      return free.error();
  if (trace.rank_count() > kMostRanks)
    return base::unsupported(
        fmt::format("a proxy of {} ranks: {} are the most", trace.rank_count(), kMostRanks),
        trace.name());
  if (!trace.info().complete)
    return base::unsupported(
        "the trace is not complete, and ranks would wait for each other for ever", trace.name());
  if (const Status alike = events::check_clusters(trace); !alike.ok()) return alike.error();
  Program program(trace, options);
  auto out = program.write();
  if (!out.ok() || options.output.empty()) return out;
  auto folder = convert::OutputFolder::create(options.output, kWhat);
  if (!folder.ok()) return folder.error();
  const std::pair<std::string_view, std::string_view> files[] = {
      {kMain, out->program}, {"refrain_proxy.h", kRuntime}, {"CMakeLists.txt", kCmake}};
  for (const auto& [name, text] : files)
    if (const Status done = write_file(folder->path() + "/" + std::string(name), text); !done.ok())
      return done.error();
  if (const Status done = folder->commit(); !done.ok()) return done.error();
  out->output = options.output;
  return out;
}

}  // namespace refrain::proxy
