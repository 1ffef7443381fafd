// The source of calls and their times for the analysis of waiting.
//
// The analysis uses this interface only: the calls of a location in order, each with a begin and an
// end on a clock that all ranks share. TraceCalls reads them from a trace; tests have other
// sources.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "events/signature_source.h"
#include "refrain/calls.h"

namespace refrain::events {

struct ClockedCall {
  const Signature* signature = nullptr;  // valid as long as the RankReader
  uint64_t seq = 0;
  uint64_t begin_ns = 0, end_ns = 0;
};

// The calls of one location, forwards.
class CallStream {
 public:
  virtual ~CallStream() = default;
  // False after the last call, or the last that has come.
  virtual bool next(ClockedCall& call) = 0;
  // After that: whether it was the last one. Else next() is asked again once the source has grown.
  virtual bool has_ended() const { return true; }
  // Makes call number `seq`, which is further on, the next one. False: it cannot.
  virtual bool skip_to(uint64_t) { return false; }
};

class CallSource {
 public:
  virtual ~CallSource() = default;
  // Whether there are times at all.
  virtual bool has_times() = 0;
  // Whether they are good, where that can be told before the first call.
  virtual Status check() { return base::Done{}; }
  // A reader whose cursors give out what open() needs.
  virtual RankReader reader(const Trace& trace, Rank rank) { return {trace, rank}; }
  // Where the ops of the reader's rank are decoded from; null: from the reader. The source owns it.
  virtual SignatureSource* signatures(RankReader&) { return nullptr; }
  // The calls of a thread of the reader's rank; null when there is no such thread. The reader stays
  // alive and in place as long as the stream.
  virtual std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) = 0;
};

// The times that the trace itself holds.
class TraceCalls : public CallSource {
 public:
  explicit TraceCalls(const Trace& trace) : trace_(trace) {}
  bool has_times() override { return trace_.has_times(); }
  Status check() override { return trace_.check_times(); }
  RankReader reader(const Trace& trace, Rank rank) override { return {trace, rank, Times::kRead}; }
  std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) override;

 private:
  Trace trace_;
};

}  // namespace refrain::events
