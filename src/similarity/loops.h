// Segments from the loops that a grammar has found: no marks in the program, no instrumented
// binary.
//
// If the grammar of a location repeats a rule several times in a row, the rule is the body of a
// loop; so is a rule that occurs many times with other symbols between. Segments are cut as in
// Mohror, section 4.2.1: before a loop, at the begin of each iteration and after the last one, in
// inner loops likewise, so that segments do not overlap. Segments without calls are left out.
//
// Callers should let a segment last from the end of the previous call to the end of its last call:
// then the computation before a call is in the segment of the call, and there is no time between
// segments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grammar/grammar.h"
#include "similarity/contexts.h"
#include "similarity/structure.h"

namespace refrain::similarity {

struct LoopOptions {
  enum class Nesting : uint8_t {
    kParts,      // the thesis: an inner loop cuts the iteration around it in parts
    kOutermost,  // an iteration of an outermost loop is one segment, inner loops and all
  };
  Nesting nesting = Nesting::kParts;
  // A rule is a loop where it is used so often in a row, and has so many calls. With min_calls 1 so
  // is a single call that repeats.
  uint64_t min_iterations = 2;
  uint64_t min_calls = 2;
  // Outside of all loops, so is a rule that occurs so often in the whole run; 0: none is.
  uint64_t min_uses = 4;
  // What stands for each terminal in the structure keys; empty: its number. Numbers that mean the
  // same on all ranks where profiles of ranks are to be united.
  std::span<const uint64_t> call_keys;
};

struct LoopSegment {
  uint32_t context = 0;    // ContextTable
  uint64_t structure = 0;  // the StructureKey of its calls
  uint64_t first = 0;      // number of its first call in the sequence
  uint64_t calls = 0;      // at least 1
};

// Walks the segments of one location. Looks at a valid grammar, which outlives it. Takes O(symbols)
// to begin with, then O(depth) for a segment and amortised O(log count) for each symbol on the way:
// what is in a segment is not expanded. The segments cover the sequence without gaps.
class LoopWalk {
 public:
  LoopWalk(const grammar::Grammar& grammar, const LoopOptions& options, ContextTable* contexts);
  // False at the end.
  bool next(LoopSegment* out);

 private:
  struct Rule {
    StructureKey key;
    uint64_t length = 0;
    bool is_loop = false;
    bool recurs = false;     // is a loop where it is in none
    bool cuts = false;       // there is a loop in it, or a repeated call that is one
    bool cuts_root = false;  // there is one, or a rule that recurs
  };
  // A rule whose symbols are being read.
  struct Frame {
    uint32_t symbol;
    uint32_t end;
    uint64_t left;  // repetitions of the symbol, this one included
    bool is_iteration;
  };
  // A loop that is running, or the root.
  struct Level {
    uint32_t owner;
    uint32_t previous;
  };

  StructureKey call_key(grammar::Terminal terminal) const;
  void prepare_rules();
  void enter(uint32_t rule, bool is_iteration);
  void advance(Frame* frame);
  bool is_loop(const grammar::Symbol& symbol) const;
  bool cuts(const grammar::Symbol& symbol) const;
  bool cut(LoopSegment* out);
  void leave();
  uint32_t owner_of(const grammar::Symbol& symbol);
  bool repeated_call(Frame* frame, const grammar::Symbol& symbol, LoopSegment* out);

  const grammar::Grammar& grammar_;
  LoopOptions options_;
  ContextTable* contexts_;
  std::vector<Rule> rules_;
  std::vector<Frame> frames_;
  std::vector<Level> levels_;
  StructureKey key_;  // of the calls since the last cut
  uint64_t calls_ = 0;
  uint64_t first_ = 0;
};

}  // namespace refrain::similarity
