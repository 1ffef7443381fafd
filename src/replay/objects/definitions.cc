// Objects whose calls are not in the trace, because they were filtered out: made from what the
// trace says that they are.

#include <vector>

#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {
namespace {

std::vector<int> ints_of(const IntegerList& list, uint64_t from, uint64_t count) {
  std::vector<int> out;
  for (uint64_t i = from; i < from + count && i < list.size(); ++i)
    out.push_back(static_cast<int>(list.at(i)));
  return out;
}

}  // namespace

base::Result<int64_t> Engine::make_from_definition(const Frame& frame, mpi::ParamKind kind,
                                                   const Value& value) {
  auto made =
      kind == mpi::ParamKind::kDatatype ? make_datatype(frame, value.definition())
      : kind == mpi::ParamKind::kComm
          ? make_comm(frame, value.definition())
          : base::Result<int64_t>(wrong(frame, trace_.object_name(value.definition()) +
                                                   " was made by a call that is not in the trace"));
  const ObjectKey name = object_key(kind, value);
  if (made.ok()) made_with(name).objects[name] = static_cast<uint64_t>(*made);
  return made;
}

// The same size and extent, of bytes: a message matches by its length.
base::Result<int64_t> Engine::make_datatype(const Frame& frame, DefinitionId id) {
  const auto type = trace_.datatype(id);
  if (!type || type->size_bytes < 0)
    return wrong(frame, "the trace does not tell what " + trace_.object_name(id) + " is");
  MPI_Datatype bytes = MPI_DATATYPE_NULL, made = MPI_DATATYPE_NULL;
  const auto combiner = mpi::constant_name(type->combiner);
  if (combiner == "MPI_COMBINER_CONTIGUOUS" && type->types.size() == 1 &&
      predefined(type->types[0]) != 0) {
    const auto old = value_of_constant(predefined(type->types[0]));
    const std::vector<int> count = ints_of(type->integers, 0, 1);
    if (old && count.size() == 1) REFRAIN_QUIET(MPI_Type_contiguous)
    (count[0], mpi_runtime::handle_of<MPI_Datatype>(*old), &made);
  }
  if (made == MPI_DATATYPE_NULL) {
    if (type->size_bytes > INT32_MAX)
      return wrong(frame, trace_.object_name(id) + " is too large to be made from its definition");
    REFRAIN_QUIET(MPI_Type_contiguous)(static_cast<int>(type->size_bytes), MPI_BYTE, &bytes);
    REFRAIN_QUIET(MPI_Type_create_resized)
    (bytes, static_cast<MPI_Aint>(type->lower_bound), static_cast<MPI_Aint>(type->extent_bytes),
     &made);
    REFRAIN_QUIET(MPI_Type_free)(&bytes);
  }
  REFRAIN_QUIET(MPI_Type_commit)(&made);
  state_.defined_types.insert(mpi_runtime::handle_key(made));
  return static_cast<int64_t>(mpi_runtime::handle_key(made));
}

// Before MPI_Finalize, as some libraries say on stderr what is left. No call frees what no call has
// made; where one does, it is no object any more.
void Engine::free_defined_types() {
  for (const auto& made : state_.made)
    for (const auto& [name, key] : made->objects) {
      if (name.first != mpi::ParamKind::kDatatype || state_.defined_types.erase(key) == 0) continue;
      auto type = mpi_runtime::handle_of<MPI_Datatype>(key);
      REFRAIN_QUIET(MPI_Type_free)(&type);
    }
}

// Whether a communicator that a call has just made has the recorded members in the recorded order.
// If it has not, all of the recorded members find so.
bool Engine::is_as_recorded(uint64_t comm, DefinitionId id) const {
  const auto recorded = trace_.communicator(id, rank_);
  const auto made = mpi_runtime::handle_of<MPI_Comm>(comm);
  if (!recorded || recorded->is_inter || recorded->me < 0 || made == MPI_COMM_NULL) return true;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  int size = 0, initialized = 0;
  REFRAIN_QUIET(MPI_Initialized)(&initialized);
  if (initialized == 0) return true;  // of sessions: there is no world to number its ranks
  REFRAIN_QUIET(MPI_Comm_group)(MPI_COMM_WORLD, &world);
  REFRAIN_QUIET(MPI_Comm_group)(made, &group);
  REFRAIN_QUIET(MPI_Group_size)(group, &size);
  bool is_equal = static_cast<uint64_t>(size) == recorded->size();
  std::vector<int> in_comm(static_cast<size_t>(size)), in_world(static_cast<size_t>(size), -1);
  for (int i = 0; i < size; ++i) in_comm[static_cast<size_t>(i)] = i;
  if (is_equal && size > 0) REFRAIN_QUIET(MPI_Group_translate_ranks)
  (group, size, in_comm.data(), world, in_world.data());
  for (int i = 0; is_equal && i < size; ++i) {
    const Rank member = recorded->member(i);
    is_equal = member < 0 || member == in_world[static_cast<size_t>(i)];
  }
  REFRAIN_QUIET(MPI_Group_free)(&group);
  REFRAIN_QUIET(MPI_Group_free)(&world);
  return is_equal;
}

// All members meet it for the first time in calls that belong together.
base::Result<int64_t> Engine::make_comm(const Frame& frame, DefinitionId id) {
  const auto comm = trace_.communicator(id, rank_);
  if (!comm || comm->is_inter || comm->me < 0)
    return wrong(frame, trace_.object_name(id) + " was made by a call that is not in the trace");
  std::vector<int> members;
  for (uint64_t i = 0; i < comm->size(); ++i)
    members.push_back(static_cast<int>(comm->member(static_cast<int64_t>(i))));
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  REFRAIN_QUIET(MPI_Comm_group)(MPI_COMM_WORLD, &world);
  REFRAIN_QUIET(MPI_Group_incl)(world, static_cast<int>(members.size()), members.data(), &group);
#ifdef REFRAIN_SMPI  // whose function calls this one, where a recorder would see it, and asks
                     // nobody either
  REFRAIN_QUIET(MPI_Comm_create)(MPI_COMM_WORLD, group, &made);
#else
  REFRAIN_QUIET(MPI_Comm_create_group)
  (MPI_COMM_WORLD, group, static_cast<int>(comm->id & 0x7fff), &made);
#endif
  REFRAIN_QUIET(MPI_Group_free)(&group);
  REFRAIN_QUIET(MPI_Group_free)(&world);
  return static_cast<int64_t>(mpi_runtime::handle_key(made));
}

}  // namespace refrain::replay
