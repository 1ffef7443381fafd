// Messages and bytes for each pair of ranks.
//
// Counted on the sending side, in world ranks: partners in sub- and inter-communicators are
// translated with the members of the communicator. Computed on the grammars like profile.h, at the
// same cost.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/window.h"
#include "events/buffers/transfers.h"
#include "refrain/trace.h"

namespace refrain::analysis {

enum class MatrixKind : uint8_t {
  kP2p,  // messages: sends, started persistent and partitioned sends, the send half of MPI_Sendrecv
  kRma,  // one-sided: puts and accumulates to the target, gets from it
  kAll,  // both
};

struct MatrixEntry {
  Rank source = 0, dest = 0;  // world ranks
  uint64_t messages = 0;
  uint64_t bytes = 0;
  bool operator==(const MatrixEntry&) const = default;
};

struct Matrix {
  Rank rank_count = 0;
  std::vector<MatrixEntry> entries;   // only pairs with messages; by source, then dest
  uint64_t messages = 0, bytes = 0;   // of all entries
  uint64_t other_world_messages = 0;  // to or from processes of another world: in no entry
  uint64_t untimed_calls = 0;         // of a window: calls without a time, which are in none
  uint64_t unsized_messages = 0;      // whose bytes the trace does not tell: counted with 0 bytes
  MatrixKind kind = MatrixKind::kAll;
  uint64_t other_kind_messages = 0;  // one-sided ones for kP2p, messages for kRma: in no entry
  uint64_t collective_calls = 0;     // of any rank, that carry data: in no entry
};

// Cannot fail. O(signatures of all groups times their ranks).
Matrix matrix(const Trace& trace, MatrixKind kind);

// Of the messages whose calls begin in a window (analysis/window.h): a persistent or partitioned
// one when it is started. Reads the times of calls; fails where the trace has none.
Result<Matrix> matrix(const Trace& trace, MatrixKind kind, const Window& window);

}  // namespace refrain::analysis
