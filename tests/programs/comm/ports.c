// Two halves of a job that meet at a port, as two jobs would; a name for it where there is a server
// of names.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

// The port's name goes to the others by a message.
static void meet(MPI_Comm half, int is_server) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter, old;
  if (rank == 0) {
    DO(MPI_Open_port(MPI_INFO_NULL, port), "info:N port_name:s", MPI_INFO_NULL, port);
    L_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 5, W);
  } else if (rank == 1) {
    L_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 5, W, MPI_STATUS_IGNORE);
  }
  if (is_server)
    DO(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter), "root:r comm:C newcomm:C+", 0, half,
       inter, "@@met");
  else
    DO(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter), "root:r comm:C newcomm:C+", 0, half,
       inter, "@@met");
  int value = is_server ? 7 : 8;
  MPI_Group group;
  int others;
  DO(MPI_Comm_remote_group(inter, &group), "comm:C group:G+", inter, group);
  DO(MPI_Group_size(group, &others), "group:G size:i", group,
     is_server ? size / 2 : (size + 1) / 2);
  L_Group_free(&group);
  const int root = !is_server ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  L_Bcast(&value, 1, MPI_INT, root, inter);
  EXPECT(value == 7);
  old = inter;
  DO(MPI_Comm_disconnect(&inter), "comm:C-", old);
  if (rank == 0) DO(MPI_Close_port(port), "port_name:s", port);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  MPI_Comm half;
  const int is_server = rank % 2 == 0;
  DO(MPI_Comm_split(W, is_server, rank, &half), "comm:C color:i key:i newcomm:C+", W, is_server,
     rank, half, is_server ? "@@servers" : "@@clients");
  meet(half, is_server);
  L_Comm_free(&half);
  MPI_Comm parent;
  DO(MPI_Comm_get_parent(&parent), "parent:C", MPI_COMM_NULL);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
