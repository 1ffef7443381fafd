// ReceivedCalls: the calls of a job that runs, with exact or binned times, as a source that grows
// (events/call_source.h). They come rank by rank as streams (format/live); this puts definitions
// and signatures of all ranks into one table, decodes blocks of times when they are asked for, and
// says until when all calls are known.
//
// Memory: what calls have in common (definitions, signatures), the grammars, and for each thread
// the block of times that is being read. The times themselves stay in the receivers. Not thread
// safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "events/call_source.h"
#include "format/decode/time_block.h"
#include "format/decode/time_table.h"
#include "format/live/decode/receiver.h"
#include "format/spool/read.h"
#include "grammar/grammar.h"
#include "reader/growing_trace.h"

namespace refrain::online {

class ReceivedCalls : public events::CallSource {
 public:
  // Signatures of all ranks together: each takes 1 to 2 kB.
  static constexpr uint64_t kMostSignatures = uint64_t{1} << 19;

  ReceivedCalls(uint64_t ranks, format::TimeSpec spec);
  ~ReceivedCalls() override;

  // What a rank has at this look; `receiver` must stay as it is until release(). `is_over`: no more
  // will come. Fails where that contradicts itself, or is too much.
  base::Status take(const format::live::Receiver& receiver, const format::spool::RankSpool& record,
                    bool is_over);
  // Receivers may change from here on; no call is read until the next take().
  void release();
  // The next pass begins with the first calls, on the clocks that are known now.
  void begin();
  // Whether clocks were compared since begin(): the same calls have other times now.
  bool clocks_changed() const;

  // Whether each rank has calls with times, or never will.
  bool is_ready() const;
  // No call that has not come begins before this, in ns since the first MPI_Init. `rank`: whose
  // calls it waits for.
  struct Bound {
    uint64_t ns = UINT64_MAX;
    int64_t rank = -1;
  };
  Bound bound() const;
  // How old the run was at the newest look at one of its ranks.
  uint64_t now_ns() const;
  // Says that what comes will be taken for late where it begins before this.
  void promise(uint64_t until_ns) { promised_ns_ = until_ns; }
  uint64_t late_calls() const { return late_calls_; }
  // Threads with calls that open() has not been asked for.
  std::vector<Location> new_locations() const;

  const Trace& trace() const { return tables_.trace(); }
  bool has_times() override { return true; }
  std::unique_ptr<events::CallStream> open(RankReader& reader, uint32_t thread) override;

 private:
  struct OneThread;
  struct OneRank;
  class Stream;

  const char* take_tables(const format::RankRecord& record, OneRank& rank);
  const char* take_definition(const format::Definition& definition, OneRank& rank);
  const char* take_signature(std::string_view bytes, OneRank& rank);
  void take_thread(const format::live::Receiver& receiver, const format::RankRecord::Thread* calls,
                   const format::spool::Progress& progress, OneRank& rank);
  void note_late(const OneRank& rank, OneThread& thread);
  static void set_anchor(OneRank& rank, OneThread& thread);
  uint64_t bound_of(const OneRank& rank, const OneThread& thread) const;

  reader::GrowingTrace tables_;
  format::BlockDecoder decoder_;
  std::unordered_map<std::string, uint32_t> definitions_;  // by content: number in tables_
  uint64_t signatures_ = 0;
  std::map<Rank, std::unique_ptr<OneRank>> ranks_;
  const uint64_t world_;
  int64_t base_ns_ = 0;  // of the common clock
  uint64_t promised_ns_ = 0, late_calls_ = 0;
  uint64_t margin_ns_;
};

}  // namespace refrain::online
