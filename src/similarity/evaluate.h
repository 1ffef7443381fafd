// The loss and the size of a reduced trace: the approximation distance of Mohror, section 5.1.4.3,
// and the size models of section 4.4.
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::similarity {

// The 90th percentile of absolute differences between time stamps of a trace and their counterparts
// in the one rebuilt: the least one that at least 90 of 100 do not exceed. In bounded memory: exact
// below 64 ns, above that too large by at most one part in 32.
class ApproximationDistance {
 public:
  ApproximationDistance() : counts_(kBuckets) {}
  void add(double difference_ns);
  void add(const ApproximationDistance& other);
  uint64_t count() const { return count_; }
  // 0 without any.
  double percentile_ns(double percent = 90) const;
  double largest_ns() const { return largest_; }

 private:
  static constexpr unsigned kSubBits = 5;
  static constexpr unsigned kBuckets = (64 - kSubBits + 1) << kSubBits;

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double largest_ = 0;
};

// Bytes of the parts of a record (section 4.4 and table 3). Those of a traditional trace are TAU's.
struct FullTraceFields {
  double map_id = 5;    // I_s of equation 4
  double event = 48;    // E_s: entry and exit
  double message = 96;  // M_s
};

struct FullTraceRank {
  uint64_t unique_events = 0;  // E_n
  uint64_t events = 0;         // E_c
  uint64_t messages = 0;       // M_c
};

// Equations 3 to 6, in bytes. `name_bytes` is N_s, the median length of names.
double full_trace_bytes(const std::vector<FullTraceRank>& ranks, double name_bytes,
                        const FullTraceFields& fields = {});

// Table 3. An entry of a map has an id and a size of one byte besides the name: table 4 counts so,
// for both maps (table 3 has two bytes for the size in one of them).
struct TraceProfileFields {
  double section_header = 5;   // H_s
  double map_id = 5;           // I_s in equations 4 and 9
  double rank = 4;             // R_s
  double list_id = 4;          // I_s in equation 10
  double timestamp = 8;        // T_s
  double segment_header = 12;  // H_sd
  double event = 23;           // E_s: both markers, id, start, duration, whether messages follow
  double message = 12;         // M_s
};

struct TraceProfileSegment {
  uint64_t events = 0;
  uint64_t messages = 0;
};

struct TraceProfileGroup {
  uint64_t ranks = 0;                         // R_c
  uint64_t executions = 0;                    // S_e
  std::vector<TraceProfileSegment> segments;  // S_n of them
};

// Equations 7 to 11, in bytes, with one more section header, that of the list of process groups,
// which table 4 counts and equation 7 does not show.
double trace_profile_bytes(uint64_t unique_events, double name_bytes,
                           const std::vector<TraceProfileGroup>& groups,
                           const TraceProfileFields& fields = {});

}  // namespace refrain::similarity
