#include "mpi/typemap.h"

#include <algorithm>
#include <cstring>

#include "mpi/typemap_node.h"

namespace refrain::mpi {
namespace typemap {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 62;

bool is_near(int64_t offset) { return -kFarthest <= offset && offset <= kFarthest; }

// Where the data of a part lie. False: too far.
bool range_of(const Part& part, int64_t& first, int64_t& end) {
  int64_t last = 0;
  if (part.count - 1 > static_cast<uint64_t>(kFarthest) ||
      __builtin_mul_overflow(part.stride, static_cast<int64_t>(part.count - 1), &last) ||
      !is_near(last) || !is_near(part.offset))
    return false;
  // Each is below 2^62, and their sum below 2^64 / 2.
  first = part.offset + std::min<int64_t>(last, 0);
  end = part.offset + std::max<int64_t>(last, 0);
  return !__builtin_add_overflow(first, part.node->first, &first) &&
         !__builtin_add_overflow(end, part.node->end, &end) && is_near(first) && is_near(end);
}

bool is_one_piece(const Part& part) {
  return part.node->is_one_piece() &&
         (part.count == 1 || part.stride == static_cast<int64_t>(part.node->bytes));
}

}  // namespace

NodePtr make_bytes(int64_t first, uint64_t bytes) {
  auto node = std::make_shared<Node>();
  node->bytes = bytes;
  node->first = first;
  node->end = first + static_cast<int64_t>(bytes);
  return node;
}

bool make_node(std::vector<Part> parts, NodePtr& out) {
  auto node = std::make_shared<Node>();
  std::erase_if(parts, [](const Part& part) { return part.node == nullptr || part.count == 0; });
  out = nullptr;
  if (parts.empty()) return true;
  bool is_piece = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t first = 0, end = 0;
    uint64_t bytes = 0;
    if (!range_of(parts[i], first, end) ||
        __builtin_mul_overflow(parts[i].count, parts[i].node->bytes, &bytes) ||
        __builtin_add_overflow(node->bytes, bytes, &node->bytes) ||
        node->bytes > static_cast<uint64_t>(kFarthest))
      return false;
    is_piece = is_piece && is_one_piece(parts[i]) && (i == 0 || first == node->end);
    node->first = i == 0 ? first : std::min(node->first, first);
    node->end = i == 0 ? end : std::max(node->end, end);
    node->depth = std::max(node->depth, parts[i].node->depth + 1);
  }
  if (node->depth > kMaxDepth) return false;
  if (is_piece)
    node->depth = 0;
  else if (parts.size() == 1 && parts[0].count == 1 && parts[0].offset == 0)
    node = std::make_shared<Node>(*parts[0].node);
  else
    node->parts = std::move(parts);
  out = std::move(node);
  return true;
}

}  // namespace typemap

namespace {

using typemap::Node;
using typemap::Part;

// Joins pieces that follow each other before it hands them on.
class Joiner {
 public:
  using Sink = bool (*)(void* state, const TypeMap::Piece& piece);
  Joiner(Sink sink, void* state) : sink_(sink), state_(state) {}

  bool add(int64_t offset, uint64_t bytes) {
    if (piece_.bytes > 0 && piece_.offset + static_cast<int64_t>(piece_.bytes) == offset) {
      piece_.bytes += bytes;
      return true;
    }
    const bool goes_on = flush();
    piece_ = {offset, bytes};
    return goes_on;
  }
  bool flush() { return piece_.bytes == 0 || sink_(state_, piece_); }

 private:
  Sink sink_;
  void* state_;
  TypeMap::Piece piece_;
};

bool walk_node(const Node& node, int64_t base, Joiner& out) {
  if (node.is_one_piece()) return out.add(base + node.first, node.bytes);
  for (const Part& part : node.parts) {
    int64_t offset = base + part.offset;
    for (uint64_t i = 0; i < part.count; ++i, offset += part.stride)
      if (!walk_node(*part.node, offset, out)) return false;
  }
  return true;
}

}  // namespace

bool TypeMap::is_flat() const {
  return node_ == nullptr ||
         (node_->is_one_piece() && node_->first == 0 && shape_.extent == shape_.size);
}

base::Result<TypeMap::Piece> TypeMap::span_of(uint64_t count) const {
  if (node_ == nullptr || count == 0) return Piece{};
  typemap::NodePtr all;
  if (!typemap::make_node({Part{0, count, shape_.extent, node_}}, all))
    return base::fail("a buffer of " + std::to_string(count) +
                      " elements reaches further than 2^62 bytes");
  return Piece{all->first, static_cast<uint64_t>(all->end - all->first)};
}

void TypeMap::walk(uint64_t count, Sink sink, void* state) const {
  if (node_ == nullptr || count == 0) return;
  Joiner out(sink, state);
  const bool is_one = node_->is_one_piece() && shape_.extent == shape_.size;
  // A plain array is one piece, without a look at its elements.
  if (is_one) {
    uint64_t bytes = 0;
    if (!__builtin_mul_overflow(count, node_->bytes, &bytes)) out.add(node_->first, bytes);
    out.flush();
    return;
  }
  uint64_t offset = 0;  // wraps where span_of() fails
  for (uint64_t i = 0; i < count; ++i, offset += static_cast<uint64_t>(shape_.extent))
    if (!walk_node(*node_, static_cast<int64_t>(offset), out)) return;
  out.flush();
}

uint64_t TypeMap::pack(const std::byte* memory, uint64_t count, std::span<std::byte> packed) const {
  uint64_t done = 0;
  for_each_piece(count, [&](const Piece& piece) {
    const uint64_t n = std::min<uint64_t>(piece.bytes, packed.size() - done);
    if (n > 0) std::memcpy(packed.data() + done, memory + piece.offset, n);
    done += n;
    return done < packed.size();
  });
  return done;
}

uint64_t TypeMap::unpack(std::span<const std::byte> packed, uint64_t count,
                         std::byte* memory) const {
  uint64_t done = 0;
  for_each_piece(count, [&](const Piece& piece) {
    const uint64_t n = std::min<uint64_t>(piece.bytes, packed.size() - done);
    if (n > 0) std::memcpy(memory + piece.offset, packed.data() + done, n);
    done += n;
    return done < packed.size();
  });
  return done;
}

}  // namespace refrain::mpi
