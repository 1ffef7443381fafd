#include "stream/mpi/coupling.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace refrain::stream {
namespace {

std::string& last_error() {
  static std::string text;
  return text;
}

std::string& own_name() {
  static std::string name;
  return name;
}

std::unique_ptr<Coupling>& holder() {
  static std::unique_ptr<Coupling> coupling;
  return coupling;
}

std::string own_command_line() {
  std::string words(kMostName + 1, '\0');
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? 0 : read(file, words.data(), words.size());
  if (file >= 0) close(file);
  words.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return command_line_of(words);
}

// Text of the first process of a partition, at every process.
int share_text(MPI_Comm comm, int root, int rank, std::string* text) {
  int length = static_cast<int>(text->size());
  int error = PMPI_Bcast(&length, 1, MPI_INT, root, comm);
  if (error != MPI_SUCCESS) return error;
  if (rank != root) text->resize(static_cast<size_t>(length));
  return PMPI_Bcast(text->data(), length, MPI_CHAR, root, comm);
}

// Names and command lines. Two texts with one key would put different programs together: found by
// comparing.
int exchange_texts(Coupling& job, const std::string& command_line) {
  int differs = 0;
  for (size_t id = 0; id < job.partitions.size(); ++id) {
    Partition& p = job.partitions[id];
    const int root = p.ranks.front();
    if (job.rank == root) {
      p.command_line = command_line;
      p.name = own_name().empty() ? command_line : own_name();
    }
    int error = share_text(job.universe, root, job.rank, &p.command_line);
    if (error == MPI_SUCCESS) error = share_text(job.universe, root, job.rank, &p.name);
    if (error != MPI_SUCCESS) return fail_mpi(error, "MPI_Bcast");
    if (static_cast<int>(id) == job.own_partition)
      differs = p.name != (own_name().empty() ? command_line : own_name());
  }
  const int error = PMPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, job.universe);
  if (error != MPI_SUCCESS) return fail_mpi(error, "MPI_Allreduce");
  return differs == 0 ? 0
                      : fail(REFRAIN_EINVALID, "two partitions cannot be told apart: rename one");
}

int make_communicators(Coupling& job) {
  int error = PMPI_Comm_dup(MPI_COMM_WORLD, &job.universe);
  if (error == MPI_SUCCESS) error = PMPI_Comm_set_errhandler(job.universe, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS) error = PMPI_Comm_dup(job.universe, &job.maps);
  if (error == MPI_SUCCESS) error = PMPI_Comm_rank(job.universe, &job.rank);
  return error == MPI_SUCCESS ? 0 : fail_mpi(error, "MPI_Comm_dup");
}

int exchange_partitions(Coupling& job) {
  struct Own {
    uint64_t key;
    Identity identity;
  };
  const std::string command_line = own_command_line();
  const Own own{partition_key(own_name(), command_line), own_identity()};
  int size = 0;
  PMPI_Comm_size(job.universe, &size);
  std::vector<Own> all(static_cast<size_t>(size));
  int error =
      PMPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, job.universe);
  if (error != MPI_SUCCESS) return fail_mpi(error, "MPI_Allgather");
  std::vector<uint64_t> keys;
  std::vector<Identity> identities;
  for (const Own& one : all) {
    keys.push_back(one.key);
    identities.push_back(one.identity);
  }
  job.partitions = partitions_of(keys);
  for (size_t id = 0; id < job.partitions.size(); ++id)
    if (keys[static_cast<size_t>(job.partitions[id].ranks.front())] == own.key)
      job.own_partition = static_cast<int>(id);
  if (const int code = exchange_texts(job, command_line); code < 0) return code;
  error = PMPI_Comm_split(job.universe, job.own_partition, job.rank, &job.partition);
  if (error != MPI_SUCCESS) return fail_mpi(error, "MPI_Comm_split");
  for (size_t id = 0; id < job.partitions.size(); ++id) {
    const Partition& p = job.partitions[id];
    job.descriptions.push_back({static_cast<int>(id), p.name.c_str(), p.command_line.c_str(),
                                static_cast<int>(p.ranks.size()), p.ranks.data()});
  }
  job.transport = std::make_unique<MpiTransport>(job.universe, std::move(identities));
  return 0;
}

int not_started() {
  return fail(REFRAIN_EINVALID, "the coupling has not started: MPI_Init comes first");
}

const refrain_partition* description(size_t id) {
  if (coupling() == nullptr) {
    not_started();
    return nullptr;
  }
  return id < coupling()->descriptions.size() ? &coupling()->descriptions[id] : nullptr;
}

}  // namespace

Coupling* coupling() { return holder().get(); }

int fail(int code, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  last_error() = std::move(text);
  return code;
}

int fail_mpi(int error, const char* function) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(error, text, &length);
  return fail(REFRAIN_EMPI, std::string(function) + ": " + text);
}

void end_coupling() {
  if (coupling() == nullptr) return;
  Coupling& job = *coupling();
  abandon_streams(job);
  PMPI_Comm_free(&job.partition);
  PMPI_Comm_free(&job.maps);
  PMPI_Comm_free(&job.universe);
  holder().reset();
}

}  // namespace refrain::stream

using refrain::stream::coupling;
using refrain::stream::fail;
using refrain::stream::not_started;

const char* refrain_coupling_error() { return refrain::stream::last_error().c_str(); }

int refrain_coupling_start() {
  using namespace refrain::stream;
  if (coupling() != nullptr) return 0;
  int is_on = 0, is_over = 0;
  PMPI_Initialized(&is_on);
  PMPI_Finalized(&is_over);
  if (is_on == 0 || is_over != 0)
    return fail(REFRAIN_EINVALID, "the coupling starts between MPI_Init and MPI_Finalize");
  auto job = std::make_unique<Coupling>();
  if (const int code = make_communicators(*job); code < 0) return code;
  if (const int code = exchange_partitions(*job); code < 0) return code;
  void* bound = nullptr;
  int has_bound = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &has_bound);
  constexpr int kLeastBound = 32767;
  job->most_tag = has_bound != 0 ? *static_cast<int*>(bound) : kLeastBound;
  holder() = std::move(job);
  return 0;
}

int refrain_partition_set_name(const char* name) {
  if (coupling() != nullptr)
    return fail(REFRAIN_EINVALID, "the name of a partition is set before MPI_Init");
  if (name == nullptr || std::string(name).size() > refrain::stream::kMostName)
    return fail(REFRAIN_EINVALID, "the name of a partition has at most 4096 bytes");
  refrain::stream::own_name() = name;
  return 0;
}

int refrain_partition_count() {
  return coupling() == nullptr ? not_started() : static_cast<int>(coupling()->partitions.size());
}

int refrain_partition_id() {
  return coupling() == nullptr ? not_started() : coupling()->own_partition;
}

const refrain_partition* refrain_partition_by_id(int id) {
  return refrain::stream::description(static_cast<size_t>(id));
}

const refrain_partition* refrain_partition_by_name(const char* name) {
  if (name == nullptr) return nullptr;
  for (size_t id = 0; const refrain_partition* one = refrain::stream::description(id); ++id)
    if (std::string_view(one->name) == name) return one;
  return nullptr;
}

int refrain_universe_comm() {
  return coupling() == nullptr ? not_started()
                               : static_cast<int>(PMPI_Comm_c2f(coupling()->universe));
}

int refrain_partition_comm() {
  return coupling() == nullptr ? not_started()
                               : static_cast<int>(PMPI_Comm_c2f(coupling()->partition));
}
