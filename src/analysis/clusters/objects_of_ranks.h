// The communicators, windows and files that ranks have under the same number: where ranks take the
// calls of another one, each of them has its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/definitions.h"
#include "format/trace_data.h"

namespace refrain::analysis::clusters {

class ObjectsOfRanks {
 public:
  // Looks into `data`, whose definitions must stay.
  explicit ObjectsOfRanks(const format::TraceData& data);

  // The one of the same number that `rank` is a member of; `definition` itself where there is none.
  uint32_t of(uint32_t definition, uint64_t rank);

  // How a rank that is a member of communicator `definition` split it off from another one.
  void note_split(int64_t definition, int64_t color, int64_t key, uint64_t rank);
  struct Split {
    int64_t color = 0, key = 0;
  };
  // Color and key with which MPI_Comm_split gives `rank` the communicator with the number of
  // `definition`: the color that was noted of it, or one that nobody else gave. Nothing where the
  // rank is in none.
  std::optional<Split> split_of(int64_t definition, uint64_t rank);

 private:
  using Key = std::pair<int, int64_t>;  // kind, number (twice that, and 1 between two groups)

  const format::CommDefinition* comm_of(uint32_t definition);
  bool is_member(uint32_t definition, uint64_t rank);
  std::optional<Key> key_of(uint32_t definition);
  struct Place {
    uint32_t definition = 0;
    int64_t in_it = 0;  // the rank's number
  };
  std::optional<Place> place_of(int64_t definition, uint64_t rank);

  const format::TraceData& data_;
  std::map<Key, std::vector<uint32_t>> all_;
  std::unordered_map<uint32_t, std::optional<format::CommDefinition>> comms_;
  std::unordered_map<uint32_t, Split> splits_;  // by communicator; the key is that of its rank 0
  std::set<int64_t> colors_;
  int64_t next_color_ = 0;
};

}  // namespace refrain::analysis::clusters
