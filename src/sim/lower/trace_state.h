// What TraceActions keeps of a rank while its calls are read.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reader/call_gaps.h"
#include "sim/lower/loops.h"
#include "sim/lower/trace_actions.h"

namespace refrain::sim {

struct TraceActions::RankState {
  Rank rank = 0;
  std::unique_ptr<events::RankEvents> events;
  std::map<uint32_t, std::deque<events::Event>> ahead;  // by thread
  std::map<uint32_t, reader::CallGaps> gaps;            // by thread
  bool has_begun = false;                               // MPI_Init has returned
  // Where iterations may be left out.
  MainLoop loop;
  LoopUnits units;  // with times
  uint64_t loop_gap_ns = 0;
  double loop_factor = 1;
  uint64_t skip_calls = 0;                   // that it leaves out at the next iteration
  uint32_t slots = 0;                        // that were given out
  events::FlatMap<uint64_t, uint32_t> open;  // slots, by the number of the request
  // Of a rank with several threads: posts by slot; and slots of requests that are waited for by a
  // thread that is read ahead of the one that begins them, with the number that its post will have.
  struct Early {
    uint32_t slot = 0;
    uint64_t use = 0;
  };
  bool has_threads = false;
  std::vector<AgentState*> agents;  // ..., by thread
  bool has_order = false;           // ..., calls of all threads come as they were made
  bool is_over = false;             // ..., MPI_Finalize has begun
  // Behind which call of the first thread others begin, and their slots; by call.
  std::multimap<uint64_t, uint32_t> starts;
  std::vector<Posts> posts;
  events::FlatMap<uint64_t, Early> early;
  uint64_t last_done = UINT64_MAX;               // request
  events::FlatMap<uint32_t, uint32_t> by_maker;  // ..., by the signature that made the request
  std::unordered_map<const events::Op*, PreparedCollective> prepared;
  std::map<int64_t, uint32_t> windows;                   // slots of what is open on each
  std::map<int64_t, std::vector<Rank>> started, posted;  // groups of epochs, by window
  std::map<uint64_t, uint64_t> meetings;             // that this rank came to, by what they are of
  std::map<events::CommKey, uint64_t> duplications;  // nonblocking ones
  std::map<events::CommKey, uint64_t> exchanges;     // with neighbours
  std::map<events::CommKey, events::CommKey> topologies;  // Neighbours::made_by, by communicator
  std::map<std::pair<const events::Op*, const Neighbours::Lists*>, PreparedCollective>
      exchange_forms;
  // Requests of these, by what made them.
  std::map<SignatureId, uint32_t> open_exchanges;  // slots
  std::map<SignatureId, std::pair<const PreparedCollective*, const events::Op*>>
      persistent_exchanges;
  struct Partitioned {
    Action send;
    uint64_t left = 0;
  };
  std::map<SignatureId, Partitioned> partitioned;  // that wait for MPI_Pready
  std::vector<AgentId> idle;                       // background agents
};

}  // namespace refrain::sim
