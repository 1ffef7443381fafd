#include "similarity/testing/synthetic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>

#include "similarity/evaluate.h"

namespace refrain::similarity::testing {
namespace {

constexpr double kCallNs = 2000;  // of a call that does not wait

// Work of a rank in an iteration, ns.
using Work = std::function<double(uint32_t rank, uint32_t iteration)>;

SyntheticRun simulate(std::string name, Pattern pattern, uint32_t ranks, uint32_t iterations,
                      int small_calls, std::mt19937_64* random, const Work& work) {
  SyntheticRun run{std::move(name), pattern, std::vector<std::vector<Iteration>>(ranks)};
  const auto noise = [&](double share) {
    return 1 + share * (static_cast<double>((*random)() % 2001) / 1000 - 1);
  };
  std::vector<double> now(ranks, 0);
  for (uint32_t i = 0; i < iterations; ++i) {
    std::vector<double> begin(ranks);
    std::vector<Iteration> made(ranks);
    for (uint32_t r = 0; r < ranks; ++r) {
      made[r].start_ns = static_cast<int64_t>(now[r]);
      double at = 0;
      for (int c = 0; c < small_calls; ++c) {
        made[r].stamps.push_back(at += 500 * noise(0.5));
        made[r].stamps.push_back(at += kCallNs * noise(0.5));
      }
      made[r].stamps.push_back(at += work(r, i) * noise(0.02));
      begin[r] = now[r] + at;
    }
    const double last = *std::max_element(begin.begin(), begin.end());
    for (uint32_t r = 0; r < ranks; ++r) {
      double end = begin[r] + kCallNs * noise(0.2);
      if (pattern == Pattern::kBarrier) end += last - begin[r];
      if (pattern == Pattern::kLateSender && r % 2 == 1)
        end = std::max(begin[r], begin[r - 1]) + kCallNs * noise(0.2);
      made[r].stamps.push_back(end - now[r]);
      made[r].stamps.push_back(end - now[r]);
      for (double& s : made[r].stamps) s = std::round(s);
      now[r] = static_cast<double>(made[r].start_ns) + made[r].stamps.back();
      run.ranks[r].push_back(std::move(made[r]));
    }
  }
  return run;
}

// Seconds that each rank waits in its last call, from when calls begin and end: of all iterations.
using Segments = std::vector<std::vector<SegmentView>>;
std::vector<double> waits(Pattern pattern, const Segments& ranks) {
  std::vector<double> waited(ranks.size(), 0);
  const auto begin = [&](size_t r, size_t i) {
    const SegmentView& s = ranks[r][i];
    return static_cast<double>(s.start_ns) + s.stamps[s.stamps.size() - 3];
  };
  for (size_t i = 0; i < ranks[0].size(); ++i) {
    double last = 0;
    for (size_t r = 0; r < ranks.size(); ++r) last = std::max(last, begin(r, i));
    for (size_t r = 0; r < ranks.size(); ++r) {
      if (pattern == Pattern::kLateSender && r % 2 == 0) continue;
      const double sender = pattern == Pattern::kBarrier ? last : begin(r - 1, i);
      const SegmentView& s = ranks[r][i];
      const double duration = s.stamps[s.stamps.size() - 2] - s.stamps[s.stamps.size() - 3];
      waited[r] += std::clamp(sender - begin(r, i), 0.0, duration) / 1e9;
    }
  }
  return waited;
}

Segments original(const SyntheticRun& run) {
  Segments ranks(run.ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r)
    for (const Iteration& i : run.ranks[r])
      ranks[r].push_back({1, r % 2 + 1, i.start_ns, i.stamps});
  // Everybody does the same in a barrier.
  if (run.pattern == Pattern::kBarrier)
    for (auto& rank : ranks)
      for (SegmentView& s : rank) s.structure = 1;
  return ranks;
}

void compare(const SyntheticRun& run, const Segments& full, const Segments& rebuilt, Outcome* out) {
  ApproximationDistance distance;
  double run_s = 0;
  for (size_t r = 0; r < full.size(); ++r) {
    for (size_t i = 0; i < full[r].size(); ++i) {
      const SegmentView& a = full[r][i];
      const SegmentView& b = rebuilt[r][i];
      const auto starts = static_cast<double>(a.start_ns - b.start_ns);
      for (size_t k = 0; k < a.stamps.size(); ++k) distance.add(starts + a.stamps[k] - b.stamps[k]);
    }
    const SegmentView& end = full[r].back();
    run_s += (static_cast<double>(end.start_ns) + end.length_ns()) / 1e9;
  }
  out->approximation_distance_ns = distance.percentile_ns();
  const std::vector<double> before = waits(run.pattern, full);
  const std::vector<double> after = waits(run.pattern, rebuilt);
  double worst = 0;
  for (size_t r = 0; r < before.size(); ++r) {
    out->waited_s += before[r];
    out->waited_rebuilt_s += after[r];
    worst = std::max(worst, std::fabs(after[r] - before[r]));
  }
  out->worst_rank_error =
      out->waited_s > 0 ? worst * static_cast<double>(before.size()) / out->waited_s : 0;
  out->negligible = std::max(out->waited_s, out->waited_rebuilt_s) < 0.01 * run_s;
}

void sizes(const Segments& full, Outcome* out) {
  const SegmentProfile& p = out->profile;
  std::vector<FullTraceRank> ranks;
  for (const auto& rank : full)
    ranks.push_back({4, rank.size() * rank[0].event_count(), rank.size()});
  std::vector<TraceProfileGroup> groups;
  // Lists of starts are per rank, ids per group; representatives are counted once.
  for (const ProcessGroup& g : p.groups)
    for (size_t m = 0; m < g.members.size(); ++m) groups.push_back({1, g.sequence.size(), {}});
  double lists = trace_profile_bytes(4, 12, groups);
  for (const ProfileSegment& s : p.segments)
    groups.front().segments.push_back({s.stamps.size() / 2, 1});
  const double all = trace_profile_bytes(4, 12, groups);
  out->representative_bytes = static_cast<uint64_t>(all - lists);
  out->percent_of_full = 100 * all / full_trace_bytes(ranks, 12);
}

}  // namespace

std::vector<SyntheticRun> synthetic_runs(uint32_t ranks, uint32_t iterations, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::mt19937_64 events(seed + 1);
  constexpr double kStep = 1e6;
  const auto interference = [&](double least, double range) {
    return events() % 100 < 5 ? least + range * static_cast<double>(events() % 1000) / 1000 : 0;
  };
  const auto make = [&](const char* name, Pattern pattern, int small, const Work& work) {
    return simulate(name, pattern, ranks, iterations, small, &random, work);
  };
  std::vector<SyntheticRun> runs;
  runs.push_back(make("regular", Pattern::kBarrier, 0, [&](uint32_t, uint32_t) { return kStep; }));
  runs.push_back(make("late_rank", Pattern::kBarrier, 0,
                      [&](uint32_t r, uint32_t) { return r == 3 ? 1.5 * kStep : kStep; }));
  runs.push_back(make("interference", Pattern::kBarrier, 0,
                      [&](uint32_t, uint32_t) { return kStep + interference(1e6, 4e6); }));
  runs.push_back(make("drift", Pattern::kBarrier, 0, [&](uint32_t r, uint32_t i) {
    return (r == 2 ? 1.2 : 1.0) * kStep * (1 + 2.0 * i / iterations);
  }));
  runs.push_back(make("load_balance", Pattern::kBarrier, 0, [&](uint32_t r, uint32_t i) {
    const double change = 0.02 * (i % 25);
    return kStep * (r >= ranks / 2 ? 1 + change : 1 - change);
  }));
  runs.push_back(make("small_calls", Pattern::kBarrier, 20,
                      [&](uint32_t r, uint32_t) { return r == 1 ? 1.3e5 : 1e5; }));
  runs.push_back(make("late_sender", Pattern::kLateSender, 0,
                      [&](uint32_t r, uint32_t) { return r % 2 == 0 ? 1.4 * kStep : kStep; }));
  runs.push_back(make("sender_noise", Pattern::kLateSender, 0,
                      [&](uint32_t, uint32_t) { return kStep + interference(1e6, 2e6); }));
  return runs;
}

double Outcome::total_error() const {
  return waited_s > 0 ? std::fabs(waited_rebuilt_s - waited_s) / waited_s : 0;
}

Outcome reduce_and_rebuild(const SyntheticRun& run, const MethodSpec& method, bool combined,
                           Uniting uniting) {
  const Segments full = original(run);
  Outcome out;
  UniteOptions unite_options;
  unite_options.method = method;
  unite_options.uniting = uniting;
  // Without uniting between ranks the profile is just all of them, side by side.
  if (!combined) unite_options.method = default_spec(Method::kIterAvg);
  StoreOptions options;
  options.method = method;
  for (uint32_t r = 0; r < full.size(); ++r) {
    SegmentProfileBuilder builder;
    SegmentStore store(options, &builder);
    for (const SegmentView& s : full[r]) store.match(s);
    if (r == 0) {
      out.profile = builder.finish(store, r);
    } else {
      unite(&out.profile, builder.finish(store, r), unite_options);
    }
  }
  const bool by_representatives =
      method.method == Method::kAuto || uniting == Uniting::kRepresentatives;
  InterMatches inter;
  if (combined)
    inter = inter_matches(out.profile,
                          by_representatives ? Uniting::kRepresentatives : Uniting::kGroups);
  out.degree_of_matching = degree_of_matching(out.profile, inter);
  Segments rebuilt(full.size());
  std::deque<std::vector<double>> stamps;  // what the views look at
  for (const ProcessGroup& g : out.profile.groups)
    for (const GroupMember& m : g.members)
      rebuild(out.profile, g, m, [&](const SegmentView& s) {
        stamps.emplace_back(s.stamps.begin(), s.stamps.end());
        rebuilt[m.rank].push_back({s.context, s.structure, s.start_ns, stamps.back()});
      });
  compare(run, full, rebuilt, &out);
  sizes(full, &out);
  return out;
}

}  // namespace refrain::similarity::testing
