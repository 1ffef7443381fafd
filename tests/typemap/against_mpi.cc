// Random datatypes: what mpi::TypeMap does with what MPI says of them, what the standard's
// definition gives (reference.h), and what MPI packs and unpacks.
//
//   against_mpi [SEED [TYPES]]    prints what differs and how many types were looked at; status 1:
//   any differs from the definition, or from an MPI that obeys it
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "mpi/call_table.h"
#include "mpi/typemap.h"
#include "reference.h"

namespace {

using refrain::mpi::TypeMap;

struct Made {
  MPI_Datatype type;
  TypeMap map;
};

std::mt19937_64 random_bits;
int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_bits); }

TypeMap::Shape shape_of(MPI_Datatype type) {
  MPI_Count size = 0, lb = 0, extent = 0;
  MPI_Type_size_x(type, &size);
  MPI_Type_get_extent_x(type, &lb, &extent);
  return {size, lb, extent};
}

uint32_t combiner_id(int combiner) {
  static const std::map<int, const char*> names = {
      {MPI_COMBINER_DUP, "MPI_COMBINER_DUP"},
      {MPI_COMBINER_CONTIGUOUS, "MPI_COMBINER_CONTIGUOUS"},
      {MPI_COMBINER_VECTOR, "MPI_COMBINER_VECTOR"},
      {MPI_COMBINER_HVECTOR, "MPI_COMBINER_HVECTOR"},
      {MPI_COMBINER_INDEXED, "MPI_COMBINER_INDEXED"},
      {MPI_COMBINER_HINDEXED, "MPI_COMBINER_HINDEXED"},
      {MPI_COMBINER_INDEXED_BLOCK, "MPI_COMBINER_INDEXED_BLOCK"},
      {MPI_COMBINER_HINDEXED_BLOCK, "MPI_COMBINER_HINDEXED_BLOCK"},
      {MPI_COMBINER_STRUCT, "MPI_COMBINER_STRUCT"},
      {MPI_COMBINER_SUBARRAY, "MPI_COMBINER_SUBARRAY"},
      {MPI_COMBINER_DARRAY, "MPI_COMBINER_DARRAY"},
      {MPI_COMBINER_RESIZED, "MPI_COMBINER_RESIZED"},
  };
  const auto found = names.find(combiner);
  return found == names.end() ? 0 : refrain::mpi::constant_id(found->second);
}

// As a trace has it: from what MPI_Type_get_contents says.
bool map_of(MPI_Datatype type, const std::vector<Made>& parts, TypeMap& out) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  std::vector<int> ints(integers + 1);
  std::vector<MPI_Aint> places(addresses + 1);
  std::vector<MPI_Datatype> inner(types + 1);
  MPI_Type_get_contents(type, integers, addresses, types, ints.data(), places.data(), inner.data());
  std::vector<int64_t> numbers(ints.begin(), ints.begin() + integers);
  numbers.insert(numbers.end(), places.begin(), places.begin() + addresses);
  // Contents come as new handles; they are those that the type was made of, in their order.
  std::vector<TypeMap> maps;
  for (const Made& part : parts) maps.push_back(part.map);
  auto made = TypeMap::derived({combiner_id(combiner), numbers, maps, shape_of(type)});
  if (!made.ok()) {
    std::printf("%s\n", made.error().message.c_str());
    return false;
  }
  out = *made;
  for (int i = 0; i < types; ++i) {
    int a = 0, b = 0, c = 0, inner_combiner = 0;
    MPI_Type_get_envelope(inner[i], &a, &b, &c, &inner_combiner);
    if (inner_combiner != MPI_COMBINER_NAMED) MPI_Type_free(&inner[i]);
  }
  return true;
}

std::vector<int> random_list(int n, int from, int to) {
  std::vector<int> out(n);
  for (int& value : out) value = pick(from, to);
  return out;
}

