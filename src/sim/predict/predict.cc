#include "sim/predict/predict.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "reader/time_store.h"
#include "sim/predict/recorded_spread.h"
#include "sim/predict/run_noise.h"

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

// One more value is below this with the given probability: n ascending ones cut the line into n + 1
// parts, which are equally likely for the next one.
Time next_is_below(const std::vector<Time>& values, double probability) {
  const auto count = static_cast<double>(values.size());
  const double place = std::clamp(probability * (count + 1) - 1, 0.0, count - 1);
  const auto at = static_cast<size_t>(place);
  const Time step = at + 1 < values.size() ? values[at + 1] - values[at] : 0;
  return values[at] + std::llround((place - static_cast<double>(at)) * static_cast<double>(step));
}

void scale(Parameter& p, double factor) { p.value *= factor, p.low *= factor, p.high *= factor; }

// Units of ranks that ran alone, drawn from their runs; nullptr: PredictOptions::times as they are.
// What --skip leaves out stands for iterations that are alike, so there is no chance.
std::unique_ptr<const ComputeTimes> drawn_units(const PredictOptions& options, uint64_t seed) {
  if (options.times == nullptr || options.simulate.skip_share > 0) return nullptr;
  return std::make_unique<DrawnUnits>(*options.times, seed);
}

// What a run computes as a whole, in relation to another one: the same for all its ranks.
double draw_run(std::mt19937_64& random, const UnitTimes* times) {
  if (times == nullptr || times->run_deviation().deviation == 0) return 1;
  const auto& [deviation, freedom] = times->run_deviation();
  return std::exp(deviation * std::student_t_distribution<double>(freedom)(random));
}

// One simulation of several that run side by side.
struct Task {
  Machine machine;
  std::vector<double> factors;
  std::unique_ptr<const ComputeTimes> times;  // nullptr: PredictOptions::times
  Time predicted_ns = 0;
};

// `decoded` is for the thread that calls; others have their own.
base::Status run_all(const Trace& trace, const PredictOptions& options, std::vector<Task>& tasks,
                     events::DecodedRanks& decoded) {
  std::atomic<size_t> next = 0, done = 0;
  std::mutex mutex;
  std::optional<base::Error> error;
  const auto work = [&](events::DecodedRanks& of_thread) {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      SimulateOptions how = options.simulate;
      how.progress = nullptr;
      how.on_call = nullptr;
      how.reads_ahead = false;  // each core has a simulation
      how.decoded = &of_thread;
      how.times = tasks[i].times != nullptr ? tasks[i].times.get() : options.times;
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
  for (size_t i = 1; i < std::min<size_t>(most, tasks.size()); ++i)
    threads.emplace_back([&] {
      events::DecodedRanks of_thread(trace);
      work(of_thread);
    });
  work(decoded);
  for (std::thread& one : threads) one.join();
  if (error) return *error;
  return base::Done{};
}

std::vector<Task> make_tasks(const Trace& trace, const Machine& machine,
                             const PredictOptions& options, const RunNoise& noise) {
  std::vector<Task> out;
  RecordedSpread recorded;
  if (options.draws > 0 && options.times == nullptr) recorded = recorded_spread(trace);
  for (uint32_t i = 0; i < options.draws; ++i) {
    Task task;
    task.machine = drawn(machine, options.seed * 1'000'003 + i);
    const uint64_t seed = options.seed * 7'919 + i;
    std::mt19937_64 random(seed);
    const double run = draw_run(random, options.times);
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
      const auto at = static_cast<size_t>(rank);
      if (options.times != nullptr)
        task.factors.push_back(run * draw(random, 1, options.times->deviations()[at]));
      else
        task.factors.push_back(
            noise.has(rank) ? 1 : draw(random, recorded.centre[at], recorded.deviation[at]));
    }
    if (options.times == nullptr)
      task.times = std::make_unique<DrawnTimes>(noise, seed);
    else
      task.times = drawn_units(options, seed);
    out.push_back(std::move(task));
  }
  for (const Sweep& sweep : options.sweeps)
    for (const double factor : sweep.factors) {
      Task task;
      task.machine = scaled(machine, sweep.part, factor);
      task.times = drawn_units(options, options.seed);
      out.push_back(std::move(task));
    }
  return out;
}

base::Result<double> factor_of(std::string_view text) {
  const std::string word(text);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != 0 || !std::isfinite(value) || value < 1e-6 || value > 1e6)
    return base::usage("--sweep: '" + word + "' is no factor from 1e-06 to 1e+06");
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
    steps = count.ok() ? static_cast<uint64_t>(*count) : 0;
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

