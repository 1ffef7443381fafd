#include "sim/predict/predict.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "sim/predict/recorded_spread.h"

namespace refrain::sim {
namespace {

constexpr double kNormal95 = 1.959964;  // half an interval of 95 %, in standard deviations

// A value of a normal distribution that is cut at 0.
double draw(std::mt19937_64& random, double value, double deviation) {
  if (deviation <= 0) return value;
  return std::max(0.0, std::normal_distribution<double>(value, deviation)(random));
}

void draw(std::mt19937_64& random, Parameter& p) {
  // Each side has its own width.
  const double z = std::normal_distribution<double>(0, 1)(random) / kNormal95;
  p.value = std::max(0.0, p.value + z * (z < 0 ? p.value - p.low : p.high - p.value));
}

void scale(Parameter& p, double factor) { p.value *= factor, p.low *= factor, p.high *= factor; }

// One simulation of several that run side by side.
struct Task {
  Machine machine;
  std::vector<double> factors;
  Time predicted_ns = 0;
};

base::Status run_all(const Trace& trace, const PredictOptions& options, std::vector<Task>& tasks) {
  std::atomic<size_t> next = 0, done = 0;
  std::mutex mutex;
  std::optional<base::Error> error;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      SimulateOptions how = options.simulate;
      how.progress = nullptr;
      how.on_call = nullptr;
      how.times = options.times;
      how.factors = tasks[i].factors;
      const auto result = simulate(trace, tasks[i].machine, how);
      const std::lock_guard<std::mutex> guard(mutex);
      if (options.simulate.progress) options.simulate.progress(++done, tasks.size());
      if (!result.ok()) {
        if (!error) error = result.error();
        continue;
      }
      if (!result->deadlock.empty() && !error)
        error = base::fail("a deadlock with drawn or swept parameters", trace.name());
      tasks[i].predicted_ns = result->predicted_ns;
    }
  };
  const uint32_t most =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(most, tasks.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& one : threads) one.join();
  if (error) return *error;
  return base::Done{};
}

std::vector<Task> make_tasks(const Trace& trace, const Machine& machine,
                             const PredictOptions& options) {
  std::vector<Task> out;
  RecordedSpread recorded;
  if (options.draws > 0 && options.times == nullptr) recorded = recorded_spread(trace);
  for (uint32_t i = 0; i < options.draws; ++i) {
    Task task;
    task.machine = drawn(machine, options.seed * 1'000'003 + i);
    std::mt19937_64 random(options.seed * 7'919 + i);
    for (size_t rank = 0; rank < static_cast<size_t>(trace.rank_count()); ++rank)
      task.factors.push_back(options.times != nullptr
                                 ? draw(random, 1, options.times->deviations()[rank])
                                 : draw(random, recorded.centre[rank], recorded.deviation[rank]));
    out.push_back(std::move(task));
  }
  for (const Sweep& sweep : options.sweeps)
    for (const double factor : sweep.factors)
      out.push_back({scaled(machine, sweep.part, factor), {}, 0});
  return out;
}

base::Result<double> factor_of(std::string_view text) {
  const std::string word(text);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != 0 || !std::isfinite(value) || value <= 0 || value > 1e6)
    return base::usage("--sweep: '" + word + "' is no factor above 0");
  return value;
}

base::Result<Sweep> parse_sweep(std::string_view text) {
  constexpr uint64_t kSteps = 5, kMostSteps = 1000;
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  Sweep out;
  bool is_known = false;
  for (const SweptPart part :
       {SweptPart::kBandwidth, SweptPart::kLatency, SweptPart::kOverhead, SweptPart::kCompute}) {
    if (name != name_of(part)) continue;
    out.part = part;
    is_known = true;
  }
  if (!is_known || equals == std::string_view::npos)
    return base::usage("--sweep: '" + std::string(text) +
                       "' has to be bandwidth=, latency=, overhead= or compute= and factors, as in "
                       "bandwidth=1..4");
  std::string_view range = text.substr(equals + 1);
  uint64_t steps = kSteps;
  if (const size_t colon = range.find(':'); colon != std::string_view::npos) {
    const auto count = factor_of(range.substr(colon + 1));
    if (!count.ok()) return count.error();
    steps = static_cast<uint64_t>(*count);
    if (steps < 2 || steps > kMostSteps || static_cast<double>(steps) != *count)
      return base::usage("--sweep: steps after ':' are 2 to 1000");
    range = range.substr(0, colon);
  }
  const size_t dots = range.find("..");
  const auto first = factor_of(range.substr(0, dots));
  if (!first.ok()) return first.error();
  if (dots == std::string_view::npos) {
    out.factors = {*first};
    return out;
  }
  const auto last = factor_of(range.substr(dots + 2));
  if (!last.ok()) return last.error();
  for (uint64_t i = 0; i < steps; ++i)
    out.factors.push_back(
        *first * std::pow(*last / *first, static_cast<double>(i) / static_cast<double>(steps - 1)));
  out.factors.back() = *last;
  return out;
}

}  // namespace

