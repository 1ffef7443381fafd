// What Open MPI's and MPICH's extensions say of devices.
#include "calls.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

int main(int argc, char** argv) {
#if !defined(OMPI_HAVE_MPI_EXT_ROCM) && (!defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000)
  (void)argc, (void)argv;
  SKIP("this MPI says nothing of devices");
#else
  int rank, size, supported;
  log_init(&argc, &argv, &rank, &size);
  GET(supported, MPIX_Query_cuda_support(), "=return:i", supported);
#ifdef OMPI_HAVE_MPI_EXT_ROCM
  GET(supported, MPIX_Query_rocm_support(), "=return:i", supported);
#else
  GET(supported, MPIX_Query_hip_support(), "=return:i", supported);
  GET(supported, MPIX_Query_ze_support(), "=return:i", supported);
  DO(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported), "is_supported:i", supported);
#endif
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
