// Handles of every kind as those of Fortran and back. Where mpi.h has macros for it nothing is
// called, and nothing is logged.
#include "calls.h"

#ifdef NO_HANDLES_OF_FORTRAN

int main(void) { return 77; }

#else

#define FORTH_AND_BACK(kind, name, letter, type, h)                                     \
  do {                                                                                  \
    const type handle_ = h;                                                             \
    type back_;                                                                         \
    MPI_Fint n_;                                                                        \
    GET(n_, MPI_##kind##_c2f(handle_), name ":" letter " =return:i", handle_, (int)n_); \
    GET(back_, MPI_##kind##_f2c(n_), name ":i =return:" letter, (int)n_, back_);        \
    EXPECT(back_ == handle_);                                                           \
  } while (0)

static void of_the_world(void) {
#ifndef MPI_Comm_c2f
  FORTH_AND_BACK(Comm, "comm", "C", MPI_Comm, MPI_COMM_WORLD);
#endif
#ifndef MPI_Type_c2f
  FORTH_AND_BACK(Type, "datatype", "D", MPI_Datatype, MPI_DOUBLE);
#endif
#ifndef MPI_Group_c2f
  FORTH_AND_BACK(Group, "group", "G", MPI_Group, MPI_GROUP_EMPTY);
#endif
#ifndef MPI_Op_c2f
  FORTH_AND_BACK(Op, "op", "O", MPI_Op, MPI_SUM);
#endif
#ifndef MPI_Errhandler_c2f
  FORTH_AND_BACK(Errhandler, "errhandler", "E", MPI_Errhandler, MPI_ERRORS_RETURN);
#endif
#ifndef MPI_Info_c2f
  FORTH_AND_BACK(Info, "info", "N", MPI_Info, MPI_INFO_NULL);
#endif
#ifndef MPI_Message_c2f
  FORTH_AND_BACK(Message, "message", "M", MPI_Message, MPI_MESSAGE_NO_PROC);
#endif
#ifndef MPI_Win_c2f
  FORTH_AND_BACK(Win, "win", "W", MPI_Win, MPI_WIN_NULL);
#endif
#ifndef MPI_File_c2f
  FORTH_AND_BACK(File, "file", "F", MPI_File, MPI_FILE_NULL);
#endif
#if MPI_VERSION >= 4 && !defined(MPI_Session_c2f)
  FORTH_AND_BACK(Session, "session", "X", MPI_Session, MPI_SESSION_NULL);
#endif
}

static void of_a_message(int rank, int size) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int out = rank, in = -1;
  MPI_Request r, again;
  MPI_Status st, back;
  L_Irecv(&in, 1, MPI_INT, from, 4, MPI_COMM_WORLD, &r);
  again = r;
#ifndef MPI_Request_c2f
  MPI_Fint n;
  GET(n, MPI_Request_c2f(r), "request:R =return:i", &r, (int)n);
  GET(again, MPI_Request_f2c(n), "request:i =return:R", (int)n, &r);
#endif
  EXPECT(again == r);
  L_Send(&out, 1, MPI_INT, to, 4, MPI_COMM_WORLD);
  L_Wait(&r, &st);
  MPI_Fint words[sizeof(MPI_Status) / sizeof(MPI_Fint) + 8];
  DO(MPI_Status_c2f(&st, words), "c_status:S f_status:b", &st, words, "stack");
  DO(MPI_Status_f2c(words, &back), "f_status:b c_status:S", words, "stack", &st);
  EXPECT(back.MPI_SOURCE == from && back.MPI_TAG == 4);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  of_the_world();
  of_a_message(rank, size);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}

#endif
