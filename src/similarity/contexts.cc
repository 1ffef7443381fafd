#include "similarity/contexts.h"

namespace refrain::similarity {

ContextTable::ContextTable(std::string program) : program_(std::move(program)) {
  owners_.push_back({program_, false, 0, 1});
}

uint32_t ContextTable::loop(uint64_t key, uint32_t parent) {
  const auto at = by_key_.find({false, key});
  if (at != by_key_.end()) return at->second;
  if (full()) return kRoot;
  const auto id = static_cast<uint32_t>(owners_.size());
  Owner& above = owners_[parent];
  const std::string number = std::to_string(++above.loops);
  const bool is_outer = parent == kRoot || above.is_region;
  std::string name = above.name + (is_outer ? "_loop_" : "_") + number;
  owners_.push_back({std::move(name), false, 0, 2});
  by_key_[{false, key}] = id;
  return id;
}

uint32_t ContextTable::region(uint64_t key, std::string_view name) {
  const auto at = by_key_.find({true, key});
  if (at != by_key_.end()) return at->second;
  if (full()) return kRoot;
  const auto id = static_cast<uint32_t>(owners_.size());
  owners_.push_back({std::string(name), true, 0, 2});
  by_key_[{true, key}] = id;
  return id;
}

uint32_t ContextTable::part(uint32_t owner, uint32_t previous) {
  const auto [at, is_new] =
      by_place_.try_emplace({owner, previous}, static_cast<uint32_t>(parts_.size()));
  if (is_new) {
    Owner& o = owners_[owner];
    // The root counts from 0, as the thesis does.
    const uint32_t first = owner == kRoot ? 0 : 1;
    parts_.push_back({owner, previous == kNone ? first : o.next_part++});
  }
  return at->second;
}

std::string ContextTable::name(uint32_t context) const {
  const Part& part = parts_[context];
  const Owner& owner = owners_[part.owner];
  if (owner.is_region && part.number == 1) return owner.name;
  return owner.name + "_" + std::to_string(part.number);
}

}  // namespace refrain::similarity
