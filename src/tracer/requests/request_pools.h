// RequestPools: the pool of requests that belongs to a signature without its request.
//
// A pool keeps its number as long as one of its requests exists or a memo has a place in it. Other
// pools are dropped when the tables are emptied (table_epochs.h), and their numbers are reused.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracer/tables/intern_table.h"

namespace refrain::tracer {

class RequestPools {
 public:
  static constexpr uint32_t kNone = InternTable::kMissing;

  // Numbers of names are numbers of pools as long as none was forgotten; then others may read
  // beside a writer.
  InternTable& names() { return names_; }
  void share() { names_.share(); }

  // The same when pools may have been forgotten: the caller is alone.
  uint32_t find_or_make(std::string_view signature) {
    bool is_new = false;
    const uint32_t name = names_.intern(signature, &is_new);
    if (!has_forgotten_) return name;
    if (is_new) pools_.push_back(new_pool(name));
    return pools_[name];
  }
  // Whether the pool is that of the signature.
  bool is(uint32_t pool, std::string_view signature) const {
    const uint32_t name = !has_forgotten_ || pool == kNone ? pool : name_of_[pool];
    return name != kNone && names_.at(name) == signature;
  }
  // Forgets the pools that are not in use.
  template <class InUse>
  void keep(InUse in_use) {
    if (!std::exchange(has_forgotten_, true)) {
      pools_.resize(names_.size());
      std::iota(pools_.begin(), pools_.end(), 0);
      name_of_ = pools_;
    }
    std::vector<std::pair<uint32_t, std::string>> kept;
    for (uint32_t name = 0; name < pools_.size(); ++name) {
      const uint32_t pool = pools_[name];
      name_of_[pool] = kNone;
      if (in_use(pool))
        kept.emplace_back(pool, names_.at(name));
      else
        free_.push_back(pool);
    }
    names_.clear();
    pools_.clear();
    for (const auto& [pool, name] : kept) {
      name_of_[pool] = names_.intern(name);
      pools_.push_back(pool);
    }
  }

 private:
  uint32_t new_pool(uint32_t name) {
    if (free_.empty()) {
      name_of_.push_back(name);
      return static_cast<uint32_t>(name_of_.size() - 1);
    }
    const uint32_t pool = free_.back();
    free_.pop_back();
    name_of_[pool] = name;
    return pool;
  }

  bool has_forgotten_ = false;
  InternTable names_;
  std::vector<uint32_t> pools_;    // by name
  std::vector<uint32_t> name_of_;  // by pool; kNone: free
  std::vector<uint32_t> free_;
};

}  // namespace refrain::tracer
