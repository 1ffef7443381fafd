// Datatypes, which this process really has: their maps of memory are made from the arguments that
// the program passes, so that absolute addresses are those of this process.

#include <mpi.h>

#include <cstring>
#include <string>

#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::Direction;
using mpi::ParamKind;
using mpi::TypeMap;

TypeMap::Shape shape_of(const Datatype& type) {
  return {type.size_bytes, type.lower_bound, type.extent_bytes};
}

}  // namespace

// Predefined types as the trace knows them.
void Player::note_types() {
  for (DefinitionId id = 0; id < trace_->definition_count(); ++id) {
    const auto type = trace_->datatype(id);
    if (!type || type->name.empty()) continue;
    const auto bits = predefined(id);
    if (!bits) continue;
    const auto map = TypeMap::predefined(type->name, shape_of(*type));
    const size_t bytes = handle_bytes(ParamKind::kDatatype);
    const uint64_t key = bytes == sizeof(uint32_t) ? static_cast<uint32_t>(*bits) : *bits;
    if (map.ok()) predefined_types_.emplace(key, *map);
  }
}

const TypeMap* Player::type_of(uint64_t key) {
  if (const Object* const object = objects_.find(ParamKind::kDatatype, key);
      object != nullptr && object->has_type)
    return &object->type;
  const auto known = predefined_types_.find(key);
  return known == predefined_types_.end() ? nullptr : &known->second;
}

// After a call that made a datatype, by what the trace says of it and with this call's addresses.
void Player::make_type(Frame& frame) {
  int made_at = -1;
  for (size_t i = 0; i < frame.info.params.size(); ++i)
    if (frame.info.params[i].kind == ParamKind::kDatatype &&
        frame.info.params[i].direction == Direction::kOut && !frame.info.params[i].is_array)
      made_at = static_cast<int>(i);
  if (made_at < 0 || !frame.ok()) return;
  Object* const object =
      objects_.find(ParamKind::kDatatype, frame.given.key(static_cast<size_t>(made_at)));
  if (object == nullptr) return;
  const auto type = trace_->datatype(object->definition);
  if (!type || type->size_bytes < 0) return;
  std::vector<int64_t> numbers;
  std::vector<int64_t> own;  // addresses that the program passed now
  std::vector<TypeMap> types;
  for (size_t i = 0; i < frame.info.params.size(); ++i) {
    const mpi::ParamInfo& param = frame.info.params[i];
    if (param.direction != Direction::kIn) continue;
    const uint64_t count = frame.value(i).at_entry().size();
    if (param.is_array &&
        (param.kind == ParamKind::kDisplacement || param.kind == ParamKind::kAddress))
      for (uint64_t k = 0; k < count; ++k) own.push_back(frame.given.number(i, k));
    if (param.kind != ParamKind::kDatatype) continue;
    for (uint64_t k = 0; k < (param.is_array ? count : 1); ++k) {
      const TypeMap* const map = type_of(frame.given.key(i, k));
      types.push_back(map == nullptr ? TypeMap() : *map);
    }
  }
  for (uint64_t i = 0; i < type->integers.size(); ++i) numbers.push_back(type->integers.at(i));
  for (uint64_t i = 0; i < type->addresses.size(); ++i) numbers.push_back(type->addresses.at(i));
  const bool is_in_bytes = frame.meaning.plain != mpi::kMPI_Type_indexed &&
                           frame.meaning.plain != mpi::kMPI_Type_create_indexed_block;
  if (is_in_bytes && !own.empty() && own.size() <= numbers.size())
    std::copy(own.begin(), own.end(), numbers.end() - static_cast<std::ptrdiff_t>(own.size()));
  const TypeMap::Recipe recipe{type->combiner, numbers, types, shape_of(*type)};
  const auto map = TypeMap::derived(recipe);
  object->has_type = map.ok();
  if (map.ok()) object->type = *map;
}

// A type that the MPI's Fortran layer makes for a section of an array: no call of the trace.
bool Player::make_type_beside(Frame& frame) {
  const Given& given = frame.given;
  std::vector<int64_t> numbers;
  int64_t extent = 0, size = 0;
  uint64_t old_key = 0;
  uint32_t combiner = 0;
  size_t out = 0;
  const auto inner = [&](size_t i) {
    old_key = given.key(i);
    return type_of(old_key);
  };
  const TypeMap* map = nullptr;
  const int64_t count = given.number(0);
  switch (frame.meaning.plain) {
    case mpi::kMPI_Type_contiguous:
      map = inner(1), out = 2, combiner = mpi::kConst_MPI_COMBINER_CONTIGUOUS;
      if (map == nullptr) return false;
      numbers = {count};
      extent = count * map->extent(), size = count * map->size();
      break;
    case mpi::kMPI_Type_vector:
    case mpi::kMPI_Type_create_hvector:
    case mpi::kMPI_Type_hvector: {
      map = inner(3), out = 4;
      if (map == nullptr) return false;
      const bool in_bytes = frame.meaning.plain != mpi::kMPI_Type_vector;
      combiner = in_bytes ? mpi::kConst_MPI_COMBINER_HVECTOR : mpi::kConst_MPI_COMBINER_VECTOR;
      const int64_t length = given.number(1), stride = given.number(2);
      numbers = {count, length, stride};
      const int64_t step = in_bytes ? stride : stride * map->extent();
      const int64_t block = length * map->extent();
      extent = count <= 0 ? 0 : step >= 0 ? (count - 1) * step + block : block - (count - 1) * step;
      size = count * length * map->size();
      break;
    }
    default: return false;
  }
  const auto made = TypeMap::derived({combiner, numbers, {map, 1}, {size, 0, extent}});
  if (!made.ok()) return false;
  Object& object = objects_.make(ParamKind::kDatatype, -1 - static_cast<int64_t>(counts_.beside));
  object.type = *made;
  object.has_type = true;
  given.put(out, 0, object.key);
  return true;
}

// MPI_Pack: the position at entry says where, that at exit is the trace's.
void Player::pack(Frame& frame) {
  const bool is_external = frame.meaning.plain == mpi::kMPI_Pack_external;
  const size_t first = is_external ? 1 : 0;
  const TypeMap* const map = type_of(frame.given.key(first + 2));
  const int64_t position = number_of(frame.value(first + 5).at_entry()).value_or(0);
  const int64_t count = frame.given.number(first + 1);
  if (map == nullptr || count <= 0 || position < 0) return;
  auto* const out = frame.given.address<std::byte>(first + 3) + position;
  map->pack(frame.given.address<const std::byte>(first), static_cast<uint64_t>(count),
            {out, static_cast<size_t>(count * map->size())});
}

void Player::unpack(Frame& frame) {
  const bool is_external = frame.meaning.plain == mpi::kMPI_Unpack_external;
  const size_t first = is_external ? 1 : 0;
  const TypeMap* const map = type_of(frame.given.key(first + 5));
  const int64_t position = number_of(frame.value(first + 2).at_entry()).value_or(0);
  const int64_t count = frame.given.number(first + 4);
  if (map == nullptr || count <= 0 || position < 0) return;
  const auto* const in = frame.given.address<const std::byte>(first) + position;
  map->unpack({in, static_cast<size_t>(count * map->size())}, static_cast<uint64_t>(count),
              frame.given.address<std::byte>(first + 3));
}

}  // namespace refrain::replay::solo
