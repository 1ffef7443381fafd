// Handles of every kind as integers and back (MPI 5.0): predefined ones and the program's own.
#include "calls.h"

#if MPI_VERSION >= 5
#define THERE_AND_BACK(kind, name, letter, type, h)                                  \
  do {                                                                               \
    const type handle_ = h;                                                          \
    type back_;                                                                      \
    int n_;                                                                          \
    GET(n_, MPI_##kind##_toint(handle_), name ":" letter " =return:i", handle_, n_); \
    GET(back_, MPI_##kind##_fromint(n_), name ":i =return:" letter, n_, back_);      \
    EXPECT(back_ == handle_);                                                        \
  } while (0)

static void predefined(void) {
  THERE_AND_BACK(Comm, "comm", "C", MPI_Comm, MPI_COMM_WORLD);
  THERE_AND_BACK(Type, "datatype", "D", MPI_Datatype, MPI_DOUBLE);
  THERE_AND_BACK(Group, "group", "G", MPI_Group, MPI_GROUP_EMPTY);
  THERE_AND_BACK(Op, "op", "O", MPI_Op, MPI_SUM);
  THERE_AND_BACK(Errhandler, "errhandler", "E", MPI_Errhandler, MPI_ERRORS_RETURN);
  THERE_AND_BACK(Info, "info", "N", MPI_Info, MPI_INFO_NULL);
  THERE_AND_BACK(Message, "message", "M", MPI_Message, MPI_MESSAGE_NO_PROC);
  THERE_AND_BACK(Win, "win", "W", MPI_Win, MPI_WIN_NULL);
  THERE_AND_BACK(File, "file", "F", MPI_File, MPI_FILE_NULL);
}

static void sum(void* in, void* inout, int* n, MPI_Datatype* t) {
  (void)in, (void)inout, (void)n, (void)t;
}
static void ignore(MPI_Comm* c, int* code, ...) { (void)c, (void)code; }

static void own_objects(void) {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Group group;
  MPI_Op op;
  MPI_Errhandler errhandler;
  MPI_Info info;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "comm:C newcomm:C+", MPI_COMM_WORLD, comm, "@@dup");
  THERE_AND_BACK(Comm, "comm", "C", MPI_Comm, comm);
  DO(MPI_Type_contiguous(3, MPI_INT, &type), "count:i oldtype:D newtype:D+", 3, MPI_INT, type);
  THERE_AND_BACK(Type, "datatype", "D", MPI_Datatype, type);
  DO(MPI_Comm_group(comm, &group), "comm:C group:G+", comm, group);
  THERE_AND_BACK(Group, "group", "G", MPI_Group, group);
  DO(MPI_Op_create(sum, 1, &op), "commute:i op:O+", 1, op);
  THERE_AND_BACK(Op, "op", "O", MPI_Op, op);
  DO(MPI_Comm_create_errhandler(ignore, &errhandler), "errhandler:E+", errhandler);
  THERE_AND_BACK(Errhandler, "errhandler", "E", MPI_Errhandler, errhandler);
  DO(MPI_Info_create(&info), "info:N+", info);
  THERE_AND_BACK(Info, "info", "N", MPI_Info, info);
  L_Comm_free(&comm);
  L_Type_free(&type);
  L_Group_free(&group);
  const MPI_Op old_op = op;
  DO(MPI_Op_free(&op), "op:O-", old_op);
  const MPI_Errhandler old_errhandler = errhandler;
  DO(MPI_Errhandler_free(&errhandler), "errhandler:E-", old_errhandler);
  const MPI_Info old_info = info;
  DO(MPI_Info_free(&info), "info:N-", old_info);
}

static void window_session_file(void) {
  static int memory[4];
  MPI_Win win;
  MPI_Session session;
  MPI_File file;
  char path[4096];
  DO(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
     "disp_unit:i info:N comm:C win:W+", 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
  THERE_AND_BACK(Win, "win", "W", MPI_Win, win);
  const MPI_Win old_win = win;
  DO(MPI_Win_free(&win), "win:W-", old_win);
  DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), "session:X+", session);
  THERE_AND_BACK(Session, "session", "X", MPI_Session, session);
  const MPI_Session old_session = session;
  DO(MPI_Session_finalize(&session), "session:X-", old_session);
  const char* folder = getenv("REFRAIN_TEST_DIR");
  snprintf(path, sizeof path, "%s/integers.bin", folder ? folder : "/tmp");
  DO(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
     "comm:C filename:s info:N fh:F+", MPI_COMM_WORLD, path, MPI_INFO_NULL, file);
  THERE_AND_BACK(File, "file", "F", MPI_File, file);
  const MPI_File old_file = file;
  DO(MPI_File_close(&file), "fh:F-", old_file);
}

static void request_and_message(int to, int from) {
  int n, in, out = 5;
  MPI_Request r, back;
  MPI_Message m, old;
  L_Isend(&out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r);
  GET(n, MPI_Request_toint(r), "request:R =return:i", &r, n);
  GET(back, MPI_Request_fromint(n), "request:i =return:R", n, &r);
  EXPECT(back == r);
  DO(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE), "source:r tag:t comm:C message:M+",
     from, 1, MPI_COMM_WORLD, m);
  THERE_AND_BACK(Message, "message", "M", MPI_Message, m);
  old = m;
  DO(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE), "count:i datatype:D message:M-", 1, MPI_INT,
     old);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in == 5);
}
#endif

int main(int argc, char** argv) {
#if MPI_VERSION < 5
  (void)argc, (void)argv;
  SKIP("no handles as integers in this MPI");
#else
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  predefined();
  own_objects();
  window_session_file();
  request_and_message((rank + 1) % size, (rank + size - 1) % size);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