MPI_Datatype make_array(const Made& of) {
  const int n = pick(1, 3), order = pick(0, 1) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  MPI_Datatype out = MPI_DATATYPE_NULL;
  const std::vector<int> sizes = random_list(n, 1, 7);
  if (pick(0, 1) != 0) {
    std::vector<int> parts(n), starts(n);
    for (int i = 0; i < n; ++i) {
      parts[i] = pick(1, sizes[i]);
      starts[i] = pick(0, sizes[i] - parts[i]);
    }
    MPI_Type_create_subarray(n, sizes.data(), parts.data(), starts.data(), order, of.type, &out);
    return out;
  }
  std::vector<int> how(n), argument(n), processes(n);
  int ranks = 1;
  for (int i = 0; i < n; ++i) {
    how[i] = pick(0, 2) == 0 ? MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_BLOCK;
    processes[i] = pick(1, 3);
    if (pick(0, 5) == 0) how[i] = MPI_DISTRIBUTE_NONE, processes[i] = 1;
    argument[i] = MPI_DISTRIBUTE_DFLT_DARG;
    if (how[i] == MPI_DISTRIBUTE_CYCLIC && pick(0, 1) != 0) argument[i] = pick(1, 3);
    ranks *= processes[i];
  }
  MPI_Type_create_darray(ranks, pick(0, ranks - 1), n, sizes.data(), how.data(), argument.data(),
                         processes.data(), order, of.type, &out);
  return out;
}

MPI_Datatype make_blocks(const std::vector<Made>& of) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  const int n = static_cast<int>(of.size()), blocks = pick(1, 4);
  const std::vector<int> lengths = random_list(std::max(n, blocks), 0, 3);
  const std::vector<int> places = random_list(blocks, 0, 12);
  std::vector<MPI_Aint> bytes;
  for (int i = 0; i < std::max(n, blocks); ++i) bytes.push_back(8 * pick(0, 40));
  std::vector<MPI_Datatype> types;
  for (const Made& part : of) types.push_back(part.type);
  const MPI_Datatype type = of[0].type;
  if (n > 1) {
    MPI_Type_create_struct(n, lengths.data(), bytes.data(), types.data(), &out);
    return out;
  }
  switch (pick(0, 3)) {
    case 0: MPI_Type_indexed(blocks, lengths.data(), places.data(), type, &out); break;
    case 1: MPI_Type_create_hindexed(blocks, lengths.data(), bytes.data(), type, &out); break;
    case 2: MPI_Type_create_indexed_block(blocks, pick(1, 3), places.data(), type, &out); break;
    default: MPI_Type_create_hindexed_block(blocks, pick(1, 3), bytes.data(), type, &out);
  }
  return out;
}

MPI_Datatype make_random(const std::vector<Made>& of) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  const MPI_Datatype type = of[0].type;
  const auto extent = static_cast<MPI_Aint>(of[0].map.extent());
  if (of.size() > 1) return make_blocks(of);
  switch (pick(0, 6)) {
    case 0: MPI_Type_contiguous(pick(0, 4), type, &out); break;
    case 1: MPI_Type_vector(pick(1, 4), pick(1, 3), pick(1, 6), type, &out); break;
    case 2: MPI_Type_create_hvector(pick(1, 4), pick(1, 2), 8 * pick(1, 30), type, &out); break;
    case 3: MPI_Type_create_resized(type, 0, extent + 8 * pick(0, 3), &out); break;
    case 4: MPI_Type_dup(type, &out); break;
    case 5: return make_array(of[0]);
    default: return make_blocks(of);
  }
  return out;
}

int packed_otherwise = 0;

