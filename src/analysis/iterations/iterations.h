// Iterations of the outermost loops of a run: how long each took, what of it was MPI and waiting,
// and how many bytes it sent; and the behaviours that iterations have in common.
//
// An iteration is what one thread does between two places: for marks, one region or instance
// (refrain/mark.h) of a name that comes several times; otherwise one pass through a loop that the
// grammar of functions and call paths gives, in which consecutive unsuccessful tests at one call
// site count as one call. It reaches from the end of the call before it to the end of its last
// call; before the first call of a loop of the grammar, only the median time of the other
// iterations counts, because the time before a loop is not part of it. Iterations with the same
// number in the same loop of all threads are one row.
//
// Behaviours: K. Mohror, "Scalable event tracking on high-end parallel systems" (2010), section 4.6
// and figure 17: the representatives of segments, here of iterations and of what lies between
// loops.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/source_paths.h"
#include "refrain/trace.h"
#include "similarity/method.h"

namespace refrain::analysis {

enum class IterationSource : uint8_t {
  kAuto,  // marks where there are any that come several times, else loops
  kLoops,
  kMarks,
};

struct IterationOptions {
  IterationSource source = IterationSource::kAuto;
  uint64_t most_segments = uint64_t{1} << 22;  // iterations of all threads together
  bool with_behaviours = false;
  similarity::MethodSpec method;  // of behaviours
  // Call paths that count as one; nullptr: none. Used by measure() alone.
  const reader::SourcePaths* paths = nullptr;
};

// One iteration of all threads that have it.
struct IterationRow {
  uint64_t number = 0;
  uint64_t begin_ns = 0, end_ns = 0;  // the first begin and the last end
  uint64_t longest_ns = 0;            // of the thread that took longest
  Rank slowest_rank = -1;
  uint64_t threads = 0;
  double sum_ns = 0;  // over the threads, as are:
  double mpi_ns = 0, waiting_ns = 0;
  uint64_t bytes = 0, calls = 0;
  double mean_ns() const { return threads == 0 ? 0 : sum_ns / static_cast<double>(threads); }
};

struct IterationStats {
  double sum = 0, mean = 0, median = 0, min = 0, max = 0;
};

struct IterationLoop {
  std::string name;                   // of a mark; else "loop_1", by the first begin
  CallId call = 0;                    // that takes most time in it
  DefinitionId path = kNoDefinition;  // ... and where
  uint64_t ranks = 0;
  std::vector<IterationRow> rows;  // by number
  IterationStats duration_ns;      // of longest_ns, and the same of the sums over the threads:
  IterationStats mpi_ns, waiting_ns, bytes;
  size_t slowest = 0;            // a row
  std::vector<size_t> outliers;  // rows that took unusually long
  // The straight line through the durations: its slope, its change over all iterations as a part of
  // the mean, and how much of the differences it explains (the square of the correlation).
  double trend_ns = 0, trend_share = 0, trend_fit = 0;
  // Whether that is worth a word: it makes a tenth of the mean and explains half of the
  // differences, and among so few iterations chance alone would fit as well in less than one case
  // of twenty.
  bool has_clear_trend() const;
};

// A representative of segments.
struct Behaviour {
  std::string name;   // "A", "B", ... "AA", by time
  int64_t loop = -1;  // that its segments are iterations of; -1: of none
  CallId call = 0;    // the longest
  DefinitionId path = kNoDefinition;
  uint64_t calls = 0;     // in one segment
  uint64_t segments = 0;  // that it stands for
  uint64_t ranks = 0;     // that have some of them
  Rank first_rank = 0;
  double sum_ns = 0, min_ns = 0, max_ns = 0, mpi_ns = 0;
  double error_ns = 0;  // no begin or end of a call of its segments is further from its own
};

// A segment of a thread.
struct BehaviourSegment {
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t begin_ns = 0, end_ns = 0;
  uint32_t behaviour = 0;
  int64_t iteration = -1;  // -1: in no loop
};

// What the ranks do in the same iteration (figure 17): iterations in which every thread has the
// same behaviours are one pattern.
struct BehaviourPattern {
  uint32_t loop = 0;
  std::vector<uint64_t> iterations;                   // numbers
  double share_of_iterations = 0, share_of_time = 0;  // of its loop
  struct Part {
    uint32_t behaviour = 0;
    std::vector<Rank> ranks;
  };
  std::vector<Part> parts;
};

struct Behaviours {
  std::string method;
  std::vector<Behaviour> rows;             // by time
  std::vector<BehaviourSegment> segments;  // by rank, thread, begin
  std::vector<BehaviourPattern> patterns;  // by loop, the most frequent first
};

struct Iterations {
  bool from_marks = false;
  std::vector<IterationLoop> loops;  // by their first begin
  Behaviours behaviours;             // where they were asked for
  uint64_t untimed = 0;              // calls without a time: in none
  // Of loops that only ask in vain (MPI_Test and similar), of all threads: they wait, and are none.
  uint64_t polling_rounds = 0;
};

// In two steps, for whoever has the waits of the run already.
class IterationTable {
 public:
  // Reads all times of the trace once. Fails, with kUnsupported, where there are none, and where
  // there are more segments than `most_segments`.
  static Result<IterationTable> measure(const Trace& trace, const IterationOptions& options);
  IterationTable(IterationTable&&) noexcept;
  ~IterationTable();

  void add_wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns);
  // Once, at the end.
  Iterations finish();

  struct Impl;

 private:
  explicit IterationTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Both, and the waits, for which the times are read once more.
Result<Iterations> find_iterations(const Trace& trace, const IterationOptions& options);

}  // namespace refrain::analysis
