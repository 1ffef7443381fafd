// How many entries a second the blackboard takes, beside the same graph of entries and operations
// on oneTBB, in turn.
//
// usage: board_tbb [TURNS [ENTRIES]]       turns of each graph (5), entries that are submitted
// (100000)
//
// Graphs:
//   chain     an entry is passed on with 1 more, and summed up
//   fan       an entry is wanted by three sources
//   join      entries of two types come together in pairs
//   work      chain, with operations that compute for about 2 us
// oneTBB has a function_node for each source, and a queueing join_node in front of one with two
// sensitivities. Messages are the same counted entries with a payload; "values" are bare numbers,
// the least that oneTBB can carry. One thread submits, `workers` others may help (0: it does all
// itself).
//
// Prints a line for each graph and number of workers: medians of entries a second by wall time of
// the blackboard, of oneTBB and of oneTBB with values, and of the blackboard's part of oneTBB's in
// the same turn, by wall time and by CPU time.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "refrain/blackboard.h"

namespace {

namespace flow = oneapi::tbb::flow;
using refrain::EntryRef;

std::atomic<uint64_t> g_sum{0};
bool g_works = false;

void compute() {
  constexpr int kRounds = 1500;
  if (!g_works) return;
  uint64_t x = 1;
  for (int i = 0; i < kRounds; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  if (x == 0) std::abort();
}

uint64_t number_of(const refrain_entry* entry) {
  uint64_t number = 0;
  std::memcpy(&number, refrain_entry_data(entry), sizeof number);
  return number;
}
uint64_t number_of(const EntryRef& entry) { return number_of(entry.get()); }
uint64_t number_of(uint64_t value) { return value; }

void add(uint64_t number) {
  compute();
  g_sum.fetch_add(number, std::memory_order_relaxed);
}

// -- the blackboard --

void pass_on(refrain_blackboard* board, refrain_entry* const* entries, int, void*) {
  compute();
  const uint64_t number = number_of(entries[0]) + 1;
  (void)refrain_blackboard_submit_copy(board, 2, &number, sizeof number);
}
void sum_up(refrain_blackboard*, refrain_entry* const* entries, int count, void*) {
  uint64_t number = 0;
  for (int i = 0; i < count; ++i) number += number_of(entries[i]);
  add(number);
}

void on_board(const std::string& graph, int workers, uint64_t entries) {
  refrain_blackboard* const board = refrain_blackboard_new(workers, 0);
  const refrain_type types[] = {1, 2};
  const bool is_join = graph == "join", is_fan = graph == "fan";
  if (is_join) refrain_source_add(board, "sum up", types, 2, sum_up, nullptr);
  for (int i = 0; i < 3 && is_fan; ++i)
    refrain_source_add(board, "sum up", &types[0], 1, sum_up, nullptr);
  if (!is_join && !is_fan) {
    refrain_source_add(board, "pass on", &types[0], 1, pass_on, nullptr);
    refrain_source_add(board, "sum up", &types[1], 1, sum_up, nullptr);
  }
  for (uint64_t i = 0; i < entries; ++i)
    (void)refrain_blackboard_submit_copy(board, is_join ? types[i % 2] : types[0], &i, sizeof i);
  refrain_blackboard_wait(board);
  refrain_blackboard_free(board);
}

// -- oneTBB --

template <class Message>
Message message(uint64_t number) {
  if constexpr (std::is_same_v<Message, uint64_t>) {
    return number;
  } else {
    refrain_entry* const entry = refrain_entry_new(1, sizeof number);
    std::memcpy(refrain_entry_write(entry), &number, sizeof number);
    return EntryRef(entry);
  }
}

template <class Message>
void on_tbb(const std::string& graph, int workers, uint64_t entries) {
  const oneapi::tbb::global_control threads(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<size_t>(workers) + 1);
  using Pair = std::tuple<Message, Message>;
  flow::graph g;
  const auto sum = [](const Message& m) {
    add(number_of(m));
    return flow::continue_msg();
  };
  flow::function_node<Message, Message> pass(g, flow::unlimited, [](const Message& m) {
    compute();
    return message<Message>(number_of(m) + 1);
  });
  flow::function_node<Message> a(g, flow::unlimited, sum), b(g, flow::unlimited, sum),
      c(g, flow::unlimited, sum);
  flow::broadcast_node<Message> all(g);
  flow::join_node<Pair, flow::queueing> join(g);
  flow::function_node<Pair> both(g, flow::unlimited, [](const Pair& pair) {
    add(number_of(std::get<0>(pair)) + number_of(std::get<1>(pair)));
    return flow::continue_msg();
  });
  make_edge(pass, a);
  make_edge(all, a);
  make_edge(all, b);
  make_edge(all, c);
  make_edge(join, both);
  for (uint64_t i = 0; i < entries; ++i) {
    if (graph == "join") {
      if (i % 2 == 0)
        std::get<0>(join.input_ports()).try_put(message<Message>(i));
      else
        std::get<1>(join.input_ports()).try_put(message<Message>(i));
    } else if (graph == "fan") {
      all.try_put(message<Message>(i));
    } else {
      pass.try_put(message<Message>(i));
    }
  }
  g.wait_for_all();
}

// -- measuring --

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Took {
  double wall, cpu;
};

Took timed(const std::function<void()>& run, uint64_t expected) {
  g_sum = 0;
  const Took begin{seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
  run();
  const Took end{seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
  if (g_sum != expected) {
    std::fprintf(stderr, "board_tbb: entries were lost\n");
    std::exit(1);
  }
  return {end.wall - begin.wall, end.cpu - begin.cpu};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const std::string& graph, int workers, int turns, uint64_t entries) {
  g_works = graph == "work";
  const uint64_t total = entries * (entries - 1) / 2;
  const uint64_t expected = graph == "fan" ? 3 * total : graph == "join" ? total : total + entries;
  const bool is_chain = graph == "chain" || graph == "work";
  const double taken = static_cast<double>(is_chain ? 2 * entries : entries);
  std::vector<double> board, tbb, values, wall, cpu;
  for (int turn = 0; turn < turns; ++turn) {
    const Took a = timed([&] { on_board(graph, workers, entries); }, expected);
    const Took b = timed([&] { on_tbb<EntryRef>(graph, workers, entries); }, expected);
    const Took c = timed([&] { on_tbb<uint64_t>(graph, workers, entries); }, expected);
    board.push_back(taken / a.wall);
    tbb.push_back(taken / b.wall);
    values.push_back(taken / c.wall);
    wall.push_back(b.wall / a.wall);
    cpu.push_back(b.cpu / a.cpu);
  }
  std::printf("%s %d %.0f %.0f %.0f %.3f %.3f\n", graph.c_str(), workers, median(board),
              median(tbb), median(values), median(wall), median(cpu));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 5;
  const uint64_t entries = argc > 2 ? std::strtoull(argv[2], nullptr, 10) / 2 * 2 : 100'000;
  for (const char* graph : {"chain", "fan", "join", "work"})
    for (const int workers : {0, 1, 2}) measure(graph, workers, turns, entries);
  return 0;
}
