// Calls from a function whose name is long: names.cc N. Rank 1 comes late.
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

namespace solver {

template <class T, int kSize>
struct Cell {};

template <class T, class C>
class Grid {
 public:
  __attribute__((noinline)) void exchange(int rank, int times) {
    for (int i = 0; i < times; ++i) {
      if (rank == 1) usleep(2000);
      MPI_Barrier(MPI_COMM_WORLD);
      value_ += T(rank);
    }
  }

 private:
  T value_ = 0;
};

}  // namespace solver

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  solver::Grid<double, solver::Cell<int, 7> > grid;
  grid.exchange(rank, argc > 1 ? std::atoi(argv[1]) : 5);
  MPI_Finalize();
  return 0;
}
