// Names of ports: published, looked up, taken back, and looked up in vain.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  DO(MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  DO(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "comm:C errhandler:E",
     MPI_COMM_SELF, MPI_ERRORS_RETURN);
  char service[64], port[MPI_MAX_PORT_NAME] = "";
  snprintf(service, sizeof service, "refrain_test_%d", rank);
  const int rc = DO(MPI_Publish_name(service, MPI_INFO_NULL, "a port's name"),
                    "service_name:s info:N port_name:s", service, MPI_INFO_NULL, "a port's name");
  if (rc == MPI_SUCCESS) {
    DO(MPI_Lookup_name(service, MPI_INFO_NULL, port), "service_name:s info:N port_name:s", service,
       MPI_INFO_NULL, "a port's name");
    EXPECT(strcmp(port, "a port's name") == 0);
    DO(MPI_Unpublish_name(service, MPI_INFO_NULL, port), "service_name:s info:N port_name:s",
       service, MPI_INFO_NULL, "a port's name");
  }
  // One that was never published; what a failed call leaves in the output is nobody's business.
  const int failed = DO(MPI_Lookup_name("refrain_test_absent", MPI_INFO_NULL, port),
                        "service_name:s info:N", "refrain_test_absent", MPI_INFO_NULL);
  EXPECT(failed != MPI_SUCCESS);
  const int again =
      DO(MPI_Unpublish_name("refrain_test_absent", MPI_INFO_NULL, "x"),
         "service_name:s info:N port_name:s", "refrain_test_absent", MPI_INFO_NULL, "x");
  (void)again;  // MPIs differ
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
