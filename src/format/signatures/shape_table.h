// ShapeTable: distinct shapes (format/signatures/signature.h), each with facts found by walking it.
//
// If no call repeats, most shapes are equal. If calls name requests, each call has a shape of its
// own. So the common structure of shapes is stored once, and the rest without an allocation per
// shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/codes/byte_strings.h"

namespace refrain::format {

enum class SlotNature : uint8_t { kInt, kDefinition };

// What a shape says beside its numbers.
struct ShapeStructure {
  bool is_good = false;  // false: the bytes are no shape, and nothing else holds
  uint32_t call_id = 0;
  std::vector<SlotNature> slots;
  std::vector<uint32_t> object_slots;  // slots of kObject fields: candidates for the communicator
  std::vector<uint32_t> definition_slots;
};

class ShapeTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // Good until the table changes.
  std::string_view operator[](size_t i) const { return bytes_[i]; }
  const ShapeStructure& structure(size_t i) const { return *entries_[i].structure; }
  bool has_requests() const { return !requests_.empty(); }
  // Numbers of its kRequest fields, in order.
  std::span<const uint32_t> requests(size_t i) const {
    const uint64_t begin = i == 0 ? 0 : entries_[i - 1].requests_end;
    return {requests_.data() + begin, static_cast<size_t>(entries_[i].requests_end - begin)};
  }

  // The index of these bytes, which may be no shape.
  uint32_t add(std::string_view bytes, bool* is_new = nullptr);
  // The same of the bytes of a shape that differs from number `like` in its requests, which are
  // these.
  uint32_t add_like(uint32_t like, std::string_view bytes, std::span<const uint32_t> requests);
  // Every kRequest number n becomes map[n]; a shape with one that is out of range stays. `map` has
  // no number twice, so shapes stay distinct and keep their indices.
  void renumber_requests(std::span<const uint32_t> map);
  void clear() { *this = ShapeTable(); }

 private:
  struct Entry {
    const ShapeStructure* structure;
    uint64_t requests_end;
  };
  void inspect(std::string_view bytes);
  const ShapeStructure* intern(const ShapeStructure& s);
  void find_places();
  uint32_t& place_of(std::string_view bytes);

  ByteStrings bytes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> requests_;
  // Shared: copies of a table have the structures of the original.
  std::unordered_multimap<uint64_t, std::shared_ptr<const ShapeStructure>> structures_;
  std::vector<uint32_t> places_;  // index + 1; 0 free; a power of two, at most half full
  ShapeStructure scratch_;
};

}  // namespace refrain::format
