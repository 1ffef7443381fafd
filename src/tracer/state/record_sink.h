// RecordSink: receives the record while the program runs. The spool is one; a stream can be
// another.
//
// It receives, in this order, a complete record: definitions and signatures, each before anything
// refers to it; the calls of each location in parts, which `finish_part` removes from memory; times
// of single calls, block by block; losses.
//
// Laws: thread safe. Never fails: a sink that cannot write any more prints one message and ignores
// all further data. Never freed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "format/spool/layout.h"
#include "format/time/data.h"
#include "format/trace_data.h"

namespace refrain::tracer {

struct Location;

class RecordSink {
 public:
  // What of a location: its grammar; its memos' statistics as well; the same and the statistics of
  // the process' tables.
  enum class Part : uint8_t { kGrammar, kLocation, kTables };
  // Blocks of times, in order, and their bytes.
  using TimeVisit = std::function<void(std::vector<format::TimeBlock>, std::string_view)>;

  // ---- what all calls have in common ----
  virtual void definition(const format::Definition& d) = 0;
  virtual void signature(std::string_view bytes) = 0;
  virtual void loss(const char* reason, uint64_t calls, const char* detail) = 0;
  virtual void text(const std::string& key, const std::string& value) = 0;
  virtual void place(const format::RankPlace& place) = 0;
  virtual void clock_point(const format::ClockPoint& point) = 0;

  // ---- of a location ----
  virtual void attach(Location& location) = 0;
  // A call that returned, for which its log has no room, or which took very long; with the gap
  // before it, or SpoolLog::kNoGap.
  virtual void push_slowly(Location& location, uint32_t terminal, uint64_t ticks, uint64_t gap) = 0;
  // Takes that over, and the location begins a new grammar, which counts from `first_terminal`;
  // memos and tables are for the caller to begin anew. False: there is no room for it, and nothing
  // changed. Lock held.
  virtual bool finish_part(Location& location, uint32_t first_terminal, Part what) = 0;
  // A block of times of the location's calls. False: there is no room for it.
  virtual bool times(Location& location, const format::TimeBlock& block,
                     std::string_view bytes) = 0;
  // Before a block of times: false where its analyser is late, and no more of them are wanted. May
  // wait for it.
  virtual bool may_keep_times() = 0;
  // All of these, back. False: some could not be read.
  virtual bool each_run_of_times(const Location& location, const TimeVisit& visit) = 0;
  // Work of the recorder behind a call of a thread; of the same call again: it went on.
  virtual void own_piece(uint32_t thread, uint64_t call, uint64_t ns) = 0;

  // ---- as a whole ----
  virtual void set_state(format::spool::State state) = 0;
  // Leaves it as it is, for good. Takes no lock: whoever holds it may never give it back.
  virtual void abandon() = 0;
  // Bytes of it in our memory.
  virtual uint64_t mapped() const = 0;

 protected:
  RecordSink() = default;
  ~RecordSink() = default;
};

}  // namespace refrain::tracer
