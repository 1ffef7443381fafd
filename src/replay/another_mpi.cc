// What the MPI at hand lacks: tags that are too large for it, and datatypes.

#include <string_view>

#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {
namespace {

// Types of all MPIs that can be added, compared and sent.
std::string_view type_of_size(int64_t bytes) {
  switch (bytes) {
    case 1: return "MPI_SIGNED_CHAR";
    case 2: return "MPI_SHORT";
    case 4: return "MPI_INT";
    case 8: return "MPI_LONG_LONG_INT";
    case 16: return "MPI_C_DOUBLE_COMPLEX";
    default: return "";
  }
}

}  // namespace

int64_t Engine::tag_of(int64_t recorded) {
  if (recorded <= plan::kLeastTagBound) return recorded;
  if (tags_ == nullptr) tags_ = std::make_unique<plan::TagMap>(trace_, unused_tag());
  const int64_t tag = tags_->of(recorded);
  if (tag != recorded && tag >= 0) ++counts_.tags;
  return tag;
}

// One of the recorded size, where this MPI has no such type: messages match by their length.
base::Result<int64_t> Engine::predefined_type(const Frame& frame, DefinitionId id,
                                              uint32_t constant) {
  const uint64_t null = mpi_runtime::handle_key(MPI_DATATYPE_NULL);
  const auto value = value_of_constant(constant);
  const std::string_view name = mpi::constant_name(constant);
  if (value && (*value != null || name == "MPI_DATATYPE_NULL")) return static_cast<int64_t>(*value);
  const auto type = trace_.datatype(id);
  if (!type || type->size_bytes < 0) return wrong(frame, "this MPI has no " + std::string(name));
  ++counts_.types;
  const auto known = equal_types_.find(id);
  if (known != equal_types_.end()) return static_cast<int64_t>(known->second);
  const std::string_view other = type_of_size(type->size_bytes);
  uint64_t& made = equal_types_[id];
  if (!other.empty()) {
    made = value_of_constant(mpi::constant_id(other)).value_or(null);
    return static_cast<int64_t>(made);
  }
  MPI_Datatype bytes = MPI_DATATYPE_NULL;
  REFRAIN_QUIET(MPI_Type_contiguous)(static_cast<int>(type->size_bytes), MPI_BYTE, &bytes);
  REFRAIN_QUIET(MPI_Type_commit)(&bytes);
  made = mpi_runtime::handle_key(bytes);
  return static_cast<int64_t>(made);
}

}  // namespace refrain::replay
