// Units: the time that a thread spends between its calls, element by element of its computation
// vector: t_k is the begin of call k + 1, less the end of call k (PHANTOM, section 4, formula 3).
//
// In nanoseconds of the thread's own processor time, or of the clock on the wall once the process
// has a second thread that calls MPI, and for units of up to 2 us. What it takes to read the clock
// is no part of a unit. A unit in which the system took the processor away is marked.
// They go to a scratch file, `PATH.T` for thread T, in pieces of 64 KiB: u64 a unit, of which the
// top bit is the mark. Of one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace refrain::replay::solo {

class Units {
 public:
  static constexpr uint64_t kInterrupted = uint64_t{1} << 63;

  ~Units();
  // `path` empty: nothing is measured.
  void begin(const std::string& path, uint32_t thread);
  // Of every call, also of one inside of another's callback: a unit that would begin inside a call
  // is 0.
  void call_begins() {
    if (fd_ >= 0) end_unit();
  }
  void call_ended() {
    if (fd_ >= 0) begin_unit();
  }
  // Calls of the trace that the program does not make here: they have units, too.
  void skip(uint64_t calls) {
    if (fd_ >= 0) waiting_.insert(waiting_.end(), calls, 0);
  }
  void finish();

 private:
  void begin_unit();
  void end_unit();
  uint64_t long_unit(uint64_t on_the_wall);
  void look_at_all();
  void write_out();

  int fd_ = -1;
  bool has_begun_ = false;
  uint64_t began_ns_ = 0;  // the unit, on the wall
  uint64_t ended_ns_ = 0;  // the one before it
  uint64_t empty_ns_ = 0;  // of a unit in which nothing happens
  // At the last look at all of them.
  int64_t switches_ = 0;
  uint64_t seen_processor_ns_ = 0, seen_wall_ns_ = 0;
  std::vector<uint64_t> waiting_;
};

// Whether units are measured on the wall: from the second thread on.
void measure_on_the_wall();

}  // namespace refrain::replay::solo
