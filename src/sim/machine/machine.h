// Machine: the computer that a run is simulated on, as its machine file describes it.
//
//   auto machine = sim::read_machine("m.toml");
//   auto places = machine->places_for(ranks);
//
// docs/simulate.md describes every key. Times are in ns, sizes in bytes, G and the other costs of a
// byte in ns per byte, bandwidths in bytes per second. Each parameter of the network has an
// interval of 95 %; a plain number is an interval of no width.
//
// The parameters are those of LogGP (A. Alexandrov et al., SPAA 1995) with what LogGOPS adds (T.
// Hoefler et al., HPDC 2010: cost of a byte on the processor, size limit of the eager protocol),
// and `overlap`, which PHANTOM, section 2, calls LogGPO and does not define: docs/simulate.md
// defines it.
//
// Threads: a Machine is plain data. Errors: a usage error that names file, line and column.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "refrain/ids.h"

namespace refrain::sim {

struct Parameter {
  double value = 0, low = 0, high = 0;
};

// Costs of messages of a range of sizes.
struct SizeRange {
  uint64_t up_to = UINT64_MAX;  // bytes, inclusive
  Parameter latency;            // L: from the sender's to the receiver's network interface
  Parameter send, receive;      // o: of the processor
  Parameter gap;                // g: between two messages of a network interface
  Parameter gap_per_byte;       // G
  Parameter cpu_per_byte;       // O: of the processor, on both sides
  // Of the request of a message that waits, and of its answer, each; of an acknowledgement.
  Parameter handshake;
  // What a message costs more that comes while one of its receiver's own is on its way: processors
  // that move messages in both directions move one at a time.
  Parameter crossing, crossing_per_byte;
};

// How far two ranks are from each other.
enum class Distance : uint8_t { kCore, kNode, kSwitch };
inline constexpr size_t kDistances = 3;
std::string_view name_of(Distance distance);

struct Protocol {
  uint64_t eager_limit = UINT64_MAX;  // S: larger messages wait for their receive
  // Larger eager messages are sent only when their receiver has taken them.
  uint64_t acknowledged_above = UINT64_MAX;
  bool has_acknowledged() const { return acknowledged_above < eager_limit; }
  bool is_acknowledged(uint64_t bytes) const {
    return bytes > acknowledged_above && bytes <= eager_limit;
  }
  Parameter overlap;  // 0 to 1
  Parameter unexpected_copy, unexpected_copy_per_byte;
  std::vector<SizeRange> ranges;  // ascending, the last one without a limit
  const SizeRange& range_of(uint64_t bytes) const {
    size_t i = 0;
    while (bytes > ranges[i].up_to) ++i;
    return ranges[i];
  }
};

struct Topology {
  enum class Kind : uint8_t { kCrossbar, kFatTree, kTorus, kDragonfly };
  Kind kind = Kind::kCrossbar;
  uint64_t nodes = 0;  // 0: as many as are needed (crossbar only)
  uint64_t cores = 1;  // of each node
  // Fat tree: nodes or switches below a switch, level by level from the nodes up; switches above
  // each; links to each of those. Torus: its dimensions, in `down`. Dragonfly: groups, routers of a
  // group, nodes of a router, in `down`.
  std::vector<uint64_t> down, up, parallel;
  Parameter link_bandwidth;    // of every link; 0: links are not modelled
  Parameter node_bandwidth;    // of the links of a node; 0: as the others
  Parameter global_bandwidth;  // between groups of a dragonfly; 0: as the others
  Parameter core_bandwidth;    // between ranks of a node, each pair; 0: without limit
  Parameter hop_latency;       // ns, of each link that a route has more than that of neighbours
  uint64_t header = 0;         // bytes that links carry with each message
  // A flow over n links has the n-th part of one over one link, where one link holds both back.
  bool shares_by_hops = false;
  bool has_links() const { return link_bandwidth.value > 0; }
};

struct Mapping {
  enum class Kind : uint8_t { kBlock, kRoundRobin, kList };
  Kind kind = Kind::kBlock;
  std::vector<uint64_t> nodes;  // kList: node of each rank
  int line = 0, column = 0;
};

struct NodeKind {
  uint64_t first = 0, count = 0;  // nodes
  double speed = 1;               // computations take 1 / speed of their time
};

// A row of the table of collectives: the first that fits decides.
struct CollectiveRule {
  std::string call;       // MPI_Bcast, ...
  std::string algorithm;  // sim/collectives
  uint64_t up_to = UINT64_MAX;
  uint64_t least_ranks = 0, most_ranks = UINT64_MAX;
  uint64_t segment = 0;  // bytes of a piece of algorithms that cut messages; 0: not cut
};

struct CollectiveTable {
  std::string preset = "mpich";
  double reduce_per_byte = 0;  // ns, of the processor
  std::string new_communicator =
      "allgather";  // of 8 bytes, by those who make one; bcast, allreduce
  std::vector<CollectiveRule> rules;
};

struct FileServers {
  double open_ns = 0, latency_ns = 0;
  double bandwidth = 0;  // shared by all accesses of a server at a time; 0: without limit
  uint64_t servers = 1;  // file N is on server N mod servers
};

struct Machine {
  std::string name, file;
  std::array<Protocol, kDistances> distances;
  // Messages of a rank to itself: its processor copies them. All are eager, and of a range only the
  // processor's shares are above 0. Without it they are as between two ranks of a node.
  std::optional<Protocol> self;
  Topology topology;
  Mapping mapping;
  std::vector<NodeKind> node_kinds;
  CollectiveTable collectives;
  FileServers files;

  // UINT64_MAX: as many as are asked for.
  uint64_t places() const;
  // Node of each rank; fails where there are fewer places than ranks.
  base::Result<std::vector<uint32_t>> places_for(uint64_t ranks) const;
  double speed_of(uint64_t node) const;
  bool has_crossing() const;  // SizeRange::crossing of any message
};

base::Result<Machine> read_machine(const std::string& path);
// `name` stands for the file in messages.
base::Result<Machine> parse_machine(std::string_view text, std::string name);

// Nodes that a topology of these numbers has; UINT64_MAX where that does not fit in 32 bits.
uint64_t nodes_of(const Topology& topology);
// The first switch above a node: two nodes of one switch are at Distance::kNode.
uint64_t switch_of(const Topology& topology, uint64_t node);

}  // namespace refrain::sim
