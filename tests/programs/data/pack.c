// Packing: positions before and after, the external representation too.
#include "calls.h"

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  char buffer[256], received[256];
  int position = 0, n, numbers[4] = {rank, 1, 2, 3};
  double x = 2.5;
  DO(MPI_Pack_size(4, MPI_INT, W, &n), "incount:i datatype:D comm:C size:i", 4, MPI_INT, W, n);
  DO(MPI_Pack(numbers, 4, MPI_INT, buffer, 256, &position, W),
     "incount:i datatype:D outsize:i position:i position_in:i comm:C", 4, MPI_INT, 256, 16, 0, W);
  DO(MPI_Pack(&x, 1, MPI_DOUBLE, buffer, 256, &position, W),
     "incount:i datatype:D outsize:i position:i position_in:i comm:C", 1, MPI_DOUBLE, 256, 24, 16,
     W);
  MPI_Status st;
  DO(MPI_Sendrecv(buffer, position, MPI_PACKED, (rank + 1) % size, 1, received, 256, MPI_PACKED,
                  (rank + size - 1) % size, 1, W, &st),
     "sendcount:i sendtype:D recvcount:i recvtype:D status:S", 24, MPI_PACKED, 256, MPI_PACKED,
     &st);
  position = 0;
  DO(MPI_Unpack(received, 256, &position, numbers, 4, MPI_INT, W),
     "insize:i position:i position_in:i outcount:i datatype:D comm:C", 256, 16, 0, 4, MPI_INT, W);
  EXPECT(numbers[0] == (rank + size - 1) % size);
  MPI_Aint at = 0, external;
  DO(MPI_Pack_external_size("external32", 4, MPI_INT, &external),
     "datarep:s incount:i datatype:D size:i", "external32", 4, MPI_INT, 16);
  DO(MPI_Pack_external("external32", numbers, 4, MPI_INT, buffer, 256, &at),
     "datarep:s incount:i datatype:D outsize:i position:i position_in:i", "external32", 4, MPI_INT,
     256, 16, 0);
  at = 0;
  DO(MPI_Unpack_external("external32", buffer, 256, &at, numbers, 4, MPI_INT),
     "datarep:s insize:i position:i position_in:i outcount:i datatype:D", "external32", 256, 16, 0,
     4, MPI_INT);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
