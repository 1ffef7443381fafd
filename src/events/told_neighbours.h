// The order of a rank's neighbours in graphs of MPI_Dist_graph_create, as MPI_Dist_graph_neighbors
// told it to the program. The order is MPI's, and another one in each run.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "refrain/trace.h"

namespace refrain::events {

struct Neighbours {
  std::vector<int> sources, targets;  // ranks in the graph's communicator
  bool operator==(const Neighbours&) const = default;
};

// Of one rank of a trace. A program that makes a graph in each step has one name for all of them;
// only then all calls of the rank are read, once. Keeps no reference to the trace.
class ToldNeighbours {
 public:
  ToldNeighbours(const Trace& trace, Rank rank);

  // Of the graph that call number `seq` of a thread made under this name; nullptr: not asked.
  const Neighbours* of_call(DefinitionId graph, uint32_t thread, uint64_t seq) const;
  // Of all graphs that calls with this signature made under this name; nullptr: not asked, or they
  // differ.
  const Neighbours* of_signature(DefinitionId graph, SignatureId maker) const;
  // The names that the program asked for.
  std::vector<DefinitionId> graphs() const;
  // Of all graphs of that name; nullptr: not asked, or they differ.
  const Neighbours* of_all(DefinitionId graph) const;
  // The most neighbours that one of them has.
  size_t most(DefinitionId graph) const;

 private:
  struct Told {
    Neighbours first;
    bool has_others = false;
    size_t most = 0;  // neighbours in one answer
  };
  void walk(const Trace& trace, Rank rank);
  static void note(Told& told, bool is_new, Neighbours said);

  std::map<DefinitionId, Told> by_graph_;
  std::map<std::pair<uint32_t, uint64_t>, Neighbours> by_call_;  // thread and number
  std::map<std::pair<DefinitionId, SignatureId>, Told> by_maker_;
};

}  // namespace refrain::events
