// Changes in the communication between two runs.
//
//   const Diff d = diff(before, after, symbols, {});
//
// Runs are aligned by call path, call signature and loop, not by time: two runs with the same calls
// are equal, however long they took. Runs on different numbers of ranks are compared by means per
// rank, and partners by their distance. Definitions are in docs/diff.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff/loops.h"
#include "analysis/diff/places.h"
#include "analysis/diff/summary.h"
#include "analysis/waits/pattern.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::analysis::diff {

enum class Change : uint8_t { kSame, kAppeared, kVanished, kChanged };
std::string_view name_of(Change change);  // "appeared"

// Over all ranks; where the runs have different numbers of ranks, of a rank in the mean.
struct Amounts {
  double calls = 0, polls = 0, failed = 0, bytes = 0;
  double messages = 0;   // and one-sided transfers
  double one_sided = 0;  // these alone
  double time_ns = 0, waits_ns = 0;
};

// A number of both runs, and how far apart two runs that do the same may be.
struct Measure {
  double before = 0, after = 0;
  double noise = 0;
  double change() const { return after - before; }
  bool is_noise() const { return change() <= noise && -change() <= noise; }
};

struct SignatureChange {
  Change change{};
  Words before, after;  // both where the parameters of a call have changed
  double calls_before = 0, calls_after = 0;
};

// Calls of one function by one call path.
struct CallChange {
  Change change{};  // of what does not depend on time, signatures included
  DefinitionId path_before = kNoDefinition, path_after = kNoDefinition;
  bool is_before = false, is_after = false;  // that run has it
  CallId call = 0;
  Amounts before, after;
  double time_noise_ns = 0;
  uint64_t signatures_before = 0, signatures_after = 0;
  std::vector<SignatureChange> signatures;  // those that have changed
  double weight = 0;                        // 0 to 1: the largest part of a total that has changed
};

struct LoopChange {
  Change change{};
  std::vector<uint32_t> calls_before, calls_after;     // in the body: indices of Diff::calls
  double iterations_before = 0, iterations_after = 0;  // each time that it is entered, in the mean
  double entries_before = 0, entries_after = 0;        // of a rank, in the mean
};

struct PartnerChange {
  Change change{};
  Rank source = -1, dest = -1;                       // with equal numbers of ranks
  std::string distance;                              // with different ones
  double messages_before = 0, messages_after = 0;    // and one-sided transfers
  double one_sided_before = 0, one_sided_after = 0;  // these alone
  double bytes_before = 0, bytes_after = 0;
};

struct WaitChange {
  waits::Pattern pattern{};
  Measure ns;
};

struct Side {
  uint64_t ranks = 0;
  uint64_t signatures = 0, places = 0, partners = 0;
  uint64_t unsized = 0;  // transfers whose bytes are not known
  bool has_waits = false;
  std::string no_waits;  // why not
};

struct Diff {
  bool same_ranks = true;
  Side sides[2];  // before, after
  Amounts before, after;
  double time_noise_ns = 0, waits_noise_ns = 0;
  size_t baselines = 1;                 // runs whose mean `before` is, in times and waits
  std::vector<CallChange> calls;        // all, those that changed first, the largest weight first
  std::vector<LoopChange> loops;        // that changed
  std::vector<PartnerChange> partners;  // that changed, the largest change of bytes first
  std::vector<WaitChange> waits;        // every pattern with waits in one of the runs
  bool has_waits() const { return sides[0].has_waits && sides[1].has_waits; }
  // Nothing that does not depend on time has changed: of a rank in the mean; of the run.
  bool is_same_of_a_rank() const;
  bool is_same() const { return is_same_of_a_rank() && sides[0].ranks == sides[1].ranks; }
};

struct Options {
  bool waits = true;  // where both have times
};
Diff diff(const Trace& before, const Trace& after, reader::Symbols& symbols,
          const Options& options);

}  // namespace refrain::analysis::diff
