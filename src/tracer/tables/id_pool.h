// A pool of small numbers: freed numbers are reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::tracer {

// Symbolic ids in order of creation, freed ones reused: always the lowest that is free.
class IdPool {
 public:
  uint32_t take();
  uint32_t next();  // what take() would give
  void give_back(uint32_t id);
  bool in_use(uint32_t id) const { return id < used_.size() && used_[id]; }
  bool any() const;

 private:
  std::vector<bool> used_;
  uint32_t lowest_ = 0;  // no free id below this one
};

}  // namespace refrain::tracer
