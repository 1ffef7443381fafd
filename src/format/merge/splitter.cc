#include "format/merge/splitter.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "format/limits.h"
#include "format/signatures/arrays.h"
#include "format/signatures/walker.h"

namespace refrain::format {

namespace {

// Most numbers are one byte, which the caller reads itself.
//
// The rest of a number whose first byte is `v`. False: it does not end, or not within 64 bits.
bool longer_varint(const char*& at, const char* end, uint64_t& v) {
  v &= 0x7f;
  for (int shift = 7; shift < 64 && at != end; shift += 7) {
    const auto b = static_cast<uint8_t>(*at++);
    if (shift == 63 && b > 1) return false;
    v |= static_cast<uint64_t>(b & 0x7f) << shift;
    if (b < 0x80) return true;
  }
  return false;
}

}  // namespace

// Where the holes of a signature are.
class Splitter::Finder final : public Visitor {
 public:
  explicit Finder(std::string_view bytes) : bytes_(bytes) {}
  int64_t slot(SlotNature nature, int64_t v, size_t begin, size_t end) override {
    hole(nature == SlotNature::kInt ? Hole::kInt : Hole::kDefinition, begin, end);
    ++pattern.slots;
    return v;
  }
  void request(uint64_t, size_t begin, size_t end) override {
    pattern.has_requests = true;
    hole(Hole::kRequest, begin, end);
  }
  void finish() { pattern.text.append(bytes_.substr(copied_)); }
  Pattern pattern;

 private:
  void hole(Hole kind, size_t begin, size_t end) {
    pattern.text.append(bytes_.substr(copied_, begin - copied_));
    copied_ = end;
    pattern.ends.push_back(static_cast<uint32_t>(pattern.text.size()));
    pattern.holes.push_back(kind);
  }
  std::string_view bytes_;
  size_t copied_ = 0;
};

// What a walk of these bytes would say: it looks at what is between the holes, and never at what is
// in them beside their limits.
bool Splitter::matches(const Pattern& pattern, std::string_view bytes) {
  // Every hole has one byte at least.
  if (bytes.size() < pattern.text.size() + pattern.holes.size()) return false;
  const char* text = pattern.text.data();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  values_.resize(pattern.slots);
  int64_t* value = values_.data();
  requests_.clear();
  shape_bytes_.clear();
  uint32_t done = 0;
  for (size_t i = 0; i < pattern.holes.size(); ++i) {
    const uint32_t until = pattern.ends[i];
    const char* const part = at;
    // The text before the hole, and one byte of it.
    if (static_cast<size_t>(end - at) <= until - done) return false;
    for (; done < until; ++done) {
      if (*at++ != text[done]) return false;
    }
    const char* const number = at;
    uint64_t v = static_cast<uint8_t>(*at++);
    if (v >= 0x80 && !longer_varint(at, end, v)) return false;
    const Hole hole = pattern.holes[i];
    if (hole == Hole::kInt) {
      *value++ = base::unzigzag(v);
    } else if (hole == Hole::kDefinition) {
      if (v > kMaxDefinitions) return false;
      *value++ = static_cast<int64_t>(v);
    } else {
      if (v >= kMaxSignatures) return false;
      requests_.push_back(static_cast<uint32_t>(v));
    }
    // Requests belong to the shape and not to its values, so with them the shape has to be put
    // together.
    if (!pattern.has_requests) continue;
    shape_bytes_.append(part, static_cast<size_t>((hole == Hole::kRequest ? at : number) - part));
  }
  const size_t rest = pattern.text.size() - done;
  if (static_cast<size_t>(end - at) != rest || std::memcmp(at, text + done, rest) != 0)
    return false;
  if (!pattern.has_requests) {
    shape_ = pattern.shape;
  } else {
    shape_bytes_.append(at, rest);
    shape_ = shapes_.add_like(pattern.shape, shape_bytes_, requests_);
  }
  return true;
}

// A pattern as words: the text before each hole as it is loaded, and which of the loaded bytes
// belong to it.
std::vector<Splitter::Step> Splitter::steps_of(const Pattern& pattern) {
  std::vector<Step> steps;
  uint32_t done = 0;
  for (size_t i = 0; i < pattern.holes.size(); ++i) {
    Step step;
    step.length = pattern.ends[i] - done;
    // Longer text does not fit into the word that is compared at once.
    if (step.length > kStepText || pattern.holes[i] == Hole::kRequest) return {};
    const uint64_t ones = UINT64_MAX;
    std::memcpy(&step.text, pattern.text.data() + done, step.length);
    std::memcpy(&step.mask, &ones, step.length);
    step.is_definition = pattern.holes[i] == Hole::kDefinition;
    steps.push_back(step);
    done = pattern.ends[i];
  }
  return steps;
}

// matches() for what most signatures are: no requests, little text between holes, and numbers of at
// most four bytes. False says only that it was not done here.
//
// 2 * kLoad bytes behind the end may be loaded, so that every load finds its bytes; what stands
// there is seen by where it leads to.
inline bool Splitter::take_words(const Pattern& pattern, std::string_view bytes,
                                 uint32_t definitions, uint32_t* to) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  for (const Step& step : pattern.steps) {
    if (at >= end) return false;
    uint64_t w;
    std::memcpy(&w, at, kLoad);
    if (((w ^ step.text) & step.mask) != 0) return false;
    at += step.length;
    uint32_t v = static_cast<uint8_t>(*at++);
    for (uint32_t shift = 7; v >> shift != 0; shift += 7) {
      if (shift == 28) return false;
      v = (v & ((1u << shift) - 1)) | static_cast<uint32_t>(static_cast<uint8_t>(*at++)) << shift;
    }
    if (step.is_definition) {
      if (v >= definitions) return false;
      // Numbers of the array are zigzags; an index is never negative.
      v <<= 1;
    }
    *to++ = v;
  }
  const size_t done = pattern.ends.back(), rest = pattern.text.size() - done;
  return at <= end && static_cast<size_t>(end - at) == rest &&
         (rest == 0 || std::memcmp(at, pattern.text.data() + done, rest) == 0);
}

