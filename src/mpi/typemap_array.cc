#include "mpi/typemap_array.h"

#include <algorithm>
#include <optional>

namespace refrain::mpi::typemap {
namespace {

enum class Distribution { kBlock, kCyclic, kNone };

// What an MPI calls these, by its number for an order.
struct Dialect {
  int64_t c, fortran;
  int64_t block, cyclic, none, default_argument;
};
constexpr Dialect kDialects[] = {
    {56, 57, 121, 122, 123, -49767},  // MPICH and its descendants
    {0, 1, 0, 1, 2, -1},              // Open MPI
    {12, 15, 17, 18, 16, 19},         // the ABI of MPI 5
};

const Dialect* dialect_of(int64_t order) {
  for (const Dialect& dialect : kDialects)
    if (order == dialect.c || order == dialect.fortran) return &dialect;
  return nullptr;
}

std::optional<Distribution> distribution_of(const Dialect& dialect, int64_t number) {
  if (number == dialect.block) return Distribution::kBlock;
  if (number == dialect.cyclic) return Distribution::kCyclic;
  if (number == dialect.none) return Distribution::kNone;
  return std::nullopt;
}

// Which elements of one dimension are taken: `count` blocks of `length`, a period apart, and a
// shorter one behind them.
struct Dimension {
  int64_t size = 0;  // of the whole array
  int64_t first = 0, length = 0, count = 0, period = 0;
  int64_t rest = 0, rest_at = 0;
};

// Dimensions from the one whose neighbours are adjacent in memory to the slowest.
bool make_array(std::span<const Dimension> dimensions, const NodePtr& element, int64_t extent,
                NodePtr& out) {
  NodePtr node = element;
  int64_t unit = extent;  // bytes between neighbours of this dimension
  for (const Dimension& d : dimensions) {
    int64_t first = 0, period = 0, rest_at = 0;
    NodePtr block, rest;
    if (__builtin_mul_overflow(d.first, unit, &first) ||
        __builtin_mul_overflow(d.period, unit, &period) ||
        __builtin_mul_overflow(d.rest_at, unit, &rest_at) ||
        !make_node({Part{0, static_cast<uint64_t>(d.length), unit, node}}, block) ||
        !make_node({Part{0, static_cast<uint64_t>(d.rest), unit, node}}, rest) ||
        !make_node(
            {Part{first, static_cast<uint64_t>(d.count), period, block}, Part{rest_at, 1, 0, rest}},
            node) ||
        __builtin_mul_overflow(unit, d.size, &unit))
      return false;
  }
  out = std::move(node);
  return true;
}

struct Lists {
  std::span<const int64_t> sizes, distributions, arguments, processes;  // of a darray
  std::span<const int64_t> subsizes, starts;                            // of a subarray
  int64_t order = -1;
};

bool make_subarray_of(const Lists& lists, const NodePtr& element, int64_t extent, NodePtr& out) {
  const Dialect* dialect = dialect_of(lists.order);
  if (dialect == nullptr) return false;
  std::vector<Dimension> dimensions;
  for (size_t i = 0; i < lists.sizes.size(); ++i) {
    Dimension d;
    d.size = lists.sizes[i];
    d.first = lists.starts[i];
    d.length = lists.subsizes[i];
    d.count = 1;
    if (d.size < 1 || d.length < 0 || d.first < 0 || d.length > d.size ||
        d.first > d.size - d.length)
      return false;
    dimensions.push_back(d);
  }
  if (lists.order == dialect->c) std::reverse(dimensions.begin(), dimensions.end());
  return make_array(dimensions, element, extent, out);
}

// Those that process `place` of `processes` has, of `size` elements dealt out in blocks of
// `length` (MPI 4.1, section 5.1.4).
Dimension dealt_out(int64_t size, int64_t length, int64_t processes, int64_t place) {
  Dimension d;
  d.size = size;
  d.length = length;
  const int64_t blocks = size / length;  // whole ones, of all processes
  d.first = place * length;
  d.period = processes * length;
  d.count = blocks > place ? (blocks - place - 1) / processes + 1 : 0;
  if (blocks % processes == place) {
    d.rest = size % length;
    d.rest_at = blocks * length;
  }
  return d;
}

bool make_darray_of(const Lists& lists, int64_t rank, const NodePtr& element, int64_t extent,
                    NodePtr& out) {
  const Dialect* dialect = dialect_of(lists.order);
  if (dialect == nullptr) return false;
  const size_t n = lists.sizes.size();
  std::vector<Dimension> dimensions(n);
  // Places in the grid of processes go by rows, whatever the order of the array.
  for (size_t i = n; i-- > 0;) {
    const int64_t processes = lists.processes[i], size = lists.sizes[i];
    const auto distribution = distribution_of(*dialect, lists.distributions[i]);
    if (processes < 1 || size < 1 || !distribution) return false;
    const int64_t place = rank % processes;
    rank /= processes;
    const bool is_default = lists.arguments[i] == dialect->default_argument;
    int64_t length = is_default ? 1 : lists.arguments[i];
    if (*distribution == Distribution::kNone) length = size;
    if (*distribution == Distribution::kBlock && is_default)
      length = size / processes + (size % processes != 0 ? 1 : 0);
    if (length < 1 || length > int64_t{1} << 40 || processes > int64_t{1} << 20) return false;
    dimensions[i] = dealt_out(size, length, processes, place);
  }
  if (lists.order == dialect->c) std::reverse(dimensions.begin(), dimensions.end());
  return make_array(dimensions, element, extent, out);
}

bool has_size(const NodePtr& node, int64_t size) {
  return (node == nullptr ? 0 : static_cast<int64_t>(node->bytes)) == size;
}

}  // namespace

bool make_subarray(std::span<const int64_t> numbers, const NodePtr& element, int64_t extent,
                   int64_t size, NodePtr& out) {
  if (numbers.empty() || numbers[0] < 1) return false;
  const auto n = static_cast<uint64_t>(numbers[0]);
  if (n > numbers.size() || numbers.size() != 3 * n + 2) return false;
  Lists small, large;
  const auto list = [&](size_t at) { return numbers.subspan(at, n); };
  small.sizes = list(1), small.subsizes = list(1 + n), small.starts = list(1 + 2 * n);
  small.order = numbers.back();
  large.order = numbers[1];
  large.sizes = list(2), large.subsizes = list(2 + n), large.starts = list(2 + 2 * n);
  return (make_subarray_of(small, element, extent, out) && has_size(out, size)) ||
         make_subarray_of(large, element, extent, out);
}

bool make_darray(std::span<const int64_t> numbers, const NodePtr& element, int64_t extent,
                 int64_t size, NodePtr& out) {
  if (numbers.size() < 4 || numbers[1] < 0 || numbers[2] < 1) return false;
  const auto n = static_cast<uint64_t>(numbers[2]);
  if (n > numbers.size() || numbers.size() != 4 * n + 4) return false;
  Lists small, large;
  const auto list = [&](size_t at) { return numbers.subspan(at, n); };
  small.sizes = list(3), small.distributions = list(3 + n), small.arguments = list(3 + 2 * n);
  small.processes = list(3 + 3 * n), small.order = numbers.back();
  large.distributions = list(3), large.arguments = list(3 + n), large.processes = list(3 + 2 * n);
  large.order = numbers[3 + 3 * n], large.sizes = list(4 + 3 * n);
  return (make_darray_of(small, numbers[1], element, extent, out) && has_size(out, size)) ||
         make_darray_of(large, numbers[1], element, extent, out);
}

}  // namespace refrain::mpi::typemap
