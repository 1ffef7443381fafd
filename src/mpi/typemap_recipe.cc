// The combiners of MPI_Type_get_contents (MPI 4.1, section 5.1.13, tables 5.1 and 5.2).

#include <algorithm>
#include <optional>

#include "mpi/call_table.h"
#include "mpi/typemap.h"
#include "mpi/typemap_array.h"
#include "mpi/typemap_node.h"

namespace refrain::mpi {
namespace {

using typemap::make_bytes;
using typemap::make_node;
using typemap::NodePtr;
using typemap::Part;

// Reads the numbers of a recipe in order. A number that is not there, or a count below 0, is
// remembered, and everything after it is 0: is_good() once at the end is enough.
class Numbers {
 public:
  explicit Numbers(std::span<const int64_t> all) : all_(all) {}
  bool is_good() const { return is_good_; }

  int64_t next() {
    if (at_ < all_.size() && is_good_) return all_[at_++];
    is_good_ = false;
    return 0;
  }
  uint64_t count() {
    const int64_t n = next();
    if (n < 0) is_good_ = false;
    return is_good_ ? static_cast<uint64_t>(n) : 0;
  }
  std::span<const int64_t> list(uint64_t n) {
    if (n > all_.size() - at_) is_good_ = false;
    if (!is_good_) return {};
    const auto out = all_.subspan(at_, n);
    at_ += n;
    return out;
  }

 private:
  std::span<const int64_t> all_;
  size_t at_ = 0;
  bool is_good_ = true;
};

// A type that another one is made of.
struct Inner {
  NodePtr node;
  int64_t extent = 0;
};

// Blocks of elements: `lengths[i]` of them at `places[i]` * `unit`.
class Blocks {
 public:
  explicit Blocks(const Inner& inner) : inner_(inner) {}

  bool add(int64_t place, int64_t unit, uint64_t length, const Inner* other = nullptr) {
    const Inner& inner = other == nullptr ? inner_ : *other;
    Part part{0, length, inner.extent, inner.node};
    if (__builtin_mul_overflow(place, unit, &part.offset)) return false;
    parts_.push_back(std::move(part));
    return true;
  }
  bool make(NodePtr& out) { return make_node(std::move(parts_), out); }

