// Before, between and behind its calls the program works with containers.
#include <cstddef>
#include <cstdio>

#include "calls.h"

size_t use_containers(size_t n);

int main(int argc, char** argv) {
  int rank, size;
  const size_t before = use_containers(100);
  log_init(&argc, &argv, &rank, &size);
  size_t all = 0;
  // So many that the largest tables have more than 256 kB.
  for (size_t n = 100; n < 100000; n *= 200) {
    all += use_containers(n);
    int mine = rank, sum = 0;
    L_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == size * (size - 1) / 2);
  }
  log_finalize();
  std::printf("rank %d of %d: %zu %zu %zu\n", rank, size, before, all, use_containers(1000));
  return 0;
}