void draw_protocol(std::mt19937_64& random, Protocol& protocol) {
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
    for (Parameter* one : {&range.crossing, &range.crossing_per_byte})
      if (one->low < one->high) draw(random, *one);
  }
}

// A bandwidth without an interval that is 1/G, as in a machine whose G is that of its links, stays
// so: both are one measurement.
void draw_links(std::mt19937_64& random, const Machine& as_is, Machine& out) {
  constexpr double kSame = 1e-6, kLeast = 1e-3;
  const auto furthest = static_cast<size_t>(Distance::kSwitch);
  const double per_byte = as_is.distances[furthest].ranges.back().gap_per_byte.value;
  const double drawn_per_byte = out.distances[furthest].ranges.back().gap_per_byte.value;
  Topology& links = out.topology;
  for (Parameter* one : {&links.link_bandwidth, &links.node_bandwidth, &links.global_bandwidth,
                         &links.core_bandwidth}) {
    const double value = one->value;
    if (value == 0) continue;
    const bool is_gap = one->low == one->high && std::abs(value * 1e-9 * per_byte - 1) < kSame;
    if (is_gap && drawn_per_byte > 0) one->value = 1e9 / drawn_per_byte;
    if (!is_gap) draw(random, *one);
    one->value = std::max(one->value, kLeast * value);  // 0 would be none
  }
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
  std::vector<Protocol*> protocols;
  for (Protocol& one : out.distances) protocols.push_back(&one);
  if (out.self) protocols.push_back(&*out.self);
  for (Protocol* const one : protocols) {
    Protocol& protocol = *one;
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
          scale(range.crossing, factor);
          scale(range.crossing_per_byte, factor);
          break;
        case SweptPart::kCompute: break;
      }
  }
  if (part == SweptPart::kLatency) scale(links.hop_latency, factor);
  if (part == SweptPart::kBandwidth)
    for (Parameter* one : {&links.link_bandwidth, &links.node_bandwidth, &links.global_bandwidth,
                           &links.core_bandwidth})
      scale(*one, factor);
  if (part == SweptPart::kCompute) {
    for (NodeKind& kind : out.node_kinds) kind.speed *= factor;
    out.node_kinds.push_back({0, UINT64_MAX, factor});  // those of no kind
  }
  return out;
}

Machine drawn(const Machine& machine, uint64_t seed) {
  std::mt19937_64 random(seed);
  Machine out = machine;
  for (Protocol& protocol : out.distances) draw_protocol(random, protocol);
  draw(random, out.topology.hop_latency);
  draw_links(random, machine, out);
  if (out.self) draw_protocol(random, *out.self);
  return out;
}

base::Result<Prediction> predict(const Trace& trace, const Machine& machine,
                                 const PredictOptions& options) {
  Prediction out;
  if (options.draws > 0 || !options.sweeps.empty()) reader::expect_more_walks(trace);
  SimulateOptions first = options.simulate;
  const std::unique_ptr<const ComputeTimes> units = drawn_units(options, options.seed);
  first.times = units != nullptr ? units.get() : options.times;
  events::DecodedRanks decoded(trace);
  first.decoded = &decoded;
  auto simulation = simulate(trace, machine, first);
  if (!simulation.ok()) return simulation.error();
  out.simulation = std::move(*simulation);
  out.low_ns = out.high_ns = out.simulation.predicted_ns;
  if (!out.simulation.deadlock.empty()) return out;
  const bool is_recorded = options.draws > 0 && options.times == nullptr;
  const RunNoise noise = is_recorded ? RunNoise::of(trace) : RunNoise();
  std::vector<Task> tasks = make_tasks(trace, machine, options, noise);
  if (const auto done = run_all(trace, options, tasks, decoded); !done.ok()) return done.error();
  for (uint32_t i = 0; i < options.draws; ++i) out.draws.push_back(tasks[i].predicted_ns);
  std::sort(out.draws.begin(), out.draws.end());
  if (!out.draws.empty()) {
    out.low_ns = std::min(out.low_ns, next_is_below(out.draws, 0.05));
    out.high_ns = std::max(out.high_ns, next_is_below(out.draws, 0.95));
  }
  size_t at = options.draws;
  for (const Sweep& sweep : options.sweeps)
    for (const double factor : sweep.factors)
      out.sweep.push_back({sweep.part, factor, tasks[at++].predicted_ns});
  return out;
}

}  // namespace refrain::sim
