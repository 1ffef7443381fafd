// The inside of a TypeMap: a tree of repetitions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace refrain::mpi::typemap {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

// `count` times what `node` has, at offset, offset + stride, ...
struct Part {
  int64_t offset = 0;
  uint64_t count = 0;
  int64_t stride = 0;
  NodePtr node;
};

// Without parts: `bytes` bytes from `first` on.
struct Node {
  std::vector<Part> parts;
  uint64_t bytes = 0;          // data
  int64_t first = 0, end = 0;  // all data lie in [first, end)
  int depth = 0;               // of the tree below

  bool is_one_piece() const { return parts.empty(); }
};

// Datatypes of datatypes of ... deeper than this no program has; a damaged trace may.
inline constexpr int kMaxDepth = 200;

// One node of parts in their order. Parts without data are left out, and what is one piece becomes
// one. False: longer than 2^62 bytes, or too deep. nullptr in `out`: no data.
bool make_node(std::vector<Part> parts, NodePtr& out);
NodePtr make_bytes(int64_t first, uint64_t bytes);

}  // namespace refrain::mpi::typemap
