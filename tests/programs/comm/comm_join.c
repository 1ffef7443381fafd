// Two ranks with a socket between them make an inter-communicator of it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calls.h"

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons((unsigned short)port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Rank 1 listens, and says where.
static int connected(int rank) {
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int port = 0, fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(fd >= 0);
  if (rank == 0) {
    L_Recv(&port, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    address = loopback(port);
    EXPECT(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    return fd;
  }
  EXPECT(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 1) == 0);
  EXPECT(getsockname(fd, (struct sockaddr*)&address, &length) == 0);
  port = ntohs(address.sin_port);
  L_Send(&port, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
  const int accepted = accept(fd, NULL, NULL);
  EXPECT(accepted >= 0);
  close(fd);
  return accepted;
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  if (rank < 2) {
    const int fd = connected(rank);
    MPI_Comm inter, old;
    DO(MPI_Comm_join(fd, &inter), "fd:i intercomm:C+", fd, inter, "@@joined");
    int value = rank + 5, got = 0;
    DO(MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE),
       "dest:r source:r comm:C", 0, 0, inter);
    EXPECT(got == 6 - rank);
    old = inter;
    DO(MPI_Comm_disconnect(&inter), "comm:C-", old);
    close(fd);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
