// How many blocks a rank sends in a neighbourhood collective: its out-degree in the topology of the
// communicator. MPI 4.1, chapter 8.
//
// A communicator's definition does not say its topology, but the call that made it does. A program
// may use the name of a communicator again for another topology: where the degrees differ, there is
// none. An end of a grid that is not periodic has a block, too, with MPI_PROC_NULL as neighbour.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

// Of graphs made by MPI_Dist_graph_create, where any rank may name the edges of another one: reads
// these calls of all ranks when it is first asked. For all ranks of a trace, which it keeps.
// Threads: one.
class GraphDegrees {
 public:
  explicit GraphDegrees(const Trace& trace) : trace_(trace) {}
  // Of a member, by its number in the communicator; -1: not known.
  int64_t of(DefinitionId graph, int64_t member);

 private:
  struct Edges {  // that one call names
    std::vector<int64_t> sources, degrees;
    bool operator==(const Edges&) const = default;
  };
  struct Graph {
    uint64_t callers = 0;
    bool is_unclear = false;
    std::map<int64_t, int64_t> degrees;  // of the members that have edges
  };
  void read();
  void read(Rank rank);
  static Edges edges_of(const Signature& call);

  Trace trace_;
  bool is_read_ = false;
  std::map<DefinitionId, Graph> graphs_;
};

// Of one rank, by the communicator; -1: not known. The reader is used during the call alone.
std::map<DefinitionId, int64_t> out_degrees(RankReader& reader, GraphDegrees& graphs);

}  // namespace refrain::events
