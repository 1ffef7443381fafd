#include "stream/mpi/transport.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace refrain::stream {

MpiTransport::MpiTransport(MPI_Comm comm, std::vector<Identity> identities)
    : comm_(comm), identities_(std::move(identities)) {}

Transport::Request MpiTransport::keep(int error, MPI_Request request) {
  if (error != MPI_SUCCESS) return kNone;
  if (free_.empty()) {
    free_.push_back(static_cast<Request>(requests_.size()));
    requests_.push_back(MPI_REQUEST_NULL);
  }
  const Request number = free_.back();
  free_.pop_back();
  requests_[static_cast<size_t>(number)] = request;
  return number;
}

// Synchronous, because others of small messages end at once and pile up at a reader that is slow.
Transport::Request MpiTransport::send(int rank, int tag, const void* data, size_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error =
      PMPI_Issend(data, static_cast<int>(bytes), MPI_BYTE, rank, tag, comm_, &request);
  return keep(error, request);
}

Transport::Request MpiTransport::receive(int rank, int tag, void* data, size_t capacity) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error =
      PMPI_Irecv(data, static_cast<int>(capacity), MPI_BYTE, rank, tag, comm_, &request);
  return keep(error, request);
}

Transport::Test MpiTransport::test(Request request, size_t* bytes) {
  int done = 0, count = 0;
  MPI_Status status;
  const int error = PMPI_Test(&requests_[static_cast<size_t>(request)], &done, &status);
  if (error == MPI_SUCCESS && done == 0) return Test::kOpen;
  free_.push_back(request);
  if (error != MPI_SUCCESS) return Test::kFailed;
  if (bytes != nullptr) {
    PMPI_Get_count(&status, MPI_BYTE, &count);
    *bytes = static_cast<size_t>(std::max(count, 0));
  }
  return Test::kDone;
}

void MpiTransport::cancel(Request request) {
  MPI_Request& pending = requests_[static_cast<size_t>(request)];
  PMPI_Cancel(&pending);
  PMPI_Wait(&pending, MPI_STATUS_IGNORE);
  free_.push_back(request);
}

bool MpiTransport::is_alive(int rank) {
  int own = 0;
  PMPI_Comm_rank(comm_, &own);
  return stream::is_alive(identities_[static_cast<size_t>(own)],
                          identities_[static_cast<size_t>(rank)]);
}

int64_t MpiTransport::now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Looks again at once for a while, because each look moves a large message on; then lets others
// have the core, and then sleeps.
void MpiTransport::pause(int round) {
  constexpr int kSpins = 64, kYields = 256;
  if (round < kSpins) return;
  if (round < kYields) {
    sched_yield();
    return;
  }
  constexpr long kFirst_ns = 10'000, kMost_ns = 1'000'000;
  const timespec time{0, std::min(kMost_ns, kFirst_ns * (round - kYields + 1))};
  nanosleep(&time, nullptr);
}

}  // namespace refrain::stream
