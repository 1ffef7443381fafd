// Agreement: a value that the members of a communicator determine together, because none of them
// knows it alone.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

struct CommFacts;
struct RankComm;
struct WorldGroup;

// Who takes part where not all members of a communicator may be recorded.
struct Insiders {
  const RankComm& recorders;
  const WorldGroup& world;
  int rank = 0;          // ours in the world
  std::vector<int> own;  // members that are recorded and of this world, on both sides; ascending
};

// A reduction over the members of a new communicator that are sure to be recorded. On an
// inter-communicator, whose reductions deliver the other side's values, a second one brings our own
// side's back.
class Agreement {
 public:
  // Of all members, or of these: collective over them.
  Agreement(uint64_t comm, const CommFacts& facts);
  Agreement(uint64_t comm, const CommFacts& facts, const Insiders& insiders);
  ~Agreement();
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

  // Whose words break a tie: one process on each side.
  bool leads() const { return leads_; }

  // `n` words, at most kMost.
  static constexpr int kMost = 16;
  enum class By : uint8_t { kOr, kAnd, kMax };
  void reduce(uint64_t* values, int n, By by) const;

 private:
  // The stand-in of unit tests needs none of them.
  [[maybe_unused]] uint64_t comm_;
  [[maybe_unused]] bool inter_, alone_, leads_;
  [[maybe_unused]] bool is_mine_ = false;
};

}  // namespace refrain::mpi_runtime
