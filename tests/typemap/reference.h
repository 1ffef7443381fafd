// The bytes of a datatype in the order of its type map, by the definitions of the MPI standard,
// chapter Datatypes: a list with one entry for each basic piece, slow and easy to follow.
//
// What mpi::TypeMap does is compared with it, so that a difference between TypeMap and an MPI's
// MPI_Pack says which of the two is wrong: some releases pack some nested types wrongly.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace reference {

struct Piece {
  int64_t offset;
  int64_t bytes;
};
using Pieces = std::vector<Piece>;

struct Contents {
  int combiner = 0;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

inline int combiner_of(MPI_Datatype type) {
  int ints = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  return combiner;
}

inline Contents contents_of(MPI_Datatype type) {
  Contents out;
  int ints = 0, addresses = 0, types = 0;
  MPI_Type_get_envelope(type, &ints, &addresses, &types, &out.combiner);
  if (out.combiner == MPI_COMBINER_NAMED) return out;
  // One element more: the address of an empty array may not be null.
  out.ints.resize(ints + 1);
  out.addresses.resize(addresses + 1);
  out.types.resize(types + 1);
  MPI_Type_get_contents(type, ints, addresses, types, out.ints.data(), out.addresses.data(),
                        out.types.data());
  out.types.resize(types);
  return out;
}

inline int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lb = 0, extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  return extent;
}

inline Pieces basic(MPI_Datatype type) {
  // Pairs have a hole behind the second value, which is not data.
  if (type == MPI_SHORT_INT) return {{0, sizeof(short)}, {sizeof(int), sizeof(int)}};
  if (type == MPI_DOUBLE_INT) return {{0, sizeof(double)}, {sizeof(double), sizeof(int)}};
  if (type == MPI_LONG_DOUBLE_INT)
    return {{0, sizeof(long double)}, {sizeof(long double), sizeof(int)}};
  int size = 0;
  MPI_Type_size(type, &size);
  return {{0, size}};
}

// The elements of an array, in the order of memory, that `is_taken` says yes to.
inline std::vector<int64_t> elements(const std::vector<int>& sizes, bool is_c_order,
                                     const std::function<bool(const std::vector<int>&)>& is_taken) {
  const int n = static_cast<int>(sizes.size());
  int64_t all = 1;
  for (int size : sizes) all *= size;
  std::vector<int64_t> out;
  for (int64_t place = 0; place < all; ++place) {
    std::vector<int> index(n);
    int64_t rest = place;
    for (int k = 0; k < n; ++k) {
      const int dimension = is_c_order ? n - 1 - k : k;
      index[dimension] = static_cast<int>(rest % sizes[dimension]);
      rest /= sizes[dimension];
    }
    if (is_taken(index)) out.push_back(place);
  }
  return out;
}

inline std::vector<int64_t> subarray(const std::vector<int>& in) {
  const int n = in[0];
  const std::vector<int> sizes(in.begin() + 1, in.begin() + 1 + n);
  return elements(sizes, in[1 + 3 * n] == MPI_ORDER_C, [&](const std::vector<int>& index) {
    for (int k = 0; k < n; ++k)
      if (index[k] < in[1 + 2 * n + k] || index[k] >= in[1 + 2 * n + k] + in[1 + n + k])
        return false;
    return true;
  });
}

inline std::vector<int64_t> darray(const std::vector<int>& in) {
  const int n = in[2];
  const int *sizes = &in[3], *how = sizes + n, *argument = how + n, *processes = argument + n;
  // Ranks are laid out in the order of C, whatever the order of the array is.
  std::vector<int> mine(n);
  for (int k = n - 1, rest = in[1]; k >= 0; --k) {
    mine[k] = rest % processes[k];
    rest /= processes[k];
  }
  const auto block = [&](int k) {
    if (how[k] == MPI_DISTRIBUTE_NONE) return sizes[k];
    if (argument[k] != MPI_DISTRIBUTE_DFLT_DARG) return argument[k];
    return how[k] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[k] + processes[k] - 1) / processes[k];
  };
  return elements({sizes, sizes + n}, processes[n] == MPI_ORDER_C,
                  [&](const std::vector<int>& index) {
                    for (int k = 0; k < n; ++k)
                      if (index[k] / block(k) % processes[k] != mine[k]) return false;
                    return true;
                  });
}

