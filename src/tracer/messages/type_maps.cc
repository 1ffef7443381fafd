#include "tracer/messages/type_maps.h"

#include <vector>

#include "base/runs.h"
#include "mpi/call_table.h"
#include "mpi/constant_ids.h"
#include "mpi_runtime/constants_table.h"
#include "mpi_runtime/datatype_contents.h"

namespace refrain::tracer {

using mpi_runtime::contents_of;
using mpi_runtime::shape_of;

namespace {

void append_all(const base::RunList& from, std::vector<int64_t>& to) {
  for (const base::RunList::Run& run : from.runs())
    for (uint64_t i = 0; i < run.count; ++i)
      to.push_back(run.start + run.step * static_cast<int64_t>(i));
}

}  // namespace

std::optional<mpi::TypeMap> TypeMaps::find(uint64_t key, bool is_shared) {
  const SharedLock lock(mutex_, is_shared);
  return find_locked(key);
}

int64_t TypeMaps::find_flat(uint64_t key) {
  const auto map = find_locked(key);
  const int64_t bytes = map && map->is_flat() ? map->size() : kNotFlat;
  flat_[place(key)] = {key, bytes, true};
  return bytes;
}

std::optional<mpi::TypeMap> TypeMaps::find_locked(uint64_t key) {
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  auto made = make(key);
  if (made) known_.emplace(key, *made);
  return made;
}

std::optional<mpi::TypeMap> TypeMaps::make(uint64_t key) {
  if (mpi_runtime::is_null_datatype(key)) return std::nullopt;
  const mpi_runtime::TypeShape s = shape_of(key);
  const mpi::TypeMap::Shape shape{s.size, s.lb, s.extent};
  const uint32_t constant = mpi_runtime::handle_constant(format::DefinitionKind::kDatatype, key);
  if (constant != 0) {
    auto map = mpi::TypeMap::predefined(mpi::constant_name(constant), shape);
    return map.ok() ? std::optional(*map) : std::nullopt;
  }
  mpi_runtime::TypeContents contents;
  if (!contents_of(key, contents)) return std::nullopt;
  // Handles of parts are new references, which go back: their values say nothing of a type that
  // the program has, so they are not remembered.
  std::vector<mpi::TypeMap> parts;
  bool good = true;
  for (const uint64_t type : contents.types) {
    const auto part = make(type);
    good = good && part.has_value();
    if (part) parts.push_back(*part);
    mpi_runtime::give_back(type);
  }
  if (!good) return std::nullopt;
  std::vector<int64_t> numbers;
  append_all(contents.integers, numbers);
  append_all(contents.addresses, numbers);
  const uint32_t combiner = mpi_runtime::constant_of(mpi::domain::kCombiner, contents.combiner);
  auto map = mpi::TypeMap::derived({combiner, numbers, parts, shape});
  return map.ok() ? std::optional(*map) : std::nullopt;
}

void TypeMaps::forget(uint64_t key, bool is_shared) {
  const SharedLock lock(mutex_, is_shared);
  known_.erase(key);
  flat_[place(key)] = {};
}

}  // namespace refrain::tracer
