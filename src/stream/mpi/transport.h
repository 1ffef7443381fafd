// Messages of streams through MPI, on the universe communicator: all processes of the job.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stream/mpi/identity.h"
#include "stream/transport.h"

namespace refrain::stream {

class MpiTransport : public Transport {
 public:
  // The communicator returns errors; identities are those of its processes, by rank.
  MpiTransport(MPI_Comm comm, std::vector<Identity> identities);

  Request send(int rank, int tag, const void* data, size_t bytes) override;
  Request receive(int rank, int tag, void* data, size_t capacity) override;
  Test test(Request request, size_t* bytes) override;
  void cancel(Request request) override;
  bool is_alive(int rank) override;
  int64_t now_ns() override;
  void pause(int round) override;

 private:
  Request keep(int error, MPI_Request request);

  MPI_Comm comm_;
  std::vector<Identity> identities_;
  std::vector<MPI_Request> requests_;  // by Request
  std::vector<Request> free_;
};

}  // namespace refrain::stream
