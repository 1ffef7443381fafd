#include "mpi_runtime/built_with.h"

#include <link.h>
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/known_mpis.h"
#include "base/launcher_words.h"
#include "options/environment.h"
#include "own_word.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {
namespace {

struct Other {
  std::string path;
  std::string_view mpi;
};

int look_for_other(dl_phdr_info* info, size_t /*size*/, void* data) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  if (!base::is_main_library(name)) return 0;
  const std::string_view mpi = base::mpi_of_library(name);
  if (mpi.empty() || mpi == "other" || mpi == own_word()) return 0;
  *static_cast<Other*>(data) = {std::string(path), mpi};
  return 1;
}

}  // namespace

bool is_first_rank() {
  const char* const rank = base::told_rank_or_task(std::getenv);
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

const char* own_word() { return kOwnWord; }

std::string library_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  REFRAIN_REAL(PMPI_Get_library_version)(version, &length);
  return version;
}

bool is_built_with_this() {
  enum { kNotAsked, kYes, kNo };
  static std::atomic<int> answer{kNotAsked};
  int known = answer.load(std::memory_order_relaxed);
  if (known == kNotAsked) {
    // The library may be newer than mpi.h and have more to say.
    constexpr int kRoom = 16384;
    static_assert(kRoom >= 2 * MPI_MAX_LIBRARY_VERSION_STRING);
    char version[kRoom] = "";
    int length = 0;
    REFRAIN_REAL(PMPI_Get_library_version)(version, &length);
    known = std::strstr(version, kBuiltWithVersion) != nullptr ? kYes : kNo;
    answer.store(known, std::memory_order_relaxed);
  }
  return known == kYes;
}

std::string line_on_other_mpi() {
  if (std::strcmp(options::text_of(options::Variable::kMpiGuessed), "1") != 0) return "";
  // Behind the standard's ABI there may be a library of any MPI; SMPI has no launcher but its own.
  if (std::strcmp(own_word(), "abi") == 0 || std::strcmp(own_word(), "smpi") == 0) return "";
  Other other{};
  if (dl_iterate_phdr(look_for_other, &other) == 0) return "";
  return "this program opens " + other.path + ", and was to be recorded with " + kBuiltWithName +
         ": say `refrain record --mpi " + std::string(other.mpi) + "`";
}

}  // namespace refrain::mpi_runtime
