// What launchers tell the processes that they start.
#pragma once

namespace refrain::base {

// Names of variables.
struct LauncherWords {
  const char* mpi;    // whose launcher it is
  const char* rank;   // the number of this process
  const char* local;  // how many are on its node
  const char* size;   // how many there are
};
inline constexpr LauncherWords kLauncherWords[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
    {"mpich", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_SIZE"},
    {"mpich", "PMI_RANK", "MPI_LOCALNRANKS", "PMI_SIZE"},
};
// The number of this process, by launchers of any MPI.
inline constexpr const char* kPmixRank = "PMIX_RANK";
// Also told to the first process of a batch job, which no launcher has started.
inline constexpr const char* kSlurmRank = "SLURM_PROCID";

// The number of this process as text, null without a launcher; `get` is like std::getenv().
template <typename Get>
const char* told_rank(Get&& get) {
  for (const LauncherWords& words : kLauncherWords)
    if (const char* const text = get(words.rank); text != nullptr) return text;
  return get(kPmixRank);
}

// The same; without a launcher that of a batch system's task.
template <typename Get>
const char* told_rank_or_task(Get&& get) {
  const char* const rank = told_rank(get);
  return rank != nullptr ? rank : get(kSlurmRank);
}

// How many processes there are, null where no launcher says it.
template <typename Get>
const char* told_size(Get&& get) {
  for (const LauncherWords& words : kLauncherWords)
    if (const char* const text = get(words.size); text != nullptr) return text;
  return nullptr;
}

}  // namespace refrain::base