 private:
  Inner inner_;
  std::vector<Part> parts_;
};

bool make_vector(Numbers& in, const Inner& inner, int64_t unit, NodePtr& out) {
  const uint64_t count = in.count(), length = in.count();
  int64_t stride = in.next();
  NodePtr block;
  return in.is_good() && !__builtin_mul_overflow(stride, unit, &stride) &&
         make_node({Part{0, length, inner.extent, inner.node}}, block) &&
         make_node({Part{0, count, stride, block}}, out);
}

// `has_one_length`: the same for all blocks. `types`: of each block; empty: the same for all.
bool make_blocks(Numbers& in, const Inner& inner, int64_t unit, bool has_one_length,
                 std::span<const Inner> types, NodePtr& out) {
  const uint64_t count = in.count();
  const auto lengths = in.list(has_one_length ? 1 : count);
  const auto places = in.list(count);
  if (!in.is_good() || (!types.empty() && types.size() != count)) return false;
  Blocks blocks(inner);
  for (size_t i = 0; i < count; ++i) {
    const int64_t length = lengths[has_one_length ? 0 : i];
    if (length < 0) return false;
    if (!blocks.add(places[i], unit, static_cast<uint64_t>(length),
                    types.empty() ? nullptr : &types[i]))
      return false;
  }
  return blocks.make(out);
}

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// A value and its index behind it, where C puts the second member of a structure.
bool make_pair_of(const Inner& value, int64_t index_bytes, NodePtr& out) {
  if (value.node == nullptr || value.node->bytes > 64 || index_bytes <= 0 || index_bytes > 64)
    return false;
  const int64_t at = rounded_up(static_cast<int64_t>(value.node->bytes), index_bytes);
  return make_node({Part{0, 1, 0, value.node},
                    Part{at, 1, 0, make_bytes(0, static_cast<uint64_t>(index_bytes))}},
                   out);
}

enum class Form { kUnknown, kSame, kPlain, kVector, kBlocks, kStruct, kArray, kPair };

struct Rule {
  std::string_view combiner;
  Form form;
  bool is_in_bytes = false;  // places count bytes, not elements
  bool has_one_length = false;
};

constexpr Rule kRules[] = {
    {"MPI_COMBINER_DUP", Form::kSame},
    {"MPI_COMBINER_RESIZED", Form::kSame},
    {"MPI_COMBINER_CONTIGUOUS", Form::kVector},
    {"MPI_COMBINER_VECTOR", Form::kVector},
    {"MPI_COMBINER_HVECTOR", Form::kVector, true},
    {"MPI_COMBINER_HVECTOR_INTEGER", Form::kVector, true},
    {"MPI_COMBINER_INDEXED", Form::kBlocks},
    {"MPI_COMBINER_HINDEXED", Form::kBlocks, true},
    {"MPI_COMBINER_HINDEXED_INTEGER", Form::kBlocks, true},
    {"MPI_COMBINER_INDEXED_BLOCK", Form::kBlocks, false, true},
    {"MPI_COMBINER_HINDEXED_BLOCK", Form::kBlocks, true, true},
    {"MPI_COMBINER_STRUCT", Form::kStruct, true},
    {"MPI_COMBINER_STRUCT_INTEGER", Form::kStruct, true},
    {"MPI_COMBINER_SUBARRAY", Form::kArray},
    {"MPI_COMBINER_DARRAY", Form::kArray},
    {"MPI_COMBINER_F90_REAL", Form::kPlain},
    {"MPI_COMBINER_F90_COMPLEX", Form::kPlain},
    {"MPI_COMBINER_F90_INTEGER", Form::kPlain},
    {"MPI_COMBINER_VALUE_INDEX", Form::kPair},
};

const Rule& rule_of(uint32_t combiner) {
  static constexpr Rule kNone{"", Form::kUnknown};
  for (const Rule& rule : kRules)
    if (combiner != 0 && constant_id(rule.combiner) == combiner) return rule;
  return kNone;
}

bool make_by_rule(const Rule& rule, const TypeMap::Recipe& recipe, std::span<const Inner> types,
                  NodePtr& out) {
  Numbers in(recipe.numbers);
  if (rule.form == Form::kPlain) {
    out = make_bytes(0, static_cast<uint64_t>(recipe.shape.size));
    return true;
  }
  if (rule.form == Form::kStruct) return make_blocks(in, {}, 1, false, types, out);
  if (rule.form == Form::kPair)
    return types.size() == 2 && types[1].node != nullptr &&
           make_pair_of(types[0], static_cast<int64_t>(types[1].node->bytes), out);
  if (types.size() != 1) return false;
  const Inner& inner = types[0];
  const int64_t unit = rule.is_in_bytes ? 1 : inner.extent;
  switch (rule.form) {
    case Form::kSame: out = inner.node; return true;
    case Form::kVector:
      if (rule.combiner != "MPI_COMBINER_CONTIGUOUS") return make_vector(in, inner, unit, out);
      return make_node({Part{0, in.count(), inner.extent, inner.node}}, out) && in.is_good();
    case Form::kBlocks: return make_blocks(in, inner, unit, rule.has_one_length, {}, out);
    case Form::kArray:
      return rule.combiner == "MPI_COMBINER_SUBARRAY"
                 ? typemap::make_subarray(recipe.numbers, inner.node, inner.extent,
                                          recipe.shape.size, out)
                 : typemap::make_darray(recipe.numbers, inner.node, inner.extent, recipe.shape.size,
                                        out);
    default: return false;
  }
}

// The pairs of MPI_MINLOC whose index is an int.
bool is_pair(std::string_view name) {
  constexpr std::string_view kPairs[] = {"MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT",
                                         "MPI_SHORT_INT", "MPI_LONG_DOUBLE_INT"};
  return std::find(std::begin(kPairs), std::end(kPairs), name) != std::end(kPairs);
}

}  // namespace

base::Result<TypeMap> TypeMap::predefined(std::string_view name, const Shape& shape) {
  constexpr int64_t kMost = 1 << 16;
  if (shape.size < 0 || shape.size > kMost)
    return base::fail(std::string(name) + ": no predefined datatype has " +
                      std::to_string(shape.size) + " bytes");
  if (shape.size == 0) return TypeMap(nullptr, shape);
  NodePtr node = make_bytes(0, static_cast<uint64_t>(shape.size));
  constexpr int64_t kInt = sizeof(int);
  if (is_pair(name) && shape.size > kInt) {
    const Inner value{make_bytes(0, static_cast<uint64_t>(shape.size - kInt)), 0};
    if (!make_pair_of(value, kInt, node))
      return base::fail(std::string(name) + ": a pair of " + std::to_string(shape.size) + " bytes");
  }
  return TypeMap(std::move(node), shape);
}

base::Result<TypeMap> TypeMap::derived(const Recipe& recipe) {
  const Rule& rule = rule_of(recipe.combiner);
  if (rule.form == Form::kUnknown)
    return base::unsupported("datatype made by unknown combiner " +
                             std::to_string(recipe.combiner));
  std::vector<Inner> types;
  for (const TypeMap& type : recipe.types) types.push_back({type.node_, type.extent()});
  NodePtr node;
  if (recipe.shape.size < 0 || !make_by_rule(rule, recipe, types, node))
    return base::fail(std::string(rule.combiner) + ": its numbers do not make a datatype");
  const uint64_t bytes = node == nullptr ? 0 : node->bytes;
  if (bytes != static_cast<uint64_t>(recipe.shape.size))
    return base::fail(std::string(rule.combiner) + ": has " + std::to_string(bytes) +
                      " bytes of data by its numbers, " + std::to_string(recipe.shape.size) +
                      " by its size");
  return TypeMap(std::move(node), recipe.shape);
}

}  // namespace refrain::mpi
