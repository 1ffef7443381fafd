#include "tracer/tables/id_pool.h"

namespace refrain::tracer {

uint32_t IdPool::next() {
  while (lowest_ < used_.size() && used_[lowest_]) ++lowest_;
  return lowest_;
}

uint32_t IdPool::take() {
  next();
  if (lowest_ == used_.size()) used_.push_back(false);
  used_[lowest_] = true;
  return lowest_;
}

bool IdPool::any() const {
  for (const bool used : used_)
    if (used) return true;
  return false;
}

void IdPool::give_back(uint32_t id) {
  if (id >= used_.size()) return;
  used_[id] = false;
  if (id < lowest_) lowest_ = id;
}

}  // namespace refrain::tracer
