// The communication of one run in a form that can be compared with another run: counts by call path
// and by call signature. The signatures contain nothing that differs from rank to rank or from run
// to run without meaning.
//
// Folds over the grammars like analysis/profile/profile.h: cost follows the size of the trace and
// the number of ranks, not the number of calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "refrain/trace.h"

namespace refrain::analysis::diff {

// Sums over ranks; they stop at the largest number instead of wrapping.
struct Counts {
  uint64_t calls = 0;
  uint64_t polls = 0;   // calls whose number depends on time (is_poll); not among `calls`
  uint64_t failed = 0;  // of both
  uint64_t bytes = 0, messages = 0;  // as CallTotals of analysis/profile/profile.h
  uint64_t one_sided = 0;            // of the messages: puts, gets, accumulates
  uint64_t unsized = 0;
  void add(const Counts& other);
  bool operator==(const Counts&) const = default;
};

// Durations of some calls. `variance_ns2`: of a single call, from the histograms of powers of two.
struct CallTimes {
  double calls = 0, sum_ns = 0, squares_ns2 = 0;
  void add(const CallTimes& other);
  // Standard deviation of one call as a part of the mean; 0 when there is none.
  double variation() const;
};

// "count=48", "dest=me+1": inputs of a call in the order of the C binding.
using Words = std::vector<std::string>;

struct SignatureRow {
  Words words;
  Counts counts;
  uint64_t ranks = 0;  // that make it
};

// Calls of one function by one call path.
struct CallRow {
  DefinitionId path = kNoDefinition;  // Trace::call_path(path)
  CallId call = 0;
  Counts counts;
  CallTimes times;
  std::vector<SignatureRow> signatures;  // by words
};

struct Traffic {
  uint64_t messages = 0, one_sided = 0, bytes = 0;  // messages: of all kinds
  bool operator==(const Traffic&) const = default;
};

struct Summary {
  uint64_t ranks = 0;         // that the trace has calls of
  std::vector<CallRow> rows;  // by path, then function
  Counts all;
  CallTimes times;
  std::vector<double> in_mpi_ns;                      // by rank
  std::map<std::pair<Rank, Rank>, Traffic> partners;  // source, dest; messages of all kinds
  std::map<std::string, Traffic> relative_partners;   // "me+1", "grid(+1,0)"
  std::vector<uint32_t> row_of_signature;             // kNoRow: nobody makes it
  static constexpr uint32_t kNoRow = UINT32_MAX;
};

// `compared_ranks`: of the run that it is compared with. Where that has others, parameters that
// follow from the number of ranks are left out of signatures, and partners count modulo the size.
// Cannot fail. O(signatures of all groups times their ranks).
Summary summarise(const Trace& trace, uint64_t compared_ranks);

// Whether how often it is called depends on time: MPI_Test and its kind, MPI_Iprobe, MPI_Waitsome.
bool is_poll(CallId call);

}  // namespace refrain::analysis::diff
