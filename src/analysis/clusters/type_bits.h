// Which bit of a rank's types stands for a datatype, an operation or a communicator (ACURDION,
// section III A): 0 is MPI_CHAR, 32 MPI_MAX, 55 MPI_COMM_SELF.
#pragma once

#include <cstdint>
#include <string_view>

namespace refrain::analysis::clusters {

enum class TypeKind : uint8_t { kDatatype, kOperation, kCommunicator };

// `name`: MPI's name of a predefined object, empty for one that the program made; `id` is then its
// number. Predefined ones that are used have a bit of their own, the less usual ones, and those of
// programs, share some.
uint8_t type_bit(TypeKind kind, std::string_view name, int64_t id);

}  // namespace refrain::analysis::clusters
