// Writes a trace of a simulated run of known behaviour, with exact times: what the tests of the
// command line reduce and evaluate.
//
//   trend_trace NAME RANKS ITERATIONS OUT.rfn [none|exact|bins:BOUND]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/reduce/test_runs.h"
#include "format/encode/encode.h"

int main(int argc, char** argv) {
  using namespace refrain;
  if (argc < 5 || argc > 6) return 2;
  const std::string times = argc > 5 ? argv[5] : "exact";
  const bool crossed = std::string(argv[1]) == "crossed_marks";
  analysis::reduce::TestRun run = analysis::reduce::test_run(
      crossed ? "marked" : argv[1], std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (crossed) {
    run.mark("refrain_region_begin", "a");
    run.mark("refrain_region_begin", "b");
    run.mark("refrain_region_end", "a");
    run.mark("refrain_region_end", "b");
  }
  format::TraceData& data = run.finish(times == "none" ? "exact" : times.c_str());
  if (times == "none") data.times = {};
  const auto bytes = format::encode(data);
  if (!bytes.ok()) return std::fprintf(stderr, "%s\n", bytes.error().to_string().c_str()), 1;
  const auto written = format::write_file_atomically(argv[4], *bytes);
  return written.ok() ? 0 : 1;
}
