// Measures messages between ranks 0 and 1, for `refrain calibrate`. docs/calibrate.md says what
// each test does.
//
// Both ranks run the same functions in step. Times are of run_clock(): under SMPI those of the
// simulation. Rank 0 writes the samples; errors of MPI end the job, as everywhere.
// Units: ns, bytes. Threads: one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "replay/pace/run_time.h"

namespace refrain::replay {

struct MeasureOptions {
  uint64_t most_bytes = 4 << 20;
  uint64_t repeats = 40;  // of small messages in a round; large ones are sent less often
  // All sizes are measured in each, as what else a machine does changes from second to second; at
  // most, as on cores that others use a round takes a minute.
  uint64_t rounds = 5;
};

class Measure {
 public:
  // `out`: of rank 0; nullptr on the other.
  Measure(const MeasureOptions& options, int me, std::FILE* out);
  void all();

 private:
  static constexpr int kTag = 1, kBack = 3;

  // limits.cc
  void find_limits();
  // The largest size of which `is_good` holds, from `good` on, which is one; to the byte.
  uint64_t last_good(uint64_t good, const std::function<bool(uint64_t)>& is_good) const;
  void begin_probe();
  bool are_early(const char* test, uint64_t bytes, uint64_t delay, double share,
                 std::vector<uint64_t>& ns);
  enum class Receiver : uint8_t { kOutsideMpi, kInOtherCalls };
  bool returns_before_receive(uint64_t bytes, Receiver receiver);
  // measure.cc
  bool is_another(uint64_t round, uint64_t begin_ns);
  void of_size(uint64_t bytes);
  void ping_pong(uint64_t bytes);
  void send(uint64_t bytes);
  void receive(uint64_t bytes);
  void late(uint64_t bytes);
  void burst(uint64_t bytes, uint64_t count);
  struct Row {
    int partner = 0;  // the other rank, or this one itself
    uint64_t count = 0;
    bool is_late = false;  // received behind the send
  };
  void in_a_row(const char* test, uint64_t bytes, const Row& row);
  void overlap(uint64_t bytes);
  void taken(uint64_t bytes);

  uint64_t repeats_of(uint64_t bytes) const;
  // A time in which a message and its handshake are surely through.
  uint64_t long_ns(uint64_t bytes) const;
  uint64_t now() const { return run_clock().now_ns(); }
  void pass(uint64_t ns) const { run_clock().pass_until(now() + ns, Compute::kSpin); }
  void token(int from);  // an empty message
  // Rank 1 posts a receive, and rank 0 knows of it; the request is MPI_REQUEST_NULL on rank 0.
  MPI_Request posted(uint64_t bytes);
  void begin_one(uint64_t bytes, MPI_Request* request);
  void send_one(uint64_t bytes);
  void receive_one(uint64_t bytes);
  void write(const char* test, uint64_t bytes, const std::string& more, std::vector<uint64_t>& ns,
             int owner);
  std::vector<uint64_t> sizes() const;
  bool is_eager(uint64_t bytes) const { return bytes <= limit_; }
  // A send of it is complete at once.
  bool is_instant(uint64_t bytes) const { return bytes <= instant_; }

  const MeasureOptions options_;
  const int me_, other_;
  std::FILE* const out_;
  uint64_t limit_ = UINT64_MAX, instant_ = UINT64_MAX;
  uint64_t empty_trip_ns_ = 0;
  double trip_ns_per_byte_ = 0;
  std::vector<char> buffer_, second_;
};

}  // namespace refrain::replay
