// Code that the profiles of a run and of a window share: makes tables from the totals of calls at a
// call site, and counts the bytes that a call passes to MPI.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/profile/profile.h"
#include "events/buffers/transfers.h"

namespace refrain::analysis {

class ProfileSums {
 public:
  explicit ProfileSums(const Trace& trace) : trace_(trace) {}
  // Calls of one function made along one call path.
  void add(CallId call, DefinitionId path, const CallTotals& totals);
  // Fills in the tables, sorted, the totals, and what is known of the ranks together.
  void put(Profile& out) const;

 private:
  const Trace& trace_;
  std::map<CallId, CallTotals> functions_;
  std::map<std::pair<DefinitionId, CallId>, CallTotals> sites_, paths_;
  std::map<mpi::CallGroup, CallTotals> groups_;
  CallTotals all_;
};

// Whether calls of this function hand anything to MPI when they are made.
bool has_transfers(CallId call);

// Adds what `calls` calls, each of these transfers, hand over: to `totals` (bytes, messages and
// unsized only), to their rank, and to the sizes.
void count_transfers(const std::vector<events::Transfer>& transfers, uint64_t calls,
                     CallTotals& totals, RankRow& rank, Profile& out);

}  // namespace refrain::analysis
