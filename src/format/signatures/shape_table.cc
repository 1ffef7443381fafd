#include "format/signatures/shape_table.h"

#include <utility>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/signatures/walker.h"

namespace refrain::format {

namespace {

class Inspector final : public Visitor {
 public:
  Inspector(ShapeStructure& structure, std::vector<uint32_t>& requests)
      : structure_(structure), requests_(requests) {}
  void call(uint32_t id) override { structure_.call_id = id; }
  void open(FieldTag tag) override { tag_ = tag; }
  int64_t slot(SlotNature nature, int64_t v, size_t, size_t) override {
    const auto at = static_cast<uint32_t>(structure_.slots.size());
    if (tag_ == FieldTag::kObject) structure_.object_slots.push_back(at);
    if (nature == SlotNature::kDefinition) structure_.definition_slots.push_back(at);
    structure_.slots.push_back(nature);
    return v;
  }
  void request(uint64_t n, size_t, size_t) override {
    requests_.push_back(static_cast<uint32_t>(n));
  }

 private:
  ShapeStructure& structure_;
  std::vector<uint32_t>& requests_;
  FieldTag tag_ = FieldTag::kNone;
};

bool same(const ShapeStructure& a, const ShapeStructure& b) {
  return a.is_good == b.is_good && a.call_id == b.call_id && a.slots == b.slots &&
         a.object_slots == b.object_slots;
}

uint64_t hash_of(const ShapeStructure& s) {
  uint64_t sum = hash64(s.slots.data(), s.slots.size());
  sum ^= hash64(s.object_slots.data(), s.object_slots.size() * sizeof s.object_slots[0]) * 3;
  return sum + s.call_id * 2 + (s.is_good ? 1 : 0);
}

}  // namespace

const ShapeStructure* ShapeTable::intern(const ShapeStructure& s) {
  if (!entries_.empty() && same(*entries_.back().structure, s)) return entries_.back().structure;
  const uint64_t hash = hash_of(s);
  const auto [begin, end] = structures_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (same(*it->second, s)) return it->second.get();
  }
  return structures_.emplace(hash, std::make_shared<const ShapeStructure>(s))->second.get();
}

void ShapeTable::inspect(std::string_view bytes) {
  scratch_.is_good = true;
  scratch_.call_id = 0;
  scratch_.slots.clear();
  scratch_.object_slots.clear();
  scratch_.definition_slots.clear();
  const size_t requests = requests_.size();
  Inspector visitor(scratch_, requests_);
  if (!walk_with(bytes, Form::kSplit, visitor)) {
    scratch_ = ShapeStructure();
    requests_.resize(requests);
  }
  entries_.push_back({intern(scratch_), requests_.size()});
}

uint32_t& ShapeTable::place_of(std::string_view bytes) {
  const size_t mask = places_.size() - 1;
  size_t i = hash64(bytes.data(), bytes.size()) & mask;
  while (places_[i] != 0 && bytes_[places_[i] - 1] != bytes) i = (i + 1) & mask;
  return places_[i];
}

void ShapeTable::find_places() {
  size_t n = 16;
  while (n < 4 * (bytes_.size() + 1)) n *= 2;
  places_.assign(n, 0);
  for (uint32_t i = 0; i < bytes_.size(); ++i) place_of(bytes_[i]) = i + 1;
}

uint32_t ShapeTable::add(std::string_view bytes, bool* is_new) {
  if (2 * (bytes_.size() + 1) > places_.size()) find_places();
  uint32_t& place = place_of(bytes);
  const bool adds = place == 0;
  if (is_new != nullptr) *is_new = adds;
  if (adds) {
    place = static_cast<uint32_t>(bytes_.size() + 1);
    bytes_.push_back(bytes);
    inspect(bytes);
  }
  return place - 1;
}

uint32_t ShapeTable::add_like(uint32_t like, std::string_view bytes,
                              std::span<const uint32_t> requests) {
  if (2 * (bytes_.size() + 1) > places_.size()) find_places();
  uint32_t& place = place_of(bytes);
  if (place == 0) {
    place = static_cast<uint32_t>(bytes_.size() + 1);
    bytes_.push_back(bytes);
    requests_.insert(requests_.end(), requests.begin(), requests.end());
    entries_.push_back({entries_[like].structure, requests_.size()});
  }
  return place - 1;
}

void ShapeTable::renumber_requests(std::span<const uint32_t> map) {
  if (requests_.empty()) return;
  ByteStrings bytes;
  bytes.reserve(bytes_.size(), bytes_.total_bytes());
  for (size_t i = 0; i < size(); ++i) {
    const auto renumbered = requests(i).empty() || !structure(i).is_good
                                ? std::nullopt
                                : format::renumber_requests(bytes_[i], map);
    bytes.push_back(renumbered ? *renumbered : bytes_[i]);
    if (!renumbered) continue;
    const uint64_t end = entries_[i].requests_end, begin = end - requests(i).size();
    for (uint64_t k = begin; k < end; ++k) requests_[k] = map[requests_[k]];
  }
  bytes_ = std::move(bytes);
  places_.clear();
}

}  // namespace refrain::format
