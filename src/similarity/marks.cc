#include "similarity/marks.h"

namespace refrain::similarity {

MarkSegmenter::MarkSegmenter(SegmentConsumer* consumer, ContextTable* contexts, int64_t start_ns,
                             size_t max_events)
    : consumer_(consumer), contexts_(contexts), builder_(max_events) {
  builder_.begin(0, start_ns);
}

// Ends the segment, if there are calls in it, and begins the next one.
void MarkSegmenter::cut(int64_t now_ns) {
  if (!builder_.empty()) {
    const Level& level = levels_[depth_ - 1];
    builder_.set_context(contexts_->part(level.owner, level.previous));
    ++counts_.segments;
    consumer_->segment(builder_.end(now_ns));
  }
  builder_.begin(0, now_ns);
}

void MarkSegmenter::open(uint64_t key, std::string_view name, bool is_instance) {
  // Regions and instances of one name are different things.
  const uint64_t owner_key = key << 1 | (is_instance ? 1 : 0);
  levels_[depth_++] = {key, contexts_->region(owner_key, name), ContextTable::kNone, is_instance};
}

void MarkSegmenter::close() {
  const uint32_t owner = levels_[--depth_].owner;
  levels_[depth_ - 1].previous = owner;
}

// The innermost one that is open; 0, the root, when none is.
size_t MarkSegmenter::find(uint64_t key, bool is_instance) const {
  for (size_t i = depth_ - 1; i > 0; --i)
    if (levels_[i].key == key && levels_[i].is_instance == is_instance) return i;
  return 0;
}

void MarkSegmenter::region_begin(uint64_t key, std::string_view name, int64_t now_ns) {
  if (depth_ > kMaxDepth) {
    ++counts_.too_deep;
    ++ignored_;
    return;
  }
  cut(now_ns);
  open(key, name, false);
}

void MarkSegmenter::region_end(uint64_t key, int64_t now_ns) {
  if (ignored_ > 0) {
    --ignored_;
    return;
  }
  const size_t at = find(key, false);
  if (at == 0) {
    ++counts_.ends_without_begin;
    return;
  }
  cut(now_ns);
  while (depth_ > at + 1) {
    counts_.crossed += levels_[depth_ - 1].is_instance ? 0 : 1;
    close();
  }
  close();
}

void MarkSegmenter::instance(uint64_t key, std::string_view name, int64_t now_ns) {
  if (ignored_ > 0) return;
  const size_t at = find(key, true);
  if (at == 0 && depth_ > kMaxDepth) {
    ++counts_.too_deep;
    return;
  }
  cut(now_ns);
  if (at == 0) return open(key, name, true);
  while (depth_ > at + 1) {
    counts_.crossed += levels_[depth_ - 1].is_instance ? 0 : 1;
    close();
  }
  levels_[at].previous = ContextTable::kNone;
}

void MarkSegmenter::call(uint64_t call_key, int64_t begin_ns, int64_t end_ns) {
  if (builder_.event(call_key, begin_ns, end_ns)) return;
  if (!builder_.empty()) {
    ++counts_.divided;
    cut(begin_ns);
  }
  if (!builder_.event(call_key, begin_ns, end_ns)) ++counts_.lost_calls;
}

void MarkSegmenter::finish(int64_t now_ns) {
  cut(now_ns);
  for (; depth_ > 1; close()) counts_.left_open += levels_[depth_ - 1].is_instance ? 0 : 1;
  counts_.left_open += ignored_;
  ignored_ = 0;
}

std::vector<std::string> describe(const MarkCounts& counts) {
  std::vector<std::string> lines;
  const auto say = [&](uint64_t count, const char* what) {
    if (count > 0) lines.push_back(std::to_string(count) + what);
  };
  say(counts.ends_without_begin, " ends of regions without a begin were ignored");
  say(counts.crossed, " regions were ended by the end of a region around them");
  say(counts.left_open, " regions were still open at the end of the run and end there");
  say(counts.too_deep, " regions were nested too deeply and are part of the segment around them");
  say(counts.divided, " segments had too many calls and were divided");
  say(counts.lost_calls, " calls are in no segment: there was no memory for them");
  return lines;
}

}  // namespace refrain::similarity
