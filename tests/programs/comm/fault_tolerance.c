// The functions for failed processes, in a job where none has failed: agreement, shrinking,
// revocation, and who has failed.
#include "calls.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000)
#define CAN_TOLERATE

static void end_group(MPI_Group g) {
  int n;
  DO(MPI_Group_size(g, &n), "group:G size:i", g, 0);
  EXPECT(n == 0);
  if (g != MPI_GROUP_EMPTY) L_Group_free(&g);
}

static void who_failed(MPI_Comm c) {
  MPI_Group g;
  DO(MPIX_Comm_get_failed(c, &g), "comm:C failedgrp:G+", c, g);
  end_group(g);
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
  int acked;
  DO(MPIX_Comm_failure_ack(c), "comm:C", c);
  DO(MPIX_Comm_failure_get_acked(c, &g), "comm:C failedgrp:G+", c, g);
  end_group(g);
  DO(MPIX_Comm_ack_failed(c, 0, &acked), "comm:C num_to_ack:i num_acked:i", c, 0, 0);
  EXPECT(acked == 0);
#endif
}

#ifdef OMPI_HAVE_MPI_EXT_FTMPI
static void agree(MPI_Comm c, int rank) {
  int flag = 6 | (rank == 0);
  DO(MPIX_Comm_agree(c, &flag), "comm:C flag:i", c, 6);
  EXPECT(flag == 6);
  MPI_Request r;
  flag = 5;
  DO(MPIX_Comm_iagree(c, &flag, &r), "comm:C request:R+", c, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(flag == 5);
}

static void shrink(MPI_Comm c, int size) {
  MPI_Comm rest;
  int n;
  DO(MPIX_Comm_shrink(c, &rest), "comm:C newcomm:C+", c, rest, "@@rest");
  L_Comm_size(rest, &n);
  EXPECT(n == size);
  L_Comm_free(&rest);
#ifdef OMPI_HAVE_MPIX_COMM_ISHRINK
  MPI_Request r;
  DO(MPIX_Comm_ishrink(c, &rest, &r), "comm:C request:R+", c, &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  L_Comm_size(rest, &n);
  EXPECT(n == size);
  L_Comm_free(&rest);
#endif
}

static void revoke(MPI_Comm c) {
  int revoked;
  DO(MPIX_Comm_is_revoked(c, &revoked), "comm:C flag:i", c, 0);
  EXPECT(!revoked);
  DO(MPIX_Comm_revoke(c), "comm:C", c);
  DO(MPIX_Comm_is_revoked(c, &revoked), "comm:C flag:i", c, 1);
  EXPECT(revoked);
}
#endif
#endif

int main(int argc, char** argv) {
#ifndef CAN_TOLERATE
  (void)argc, (void)argv;
  SKIP("no functions for failed processes in this MPI");
#else
  int rank, size;
  MPI_Comm c;
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &c), "comm:C newcomm:C+", MPI_COMM_WORLD, c, "@@tolerant");
  DO(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN), "comm:C errhandler:E", c, MPI_ERRORS_RETURN);
  who_failed(c);
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
  // MPICH 4.2 and 5.0 declare these too, and end the job in them.
  agree(c, rank);
  shrink(c, size);
  L_Barrier(MPI_COMM_WORLD);
  revoke(c);
#endif
  L_Comm_free(&c);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
