#include "analysis/clusters/type_bits.h"

#include <algorithm>
#include <array>
#include <span>

#include "format/codes/checksum.h"
#include "similarity/ranks/rank_signature.h"

namespace refrain::analysis::clusters {

namespace {

constexpr std::array<std::string_view, 32> kTypes = {"MPI_CHAR",           "MPI_SIGNED_CHAR",
                                                     "MPI_UNSIGNED_CHAR",  "MPI_BYTE",
                                                     "MPI_WCHAR",          "MPI_SHORT",
                                                     "MPI_UNSIGNED_SHORT", "MPI_INT",
                                                     "MPI_UNSIGNED",       "MPI_LONG",
                                                     "MPI_UNSIGNED_LONG",  "MPI_FLOAT",
                                                     "MPI_DOUBLE",         "MPI_LONG_DOUBLE",
                                                     "MPI_LONG_LONG_INT",  "MPI_UNSIGNED_LONG_LONG",
                                                     "MPI_FLOAT_INT",      "MPI_DOUBLE_INT",
                                                     "MPI_2INT",           "MPI_PACKED",
                                                     "MPI_INT32_T",        "MPI_INT64_T",
                                                     "MPI_UINT32_T",       "MPI_UINT64_T",
                                                     "MPI_C_BOOL",         "MPI_C_DOUBLE_COMPLEX",
                                                     "MPI_AINT",           "MPI_CHARACTER",
                                                     "MPI_LOGICAL",        "MPI_INTEGER",
                                                     "MPI_REAL",           "MPI_DOUBLE_PRECISION"};
constexpr std::array<std::string_view, 14> kOperations = {
    "MPI_MAX", "MPI_MIN",  "MPI_SUM",  "MPI_PROD",   "MPI_LAND",   "MPI_BAND",    "MPI_LOR",
    "MPI_BOR", "MPI_LXOR", "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};
constexpr std::array<std::string_view, 2> kCommunicators = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};

// Where the bits of a kind begin, and those that several of its objects share.
struct Bits {
  std::span<const std::string_view> names;
  uint8_t first = 0, shared = 0, shared_count = 1;
};
constexpr Bits bits_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::kDatatype: return {kTypes, 0, 64, 32};
    case TypeKind::kOperation: return {kOperations, 32, 46, 8};
    case TypeKind::kCommunicator: return {kCommunicators, 54, 96, 32};
  }
  return {};
}
static_assert(similarity::kRankTypes == 128);

}  // namespace

uint8_t type_bit(TypeKind kind, std::string_view name, int64_t id) {
  const Bits bits = bits_of(kind);
  const auto known = std::find(bits.names.begin(), bits.names.end(), name);
  if (!name.empty() && known != bits.names.end())
    return static_cast<uint8_t>(bits.first + (known - bits.names.begin()));
  const uint64_t which =
      name.empty() ? static_cast<uint64_t>(id) : format::hash64(name.data(), name.size());
  return static_cast<uint8_t>(bits.shared + which % bits.shared_count);
}

}  // namespace refrain::analysis::clusters