// The same of bytes at the end of what there is.
bool Splitter::take_padded(const Pattern& pattern, std::string_view bytes, uint32_t definitions,
                           uint32_t* to) {
  constexpr size_t kMost = 120;
  if (bytes.size() > kMost) return false;
  char padded[kMost + 2 * kLoad] = {};
  std::memcpy(padded, bytes.data(), bytes.size());
  return take_words(pattern, {padded, bytes.size()}, definitions, to);
}

bool Splitter::split_onto(std::string_view bytes, size_t behind, uint32_t definitions,
                          NumberArray& to) {
  if (bytes.size() > kMaxSignatureBytes) return false;
  // The last text before a number and the number may be behind the end, and what is loaded there.
  const bool is_inside = behind >= 2 * kLoad;
  for (Pattern& pattern : patterns_) {
    if (pattern.steps.empty()) continue;
    uint32_t* const room = to.words().room_for(pattern.slots);
    if (room == nullptr || !(is_inside ? take_words(pattern, bytes, definitions, room)
                                       : take_padded(pattern, bytes, definitions, room)))
      continue;
    to.words().added(pattern.slots);
    shape_ = pattern.shape;
    pattern.used = ++clock_;
    if (&pattern != patterns_.data()) std::swap(pattern, *(&pattern - 1));
    return true;
  }
  return false;
}

// Calls that complete a long array of requests one by one have as many signatures, each of which
// differs from the others in the middle: as long as one another are only those with the same
// requests missing.
bool Splitter::is_unlikely(const Pattern& pattern, std::string_view bytes) {
  constexpr size_t kMany = 64;
  return pattern.has_requests && pattern.holes.size() > kMany && pattern.bytes != bytes.size();
}

bool Splitter::split(std::string_view bytes) {
  if (bytes.size() > kMaxSignatureBytes) return false;
  ++clock_;
  for (Pattern& pattern : patterns_) {
    if (is_unlikely(pattern, bytes) || !matches(pattern, bytes)) continue;
    pattern.used = clock_;
    // The one that is asked for most stands first.
    if (&pattern != patterns_.data()) std::swap(pattern, *(&pattern - 1));
    return true;
  }
  return walk(bytes);
}

// The slow way, for a shape that was not met before. A signature whose arrays were folded is none
// that a pattern could match, as patterns are compared with the bytes as they are.
bool Splitter::walk(std::string_view bytes) {
  const std::string folded = fold_arrays(std::string(bytes));
  // Arrays of numbers become runs, without which two ranks' equal patterns of arrays would not be
  // alike.
  auto whole = split_signature(folded);
  if (!whole) return false;
  shape_ = shapes_.add(whole->shape);
  values_ = std::move(whole->values);
  if (folded == bytes) learn(bytes);
  return true;
}

// The pattern that was not used for longest makes room.
void Splitter::learn(std::string_view bytes) {
  Finder finder(bytes);
  walk_with(bytes, Form::kInline, finder);
  finder.finish();
  finder.pattern.bytes = bytes.size();
  finder.pattern.shape = shape_;
  finder.pattern.used = clock_;
  finder.pattern.steps = steps_of(finder.pattern);
  if (patterns_.size() < kPatterns) {
    patterns_.push_back(std::move(finder.pattern));
    return;
  }
  *std::min_element(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
    return a.used < b.used;
  }) = std::move(finder.pattern);
}

}  // namespace refrain::format
