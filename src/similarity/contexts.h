// ContextTable: the parts of a program that segments come from, numbered and named as in Mohror,
// section 4.2 (figure 7): loops by their nesting (main_loop_2, inside it main_loop_2_1), and the
// parts of an iteration before, between and after inner loops by one more number.
//
// Numbers follow the first appearance, so equal runs have equal names. A part is identified by its
// loop and by the inner loop that it follows, so the size of the table does not depend on the
// number of iterations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace refrain::similarity {

class ContextTable {
 public:
  static constexpr uint32_t kRoot = 0;  // owner of what is in no loop
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kMaxOwners = 1u << 16;

  // What stands at the front of names: the function that the thesis has there.
  explicit ContextTable(std::string program = "main");

  // A loop or a region: something that owns parts. `key` is the caller's; the same key is the same
  // owner, wherever it is met again. Beyond kMaxOwners everything new is the root.
  uint32_t loop(uint64_t key, uint32_t parent);
  uint32_t region(uint64_t key, std::string_view name);
  bool full() const { return owners_.size() >= kMaxOwners; }

  // The part of the owner that begins it (previous == kNone) or follows the owner `previous`.
  uint32_t part(uint32_t owner, uint32_t previous);

  size_t size() const { return parts_.size(); }
  // Of a context that part() has given: main_0 and main_1 outside of all loops, main_loop_2_1 for
  // the first part of the second loop, main_loop_2_1_1 for that of its first inner loop; `step`,
  // `step_2` for regions.
  std::string name(uint32_t context) const;

 private:
  struct Owner {
    std::string name;  // with what a part adds its number to
    bool is_region = false;
    uint32_t loops = 0;      // inner ones so far
    uint32_t next_part = 0;  // after the first one
  };
  struct Part {
    uint32_t owner;
    uint32_t number;
  };

  std::string program_;
  std::vector<Owner> owners_;
  std::vector<Part> parts_;
  std::map<std::pair<bool, uint64_t>, uint32_t> by_key_;  // (is it a region, key)
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_place_;
};

}  // namespace refrain::similarity
