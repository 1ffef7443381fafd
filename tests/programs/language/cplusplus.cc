// C++: calls from templates, lambdas and destructors.
#include <cstdio>
#include <memory>
#include <vector>

#include "calls.h"

namespace {

struct Communicator {
  explicit Communicator(MPI_Comm parent, const char* alias) {
    DO(MPI_Comm_dup(parent, &comm), "comm:C newcomm:C+", parent, comm, alias);
  }
  ~Communicator() { L_Comm_free(&comm); }
  Communicator(const Communicator&) = delete;
  MPI_Comm comm = MPI_COMM_NULL;
};

template <class T>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<int>() {
  return MPI_INT;
}
template <>
MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}

template <class T>
T sum(T v, MPI_Comm comm) {
  T out{};
  L_Allreduce(&v, &out, 1, type_of<T>(), MPI_SUM, comm);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  {
    const auto c = std::make_unique<Communicator>(MPI_COMM_WORLD, "@@owned");
    EXPECT(sum<int>(1, c->comm) == size);
    EXPECT(sum<double>(0.5, c->comm) == 0.5 * size);
    std::vector<double> out(100, rank), in(100);
    std::vector<MPI_Request> requests(2);
    std::vector<MPI_Status> statuses(2);
    const auto exchange = [&](int tag) {
      const int to = (rank + 1) % size, from = (rank + size - 1) % size;
      L_Irecv(in.data(), 100, MPI_DOUBLE, from, tag, c->comm, &requests[0]);
      L_Isend(out.data(), 100, MPI_DOUBLE, to, tag, c->comm, &requests[1]);
      L_Waitall(2, requests.data(), statuses.data());
      EXPECT(in[99] == from);
    };
    for (int tag = 0; tag < 5; ++tag) exchange(tag);
  }
  log_finalize();
  std::printf("rank %d of %d done\n", rank, size);
  return 0;
}
