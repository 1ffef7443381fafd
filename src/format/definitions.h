// The payloads of communicator and datatype definitions (format/signatures/signature.h), parsed and
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/runs.h"
#include "format/signatures/rank_expr.h"
#include "format/trace_data.h"

namespace refrain::format {

struct CommDefinition {
  int64_t id = 0;         // symbolic id: comm#id
  uint32_t constant = 0;  // id of the predefined name, 0 when the program made it
  bool inter = false;
  // World ranks by rank in the communicator; -1: a process of another world. Neither is there for
  // MPI_COMM_WORLD and MPI_COMM_SELF.
  bool has_members = false;
  base::RunList local;
  base::RunList remote;  // of an inter-communicator
};

struct DatatypeDefinition {
  int64_t id = 0;
  uint32_t constant = 0;  // 0: derived
  int64_t size_bytes = 0, lower_bound = 0, extent_bytes = 0;
  uint32_t combiner = 0;  // constant id; this and the rest for derived types only
  base::RunList integers;
  base::RunList addresses;  // the types are Definition::refs
};

// nullopt when the payload does not have the documented form. Never fails otherwise; thread safe.
std::optional<CommDefinition> parse_comm(std::string_view payload);
std::optional<DatatypeDefinition> parse_datatype(std::string_view payload);
std::string write_comm(const CommDefinition& comm);
std::string write_datatype(const DatatypeDefinition& type);

// Finds places; parses each communicator once. Not thread safe. Keeps a reference to `definitions`.
class CommPlaces {
 public:
  CommPlaces(const std::vector<Definition>& definitions, uint64_t world_size);

  CommPlace world(uint64_t rank) const;
  // The place of world rank `rank` in the communicator that `definition` is, or that the window or
  // file it is belongs to; nullopt when it is none of these.
  std::optional<CommPlace> in(int64_t definition, uint64_t rank);
  // Whether every rank has its place in the world there.
  bool is_world(int64_t definition);

 private:
  // The communicator that places are numbers in; null where there is none.
  const CommDefinition* comm_of(int64_t definition);
  bool is_everybody(const CommDefinition& comm) const {
    return !comm.has_members && (comm.constant == 0 || comm.constant != self_constant_);
  }

  const std::vector<Definition>& definitions_;
  uint64_t world_size_;
  uint32_t self_constant_;
  // Of the definitions that were asked for: readers keep one of this for each rank.
  std::unordered_map<int64_t, std::optional<CommDefinition>> comms_;
};

}  // namespace refrain::format
