#include <algorithm>

#include "format/trace_data.h"

namespace refrain::format {

void Spread::add(const Spread& other) {
  if (other.least < least) least = other.least, least_rank = other.least_rank;
  if (other.greatest > greatest) greatest = other.greatest, greatest_rank = other.greatest_rank;
  sum += other.sum;
}

void RecorderCost::add(uint64_t rank, const OwnCost& cost) {
  const auto of_one = [rank](uint64_t v) {
    return Spread{v, v, rank, rank, static_cast<double>(v)};
  };
  add(RecorderCost{1, of_one(cost.memory_bytes), of_one(cost.time_ns)});
}

void RecorderCost::add(const RecorderCost& other) {
  if (other.ranks == 0) return;
  // Ties: the ranks of `other` are higher.
  const bool first = ranks == 0;
  ranks += other.ranks;
  if (first) {
    memory_bytes = other.memory_bytes;
    time_ns = other.time_ns;
    return;
  }
  memory_bytes.add(other.memory_bytes);
  time_ns.add(other.time_ns);
}

}  // namespace refrain::format
