// What the methods of trace profiling keep of waiting, and at how many bytes, on runs of known
// behaviour: a table for each, and how many of the runs each method has right.
//
//   ninja similarity_methods && bench/similarity_methods [--seed N] [METHOD ...]

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "similarity/testing/synthetic.h"

namespace {

using refrain::similarity::MethodSpec;
using refrain::similarity::Uniting;
using refrain::similarity::testing::Outcome;
using refrain::similarity::testing::SyntheticRun;

struct Score {
  int right = 0;
  double bytes = 0;
  double percent = 0;
};

void row(const SyntheticRun& run, const MethodSpec& method, bool combined, Uniting uniting,
         Score* score) {
  const Outcome o = reduce_and_rebuild(run, method, combined, uniting);
  std::printf("%-13s %-22s %8zu %10llu %6.1f %6.3f %10.1f %9.4f %9.4f %6.1f  %s\n",
              run.name.c_str(), to_text(method).c_str(), o.profile.segments.size(),
              static_cast<unsigned long long>(o.representative_bytes), o.percent_of_full,
              o.degree_of_matching, o.approximation_distance_ns / 1000, o.waited_s,
              o.waited_rebuilt_s, 100 * o.worst_rank_error, o.is_retained() ? "yes" : "NO");
  score->right += o.is_retained() ? 1 : 0;
  score->bytes += static_cast<double>(o.representative_bytes);
  score->percent += o.percent_of_full;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 1;
  if (argc > 2 && std::strcmp(argv[1], "--seed") == 0) {
    seed = std::strtoull(argv[2], nullptr, 10);
    argc -= 2;
    argv += 2;
  }
  std::vector<MethodSpec> methods;
  for (int m = 0; m < refrain::similarity::kMethodCount && argc == 1; ++m)
    methods.push_back(default_spec(static_cast<refrain::similarity::Method>(m)));
  for (int i = 1; i < argc; ++i) {
    const auto method = refrain::similarity::parse_method(argv[i]);
    if (!method.ok()) {
      std::fprintf(stderr, "%s\n", method.error().to_string().c_str());
      return 2;
    }
    methods.push_back(*method);
  }
  const std::vector<SyntheticRun> runs = refrain::similarity::testing::synthetic_runs(8, 400, seed);
  struct Mode {
    const char* name;
    bool combined;
    Uniting uniting;
  };
  for (const Mode& mode : {Mode{"within processes", false, Uniting::kGroups},
                           Mode{"combined, process groups", true, Uniting::kGroups},
                           Mode{"combined, representatives", true, Uniting::kRepresentatives}}) {
    std::printf("\n%s\n%-13s %-22s %8s %10s %6s %6s %10s %9s %9s %6s\n", mode.name, "run", "method",
                "segments", "bytes", "% full", "degree", "p90 us", "waited s", "rebuilt", "rank %");
    std::vector<Score> scores(methods.size());
    for (const SyntheticRun& run : runs)
      for (size_t m = 0; m < methods.size(); ++m)
        row(run, methods[m], mode.combined, mode.uniting, &scores[m]);
    for (size_t m = 0; m < methods.size(); ++m)
      std::printf("%-24s right on %d of %zu, %.0f bytes of representatives, %.1f %% of full\n",
                  to_text(methods[m]).c_str(), scores[m].right, runs.size(), scores[m].bytes,
                  scores[m].percent / static_cast<double>(runs.size()));
  }
  return 0;
}
