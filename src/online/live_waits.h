// LiveWaits: waits of a job while it runs, by the forward sweep of analysis/waits, which goes on at
// each look as far as all calls are known (received_calls.h).
//
//   LiveWaits waits;
//   at each look: for each rank: waits.take(receiver, record, is_over);
//                 waits.advance(...); show(waits.now());
//
// A look costs what is new, and no more than kMostLookNs: then the sweep is behind, and goes on at
// the next look. Memory is bounded: see ReceivedCalls, and the limits here. What is beyond them is
// counted, or ends the analysis with the reason. Not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/waits/sweep.h"
#include "online/received_calls.h"
#include "online/waits_now.h"

namespace refrain::online {

class LiveWaits {
 public:
  static constexpr uint64_t kMostLookNs = 300'000'000;
  static constexpr uint64_t kMostMessages = uint64_t{1} << 20;  // under way at a time
  static constexpr uint64_t kMostCollectives = uint64_t{1} << 17;
  // A job that is over is swept once more, on the clocks as they were compared at its end, if it
  // has no more calls than these.
  static constexpr uint64_t kMostCallsAgain = 50'000'000;

  LiveWaits();
  ~LiveWaits();
  LiveWaits(LiveWaits&&) noexcept;
  LiveWaits& operator=(LiveWaits&&) noexcept;

  // Each rank of the job. `receiver` must stay as it is until advance() has returned.
  void take(const format::live::Receiver& receiver, const format::spool::RankSpool& record,
            bool is_over);
  // Goes on with what was taken. `is_good`: it makes sense together (format/content.h). `is_over`:
  // no more will come, of any rank; then it goes on to the end, however long that takes.
  void advance(bool is_good, bool is_over);
  const WaitsNow& now() const { return now_; }

 private:
  struct Pass;
  void begin_pass();
  void stop(std::string why);
  void sum_up(bool is_last);

  std::unique_ptr<ReceivedCalls> calls_;
  std::unique_ptr<Pass> pass_;
  WaitsNow now_;
};

}  // namespace refrain::online
