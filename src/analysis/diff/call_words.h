// A call's parameters as words that are equal in two runs if the calls are.
//
// Only inputs: outputs may differ from run to run (which message a wildcard matched). Ranks are
// relative to the caller. Communicators and datatypes are described by their properties, not by the
// order of their creation. Buffers, requests, file names and handles of Fortran are left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diff/summary.h"
#include "mpi/call_table.h"
#include "refrain/calls.h"

namespace refrain::analysis::diff {

// Cartesian grids, by the definition of their communicator.
struct Grid {
  std::vector<int64_t> dims;
  std::vector<char> periodic;
  bool operator==(const Grid&) const = default;
};
using Grids = std::map<DefinitionId, Grid>;
// Those that the calls of a rank have made. A communicator that stood for several is left out.
Grids grids_of(RankReader& reader, const std::vector<Trace::Occurrence>& calls);

class WordMaker {
 public:
  // Keeps references. `other`: another rank of the same group, which tells what follows the rank.
  // `compared_ranks`: of the run that the words are compared with.
  WordMaker(RankReader& reader, RankReader* other, const Grids& grids, uint64_t compared_ranks)
      : reader_(reader), other_(other), grids_(grids), compared_ranks_(compared_ranks) {}

  Words words(SignatureId id);
  // What a rank parameter of the call means: "me+1", "grid(+1,0)", "MPI_PROC_NULL". "me+/-1": the
  // ranks before and behind are one in one of the runs.
  std::string partner(const Signature& call, const Value& rank) const;

 private:
  bool has_same_ranks() const {
    return static_cast<uint64_t>(reader_.trace().rank_count()) == compared_ranks_;
  }
  std::optional<std::string> word(const Signature& call, const mpi::CallInfo& info, size_t param);
  std::string number(const Signature& call, size_t param, const Value& value);
  std::string array(const mpi::CallInfo& info, const Value& value) const;
  std::string object(mpi::ParamKind kind, const Value& value) const;
  std::string communicator(DefinitionId id) const;
  std::string datatype(DefinitionId id) const;
  Communicator context_of(const Signature& call) const;

  RankReader& reader_;
  RankReader* other_;
  const Grids& grids_;
  uint64_t compared_ranks_;
};

}  // namespace refrain::analysis::diff
