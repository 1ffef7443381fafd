// Segments from marks of the program: regions that it begins and ends, and numbered instances
// (include/refrain/mark.h). Mohror, section 4.2.1: segments do not overlap, so a region within a
// region ends the segment around it and begins another one behind it.
//
// Marks may be wrong: regions without an end, ends without a begin, overlapping regions. Every call
// is in exactly one segment in any case, and each error is counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "similarity/contexts.h"
#include "similarity/segment.h"

namespace refrain::similarity {

class SegmentConsumer {
 public:
  // Valid during the call.
  virtual void segment(const SegmentView& segment) = 0;

 protected:
  ~SegmentConsumer() = default;
};

struct MarkCounts {
  uint64_t segments = 0;
  uint64_t ends_without_begin = 0;  // ignored
  uint64_t crossed = 0;             // regions ended by the end of one around them
  uint64_t left_open = 0;           // regions ended by the end of the run
  uint64_t too_deep = 0;            // regions in more than kMaxDepth others: not segments
  uint64_t divided = 0;             // segments ended because they had too many events
  uint64_t lost_calls = 0;          // there was no memory for them
};

// What went wrong, a line each; empty when nothing did.
std::vector<std::string> describe(const MarkCounts& counts);

// One location's events, in order. Segments without calls are left out. One thread at a time.
class MarkSegmenter {
 public:
  static constexpr size_t kMaxDepth = 64;

  // Both outlive it. What is recorded first begins at `start_ns`.
  MarkSegmenter(SegmentConsumer* consumer, ContextTable* contexts, int64_t start_ns,
                size_t max_events = SegmentBuilder::kMaxEvents);

  // `key` stands for the name. A region is ended by its name; an instance by the next one of its
  // name, by the end of the region that it is in, or by the end of the run.
  void region_begin(uint64_t key, std::string_view name, int64_t now_ns);
  void region_end(uint64_t key, int64_t now_ns);
  void instance(uint64_t key, std::string_view name, int64_t now_ns);
  void call(uint64_t call_key, int64_t begin_ns, int64_t end_ns);
  void finish(int64_t now_ns);

  const MarkCounts& counts() const { return counts_; }

 private:
  struct Level {
    uint64_t key = 0;
    uint32_t owner = ContextTable::kRoot;
    uint32_t previous = ContextTable::kNone;
    bool is_instance = false;
  };

  void cut(int64_t now_ns);
  void open(uint64_t key, std::string_view name, bool is_instance);
  void close();
  size_t find(uint64_t key, bool is_instance) const;

  SegmentConsumer* consumer_;
  ContextTable* contexts_;
  SegmentBuilder builder_;
  MarkCounts counts_;
  uint64_t ignored_ = 0;  // regions that are open and too deep
  size_t depth_ = 1;
  Level levels_[kMaxDepth + 1];  // the root first
};

}  // namespace refrain::similarity
