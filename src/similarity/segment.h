// A segment: the calls between two places of a program, one iteration of a loop for instance, as
// data (Mohror, section 4.2.1), and what of it is compared.
//
// The measurements of a segment are the begin and the end of each of its events and its own end,
// all relative to its start (section 4.2.2, figure 8). The vectors of the Minkowski distances have
// just these numbers, those of the wavelets a zero before them and zeros behind (4.3.1).
#pragma once

#include <cstdint>
#include <span>

#include "grammar/pod_vector.h"
#include "similarity/structure.h"

namespace refrain::similarity {

// Looks at memory of somebody else.
struct SegmentView {
  uint32_t context = 0;    // which part of the program
  uint64_t structure = 0;  // StructureKey of its events
  int64_t start_ns = 0;
  // begin, end of event 0, begin, end of event 1, ..., end of the segment; ns since its start. An
  // odd number of values, at least 1; doubles are exact up to 104 days.
  std::span<const double> stamps;

  double length_ns() const { return stamps.back(); }
  size_t event_count() const { return stamps.size() / 2; }
};

// Collects a segment event by event. Never allocates once it has seen the longest segment. One
// thread at a time.
class SegmentBuilder {
 public:
  static constexpr size_t kMaxEvents = size_t{1} << 16;
  explicit SegmentBuilder(size_t max_events = kMaxEvents) : max_events_(max_events) {}

  void begin(uint32_t context, int64_t start_ns) {
    context_ = context;
    start_ns_ = start_ns;
    structure_ = {};
    stamps_.clear();
  }
  // False, and nothing taken, when the segment has its `max_events` already or there is no memory:
  // the caller ends it there and begins another one.
  bool event(uint64_t call_key, int64_t begin_ns, int64_t end_ns) {
    if (stamps_.size() / 2 >= max_events_) return false;
    // Room for the end of the segment as well, so that end() cannot fail.
    if (stamps_.size() + 3 > stamps_.capacity() && !stamps_.reserve(2 * stamps_.size() + 16))
      return false;
    stamps_.push_back(static_cast<double>(begin_ns - start_ns_));
    stamps_.push_back(static_cast<double>(end_ns - start_ns_));
    structure_.append(call_key);
    return true;
  }
  bool empty() const { return stamps_.empty(); }
  // Where the context is known only at the end.
  void set_context(uint32_t context) { context_ = context; }
  // Valid until the next begin(). For a segment without events when there is no memory: no stamps,
  // not a segment.
  SegmentView end(int64_t end_ns) {
    if (stamps_.capacity() < 1 && !stamps_.reserve(16)) return {};
    stamps_.push_back(static_cast<double>(end_ns - start_ns_));
    return {context_, structure_.value(), start_ns_, {&stamps_[0], stamps_.size()}};
  }
  size_t memory_bytes() const { return sizeof(*this) + stamps_.capacity_bytes(); }

 private:
  size_t max_events_;
  uint32_t context_ = 0;
  int64_t start_ns_ = 0;
  StructureKey structure_;
  grammar::PodVector<double> stamps_;
};

}  // namespace refrain::similarity
