// The grid that ranks stand in: from MPI_Cart_create, or found in what ranks do. In other numbers
// of ranks it has other sides, and a rank's neighbours and what it does follow from its place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/families.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

// As MPI_Dims_create shares `count` out: as equal as can be, descending. Empty beyond 4 axes.
std::vector<int64_t> balanced_sides(int64_t count, size_t axes);

// Pure after find().
class Grid {
 public:
  // A grid whose sides are those that MPI_Dims_create gives, in one order or the other: that of the
  // trace's first MPI_Cart_create over all ranks, or one that says which ranks are of which kind.
  // The latter if `guesses`. Nothing where there is none.
  static std::optional<Grid> find(Symbolic& symbolic, const std::vector<Family>& families,
                                  bool guesses);

  Grid(std::vector<int64_t> sides, std::vector<bool> periods);
  const std::vector<int64_t>& sides() const { return sides_; }

  // The steps along the axes that lead from each rank to `to` (MPI_PROC_NULL: kNobody, where there
  // is nobody), as an expression of the program. Ranks without an entry may be anywhere. Nothing
  // where no steps do.
  static constexpr int64_t kNobody = -2;
  std::optional<std::string> steps_to(const std::map<int64_t, int64_t>& to) const;
  // Whether a step forth and a step back lead to different ranks: not where an axis is round and
  // has two ranks.
  bool tells_sides_apart() const;
  // Which kind a rank is of, by its place along each axis, as an expression in several lines.
  // Nothing where ranks in equal places are of different kinds.
  std::optional<std::string> kinds(const std::vector<int64_t>& kind_of_rank) const;
  // `Grid grid({8, 8}, {false, false}, false);`
  std::string definition() const;

 private:
  using Steps = std::vector<int64_t>;
  std::vector<int64_t> at(int64_t rank) const;
  int64_t neighbour(int64_t rank, const Steps& steps) const;
  std::vector<int> place(int64_t rank) const;

  std::vector<int64_t> sides_;  // the last axis' ranks stand side by side
  std::vector<bool> periods_;
  bool is_ascending_ = false;
  std::vector<Steps> tried_;  // nearest first
};

}  // namespace refrain::proxy
