// From what every rank recorded to one trace: leaf() per rank, merge() pairwise, finish() once.
//
//   rank 0   leaf -+ merge -+ merge -> finish -> TraceData
//   rank 1   leaf -+        |
//   rank 2   leaf -+ merge -+          (serialise/parse between ranks)
//   rank 3   leaf -+
//
// Laws: no exceptions (it runs inside the traced program). The cost of merge() is proportional to
// the size of its arguments. Memory is independent of the number of ranks if the program is
// regular. The values decoded for a rank are exactly those of the rank, whatever the shape of the
// merge tree. The merge of grammars over ranks in log2(P) rounds follows Pilgrim, section 3.5; slot
// values as hypotheses that are intersected are Refrain's own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/nested_runs.h"
#include "base/result.h"
#include "format/merge/programs.h"
#include "format/merge/signature_list.h"
#include "format/trace_data.h"

namespace refrain::format {

// RankTotals as exact as the file has them; time codes (quantise.h).
struct TotalCodes {
  uint16_t in_mpi = 0, outside = 0;
  uint16_t memory = 0, time = 0;  // of the recorder; no memory: nothing is known
  uint16_t own = 0;               // its work that is not among the pieces
  uint8_t switches = 0;
};

struct PartialLocation {
  uint32_t thread = 0;
  base::NestedRuns grammars;  // of each rank of the group: index into PartialTrace::grammars
};

// Ranks that did the same, up to rank expressions and the lengths of loops.
struct PartialGroup {
  base::NestedRuns ranks;  // world ranks, ascending
  std::vector<PartialLocation> locations;
  SignatureList signatures;  // by terminal
  // Only on its way into merge(): the signatures are those of the only group of the trace that it
  // is merged into, and here are the statistics alone.
  bool is_like = false;
};
// Else a vector of them that grows copies the signatures of all ranks.
static_assert(std::is_nothrow_move_constructible_v<PartialGroup>);

// What merge_bytes() compares other ranks' grammars with, kept for the next one where it is short:
// the first `count` grammars as bytes, and how many terminals each may have.
struct WrittenGrammars {
  size_t count = 0;
  std::string bytes;
  std::vector<uint64_t> terminals;
};

// The merged record of some ranks. Move-only in spirit: copies are as large as the data.
struct PartialTrace {
  uint64_t world_size = 0;
  std::vector<Definition> definitions;
  ShapeTable shapes;
  std::vector<grammar::Grammar> grammars;
  std::vector<PartialGroup> groups;
  base::NestedRuns ranks;          // the ranks of all groups, ascending
  std::vector<TotalCodes> totals;  // parallel to ranks
  std::vector<std::string> hosts;
  base::NestedRuns host_of_rank;    // parallel to ranks
  std::vector<std::string> places;  // as put() writes them; empty: of ranks that do not know theirs
  base::NestedRuns place_of_rank;   // parallel to ranks
  std::vector<OwnWork> own_work;    // by rank and thread
  std::vector<PosixOfRank> posix;   // by rank; of those that have any
  std::vector<LossRecord> losses;
  std::map<std::string, std::string> text;
  Programs programs;  // of all ranks
  uint64_t duration_ns = 0;
  WrittenGrammars written;
  bool lacks_gaps = false;       // of some rank
  bool shares_grammars = false;  // on its way into merge(): they are those of the other trace
  bool missing_is_told = false;  // there is a loss for the ranks that are in no group; not sent on
};

// Fails when the record contradicts itself (a signature that does not parse, an index out of
// range): an error of the recorder, not of the program.
base::Result<PartialTrace> leaf(RankRecord record, uint64_t world_size);

// Every rank of `a` must be below every rank of `b`. Associative as far as decoded values go. Fails
// when that does not hold or the two are not of the same world.
base::Result<PartialTrace> merge(PartialTrace a, PartialTrace b);

// The bytes that travel between ranks; only for the same build. parse() is total.
std::string serialise(const PartialTrace& partial);
base::Result<PartialTrace> parse(std::string_view bytes);
// As merge(a, parse(bytes)), without a second copy of what both have: where ranks did the same, the
// signatures and grammars of `bytes` are compared where they stand.
base::Result<PartialTrace> merge_bytes(PartialTrace a, std::string_view bytes);

// Chooses expressions, shares signatures between groups and numbers everything as the file wants
// it. Ranks of the world that are in no group make the trace incomplete and leave a loss
// `rank_missing`, unless another one says already who they are.
base::Result<TraceData> finish(PartialTrace partial);

}  // namespace refrain::format
