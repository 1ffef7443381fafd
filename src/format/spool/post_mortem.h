// Makes the trace of a job that did not finish from its spool files, and infers which rank died
// first and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/merge/merge.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

// Puts the ranks of one job together as MPI_Finalize would have, and adds as losses what only a
// post mortem can know:
//   unfinished    the job did not finish (calls: 0)
//   died_first    rank and what it was doing, as far as the times tell
//   call_open     calls that were under way and have no line in the trace: which, on which ranks
//   spool_stopped, spool_damaged, rank_missing    ranks whose record is not whole, and why
class PostMortem {
 public:
  // Ranks ascending. An error says why the rank cannot be part of the trace; then it is missing.
  base::Status add(RankSpool rank);
  // A rank whose file could not be read.
  void add_missing(uint64_t rank, const std::string& why);
  base::Result<TraceData> finish();

  uint64_t ranks_found() const { return found_; }
  bool whole() const { return whole_; }                // every call of every rank is there
  const std::string& story() const { return story_; }  // how it ended, in a line; after finish()

 private:
  struct Last {  // of one rank
    uint64_t rank = 0, time_ns = 0;
    uint32_t open_call = 0, last_call = 0;
    State state = State::kRunning;
  };
  base::Status put(PartialTrace part);
  void note(const RankSpool& rank);
  const Last* first_to_die() const;
  std::vector<LossRecord> all_losses(std::vector<LossRecord> own);
  void add_death(std::vector<LossRecord>& losses);
  void add_open_calls(std::vector<LossRecord>& losses) const;
  void add_absent(std::vector<LossRecord>& losses);

  uint64_t world_size_ = 0, found_ = 0;
  uint64_t calls_ = 0;  // of the ranks that were added
  bool whole_ = true;
  std::vector<PartialTrace> stack_;  // as a binary counter: sizes halve from bottom to top
  std::vector<uint64_t> sizes_;
  std::vector<Last> lasts_;
  std::vector<LossRecord> losses_;
  std::string story_;
};

}  // namespace refrain::format::spool