std::string_view name_of(SweptPart part) {
  constexpr std::string_view kNames[] = {"bandwidth", "latency", "overhead", "compute"};
  return kNames[static_cast<size_t>(part)];
}

base::Result<std::vector<Sweep>> parse_sweeps(std::string_view text) {
  std::vector<Sweep> out;
  while (true) {
    const size_t comma = text.find(',');
    auto sweep = parse_sweep(text.substr(0, comma));
    if (!sweep.ok()) return sweep.error();
    out.push_back(std::move(*sweep));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

Machine scaled(const Machine& machine, SweptPart part, double factor) {
  Machine out = machine;
  Topology& links = out.topology;
  for (Protocol& protocol : out.distances) {
    if (part == SweptPart::kOverhead) {
      scale(protocol.unexpected_copy, factor);
      scale(protocol.unexpected_copy_per_byte, factor);
    }
    for (SizeRange& range : protocol.ranges) switch (part) {
        case SweptPart::kBandwidth: scale(range.gap_per_byte, 1 / factor); break;
        case SweptPart::kLatency:
          scale(range.latency, factor);
          scale(range.handshake, factor);
          break;
        case SweptPart::kOverhead:
          scale(range.send, factor);
          scale(range.receive, factor);
          scale(range.cpu_per_byte, factor);
          break;
        case SweptPart::kCompute: break;
      }
  }
  if (part == SweptPart::kLatency) links.hop_latency_ns *= factor;
  if (part == SweptPart::kBandwidth)
    for (double* one : {&links.link_bandwidth, &links.node_bandwidth, &links.global_bandwidth,
                        &links.core_bandwidth})
      *one *= factor;
  if (part == SweptPart::kCompute) {
    for (NodeKind& kind : out.node_kinds) kind.speed *= factor;
    out.node_kinds.push_back({0, UINT64_MAX, factor});  // those of no kind
  }
  return out;
}

Machine drawn(const Machine& machine, uint64_t seed) {
  std::mt19937_64 random(seed);
  Machine out = machine;
  for (size_t i = 0; i < kDistances; ++i) {
    Protocol& protocol = out.distances[i];
    for (Parameter* one :
         {&protocol.overlap, &protocol.unexpected_copy, &protocol.unexpected_copy_per_byte})
      draw(random, *one);
    protocol.overlap.value = std::min(1.0, protocol.overlap.value);
    for (SizeRange& range : protocol.ranges) {
      // A handshake that is L, as in a file without one, stays so.
      const bool is_latency = range.handshake.value == range.latency.value;
      for (Parameter* one : {&range.latency, &range.send, &range.receive, &range.gap,
                             &range.gap_per_byte, &range.cpu_per_byte, &range.handshake})
        draw(random, *one);
      if (is_latency) range.handshake = range.latency;
    }
  }
  return out;
}

base::Result<Prediction> predict(const Trace& trace, const Machine& machine,
                                 const PredictOptions& options) {
  Prediction out;
  SimulateOptions first = options.simulate;
  first.times = options.times;
  auto simulation = simulate(trace, machine, first);
  if (!simulation.ok()) return simulation.error();
  out.simulation = std::move(*simulation);
  out.low_ns = out.high_ns = out.simulation.predicted_ns;
  if (!out.simulation.deadlock.empty()) return out;
  std::vector<Task> tasks = make_tasks(trace, machine, options);
  if (const auto done = run_all(trace, options, tasks); !done.ok()) return done.error();
  for (uint32_t i = 0; i < options.draws; ++i) out.draws.push_back(tasks[i].predicted_ns);
  std::sort(out.draws.begin(), out.draws.end());
  if (!out.draws.empty()) {
    // Of 30, the second and the last but one: 5 % on each side.
    const auto last = static_cast<double>(out.draws.size() - 1);
    out.low_ns = std::min(out.low_ns, out.draws[static_cast<size_t>(0.05 * last)]);
    out.high_ns = std::max(out.high_ns, out.draws[static_cast<size_t>(std::ceil(0.95 * last))]);
  }
  size_t at = options.draws;
  for (const Sweep& sweep : options.sweeps)
    for (const double factor : sweep.factors)
      out.sweep.push_back({sweep.part, factor, tasks[at++].predicted_ns});
  return out;
}

}  // namespace refrain::sim
