#include "mpi_runtime/live_partitions.h"

#include <mpi.h>

#include <algorithm>
#include <set>

#include "mpi_runtime/patience.h"
#include "real_functions.h"

namespace refrain::mpi_runtime {

namespace {

constexpr size_t kPathBytes = 4096;
constexpr uint64_t kAnalyser = 1, kNoAppnum = UINT64_MAX;

struct Words {
  uint64_t kind, name, appnum;
};

uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

uint64_t own_appnum() {
  int* value = nullptr;
  int flag = 0;
  if (REFRAIN_REAL(PMPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag) != MPI_SUCCESS ||
      flag == 0 || value == nullptr || *value < 0)
    return kNoAppnum;
  return static_cast<uint64_t>(*value);
}

// Ranks of a job that has more of them than cores do not wait busily.
bool gather(Words mine, std::vector<Words>* all) {
  constexpr int kCount = sizeof(Words) / sizeof(uint64_t);
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Iallgather)(&mine, kCount, MPI_UINT64_T, all->data(), kCount,
                                         MPI_UINT64_T, MPI_COMM_WORLD, request);
  });
}

bool share_folder(const LiveRole& role, LivePartitions* found) {
  std::string path(kPathBytes, '\0');
  if (found->rank == found->analysers.front()) role.folder.copy(path.data(), kPathBytes - 1);
  const bool came = patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Ibcast)(path.data(), static_cast<int>(kPathBytes), MPI_CHAR,
                                     found->analysers.front(), MPI_COMM_WORLD, request);
  });
  if (!came) return false;
  found->folder = path.c_str();
  return true;
}

// As many applications of the launcher's line stand before this one in its own partition.
int appnum_among(const std::vector<Words>& all, const LivePartitions& found) {
  const uint64_t own = all[static_cast<size_t>(found.rank)].appnum;
  if (own == kNoAppnum) return -1;
  std::set<uint64_t> before;
  for (const int rank : found.mine)
    if (const uint64_t n = all[static_cast<size_t>(rank)].appnum; n < own) before.insert(n);
  return static_cast<int>(before.size());
}

}  // namespace

bool agree_on_partitions(const LiveRole& role, LivePartitions* found) {
  int size = 0;
  if (REFRAIN_REAL(PMPI_Comm_rank)(MPI_COMM_WORLD, &found->rank) != MPI_SUCCESS ||
      REFRAIN_REAL(PMPI_Comm_size)(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
    return false;
  std::vector<Words> all(static_cast<size_t>(size));
  const Words mine = {role.is_analyser ? kAnalyser : 0, hash_of(role.name), own_appnum()};
  if (!gather(mine, &all)) return false;
  std::set<uint64_t> programs;
  for (int rank = 0; rank < size; ++rank) {
    const Words& words = all[static_cast<size_t>(rank)];
    if (words.kind == kAnalyser) found->analysers.push_back(rank);
    if (words.kind != kAnalyser) programs.insert(words.name);
    if (words.kind == mine.kind && words.name == mine.name) found->mine.push_back(rank);
  }
  found->program_count = static_cast<int>(programs.size());
  found->appnum = appnum_among(all, *found);
  return !found->are_coupled() || share_folder(role, found);
}

}  // namespace refrain::mpi_runtime