inline Pieces pieces_of(MPI_Datatype type);

// `blocks(b, offset, length)` puts the b-th block of a derived type at an offset in bytes.
inline void add_blocks(Pieces& out, const Contents& of, int count,
                       const std::function<Piece(int)>& block) {
  const bool is_struct = of.combiner == MPI_COMBINER_STRUCT;
  std::vector<Pieces> parts;
  for (MPI_Datatype part : of.types) parts.push_back(pieces_of(part));
  for (int b = 0; b < count; ++b) {
    const int which = is_struct ? b : 0;
    const auto [offset, length] = block(b);
    for (int64_t i = 0; i < length; ++i)
      for (const Piece& piece : parts[which])
        out.push_back({offset + i * extent_of(of.types[which]) + piece.offset, piece.bytes});
  }
}

inline Pieces derived(const Contents& of) {
  Pieces out;
  const std::vector<int>& in = of.ints;
  const std::vector<MPI_Aint>& at = of.addresses;
  const int64_t extent = extent_of(of.types[0]);
  const auto add = [&](int count, const std::function<Piece(int)>& block) {
    add_blocks(out, of, count, block);
  };
  const auto add_all = [&](const std::vector<int64_t>& places) {
    add(static_cast<int>(places.size()), [&](int b) { return Piece{places[b] * extent, 1}; });
  };
  switch (of.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: add(1, [](int) { return Piece{0, 1}; }); break;
    case MPI_COMBINER_CONTIGUOUS: add(1, [&](int) { return Piece{0, in[0]}; }); break;
    case MPI_COMBINER_VECTOR:
      add(in[0], [&](int b) { return Piece{b * in[2] * extent, in[1]}; });
      break;
    case MPI_COMBINER_HVECTOR: add(in[0], [&](int b) { return Piece{b * at[0], in[1]}; }); break;
    case MPI_COMBINER_INDEXED:
      add(in[0], [&](int b) { return Piece{in[1 + in[0] + b] * extent, in[1 + b]}; });
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT: add(in[0], [&](int b) { return Piece{at[b], in[1 + b]}; }); break;
    case MPI_COMBINER_INDEXED_BLOCK:
      add(in[0], [&](int b) { return Piece{in[2 + b] * extent, in[1]}; });
      break;
    case MPI_COMBINER_HINDEXED_BLOCK: add(in[0], [&](int b) { return Piece{at[b], in[1]}; }); break;
    case MPI_COMBINER_SUBARRAY: add_all(subarray(in)); break;
    case MPI_COMBINER_DARRAY: add_all(darray(in)); break;
    default: break;
  }
  return out;
}

inline Pieces pieces_of(MPI_Datatype type) {
  Contents of = contents_of(type);
  if (of.combiner == MPI_COMBINER_NAMED) return basic(type);
  Pieces out = derived(of);
  for (MPI_Datatype& part : of.types)
    if (combiner_of(part) != MPI_COMBINER_NAMED) MPI_Type_free(&part);
  return out;
}

// What MPI_Pack has to give for `count` of `type` at `memory`.
inline std::vector<unsigned char> pack(const unsigned char* memory, int count, MPI_Datatype type) {
  std::vector<unsigned char> out;
  const Pieces pieces = pieces_of(type);
  for (int i = 0; i < count; ++i)
    for (const Piece& piece : pieces) {
      const unsigned char* from = memory + i * extent_of(type) + piece.offset;
      out.insert(out.end(), from, from + piece.bytes);
    }
  return out;
}

}  // namespace reference