// True: MPI and the map pack the same bytes, and unpack them to the same places.
bool is_equal(const Made& made, int count) {
  const auto span = made.map.span_of(count);
  if (!span.ok() || span->bytes > 1 << 20) return true;  // too large to be worth it
  if (span->bytes == 0) return made.map.pack(nullptr, count, {}) == 0;
  const auto before = static_cast<size_t>(std::max<int64_t>(0, -span->offset));
  const size_t room =
      before + static_cast<size_t>(std::max<int64_t>(0, span->offset)) + span->bytes + 64;
  std::vector<unsigned char> memory(room), a(room), b(room);
  for (auto& byte : memory) byte = static_cast<unsigned char>(pick(0, 255));
  const auto bytes = static_cast<size_t>(made.map.size()) * count;
  int position = 0, needed = 0;
  MPI_Pack_size(count, made.type, MPI_COMM_SELF, &needed);
  std::vector<unsigned char> theirs(needed + 1), ours(bytes);
  MPI_Pack(memory.data() + before, count, made.type, theirs.data(), needed, &position,
           MPI_COMM_SELF);
  const uint64_t packed = made.map.pack(reinterpret_cast<std::byte*>(memory.data() + before), count,
                                        std::as_writable_bytes(std::span(ours)));
  if (packed != bytes || ours != reference::pack(memory.data() + before, count, made.type))
    return false;
  // MPICH 4.0 rounds down to whole elements, and takes the wrong type for the element in some
  // nests. Open MPI 5.0 takes the stride of the outer type for that of the inner one in some.
  theirs.resize(position);
  if (theirs != ours) {
    ++packed_otherwise;
    return true;
  }
  position = 0;
  MPI_Unpack(ours.data(), static_cast<int>(bytes), &position, a.data() + before, count, made.type,
             MPI_COMM_SELF);
  made.map.unpack(std::as_bytes(std::span(ours)), count,
                  reinterpret_cast<std::byte*>(b.data() + before));
  return a == b;
}

std::vector<Made> predefined_types() {
  std::vector<Made> out;
  const std::pair<MPI_Datatype, const char*> all[] = {
      {MPI_CHAR, "MPI_CHAR"},
      {MPI_INT, "MPI_INT"},
      {MPI_DOUBLE, "MPI_DOUBLE"},
      {MPI_SHORT_INT, "MPI_SHORT_INT"},
      {MPI_DOUBLE_INT, "MPI_DOUBLE_INT"},
      {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT"},
      {MPI_2INT, "MPI_2INT"},
      {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX"},
  };
  for (const auto& [type, name] : all)
    out.push_back({type, *TypeMap::predefined(name, shape_of(type))});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  random_bits.seed(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  const int types = argc > 2 ? std::atoi(argv[2]) : 3000;
  const std::vector<Made> predefined = predefined_types();
  std::vector<Made> pool = predefined;
  std::map<int, int> seen;
  int wrong = 0;
  for (int i = 0; i < types; ++i) {
    std::vector<Made> parts;
    for (int n = pick(0, 3) == 0 ? pick(2, 3) : 1; n > 0; --n)
      parts.push_back(pool[pick(0, static_cast<int>(pool.size()) - 1)]);
    Made made{make_random(parts), {}};
    MPI_Type_commit(&made.type);
    int a = 0, b = 0, c = 0, combiner = 0;
    MPI_Type_get_envelope(made.type, &a, &b, &c, &combiner);
    ++seen[combiner];
    if (!map_of(made.type, parts, made.map) || !is_equal(made, pick(0, 3))) {
      std::printf("type %d: combiner %d differs\n", i, combiner);
      ++wrong;
    }
    if (made.map.size() > 4096 || made.map.size() == 0 || made.map.extent() > 1 << 16) continue;
    pool.push_back(made);
    if (pool.size() > 60) pool.resize(predefined.size());
  }
  std::printf("typemap: %d types of %zu combiners, %d differ, %d not packed rightly by this MPI\n",
              types, seen.size(), wrong, packed_otherwise);
  MPI_Finalize();
  return wrong == 0 && seen.size() >= 12 && packed_otherwise < types / 5 ? 0 : 1;
}
