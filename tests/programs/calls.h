// Calls that nearly every test program makes, with their log lines: L_Send(...) is MPI_Send(...).
#ifndef REFRAIN_TESTS_CALLS_H_
#define REFRAIN_TESTS_CALLS_H_

#include "log.h"

#define kSendSpec "count:i datatype:D dest:r tag:t comm:C"
#define kRecvSpec "count:i datatype:D source:r tag:t comm:C"

#define L_Send(b, n, t, d, g, c) DO(MPI_Send(b, n, t, d, g, c), kSendSpec, n, t, d, g, c)
#define L_Ssend(b, n, t, d, g, c) DO(MPI_Ssend(b, n, t, d, g, c), kSendSpec, n, t, d, g, c)
#define L_Isend(b, n, t, d, g, c, r) \
  DO(MPI_Isend(b, n, t, d, g, c, r), kSendSpec " request:R+", n, t, d, g, c, r)
#define L_Issend(b, n, t, d, g, c, r) \
  DO(MPI_Issend(b, n, t, d, g, c, r), kSendSpec " request:R+", n, t, d, g, c, r)
#define L_Recv(b, n, t, s, g, c, st) \
  DO(MPI_Recv(b, n, t, s, g, c, st), kRecvSpec " status:S", n, t, s, g, c, st)
// A wildcard receive that ignores its status; `from` and `tag` are what the payload said.
#define L_RecvMatched(b, n, t, s, g, c, from, tag)                                                \
  DO(MPI_Recv(b, n, t, s, g, c, MPI_STATUS_IGNORE), kRecvSpec " status:S =matched:j", n, t, s, g, \
     c, MPI_STATUS_IGNORE, json_message(from, tag))
#define L_Irecv(b, n, t, s, g, c, r) \
  DO(MPI_Irecv(b, n, t, s, g, c, r), kRecvSpec " request:R+", n, t, s, g, c, r)
#define L_Wait(r, st) DO(MPI_Wait(r, st), "request:R status:S", r, st)
#define L_Waitall(n, r, st)                                                                \
  DO(MPI_Waitall(n, r, st), "count:i array_of_requests:A array_of_statuses:T", n, n, r, n, \
     (const MPI_Status*)(st))
#define L_Barrier(c) DO(MPI_Barrier(c), "comm:C", c)
#define L_Bcast(b, n, t, root, c) \
  DO(MPI_Bcast(b, n, t, root, c), "count:i datatype:D root:r comm:C", n, t, root, c)
#define L_Allreduce(s, r, n, t, o, c) \
  DO(MPI_Allreduce(s, r, n, t, o, c), "count:i datatype:D op:O comm:C", n, t, o, c)
// MPI_Init_thread of a program that needs MPI_THREAD_MULTIPLE.
#define L_Init_multiple(argc, argv)                                                                \
  do {                                                                                             \
    int provided_;                                                                                 \
    MPI_Init_thread(&(argc), &(argv), MPI_THREAD_MULTIPLE, &provided_);                            \
    if (provided_ != MPI_THREAD_MULTIPLE) SKIP("this MPI has no MPI_THREAD_MULTIPLE");             \
    log_thread("main");                                                                            \
    DID("MPI_Init_thread", "required:s provided:s", "MPI_THREAD_MULTIPLE", "MPI_THREAD_MULTIPLE"); \
  } while (0)
#define L_Comm_rank(c, r) DO(MPI_Comm_rank(c, r), "comm:C rank:i", c, *(r))
#define L_Comm_size(c, s) DO(MPI_Comm_size(c, s), "comm:C size:i", c, *(s))
#define L_Comm_free(c)                       \
  do {                                       \
    const MPI_Comm freed_ = *(c);            \
    log_ending('C', &freed_, sizeof freed_); \
    DO(MPI_Comm_free(c), "comm:C-", freed_); \
  } while (0)
#define L_Type_commit(t) DO(MPI_Type_commit(t), "datatype:D", *(t))
#define L_Type_free(t)                           \
  do {                                           \
    const MPI_Datatype freed_ = *(t);            \
    log_ending('D', &freed_, sizeof freed_);     \
    DO(MPI_Type_free(t), "datatype:D-", freed_); \
  } while (0)
#define L_Win_free(w)                      \
  do {                                     \
    const MPI_Win freed_ = *(w);           \
    DO(MPI_Win_free(w), "win:W-", freed_); \
  } while (0)
#define L_Group_free(g)                        \
  do {                                         \
    const MPI_Group freed_ = *(g);             \
    log_ending('G', &freed_, sizeof freed_);   \
    DO(MPI_Group_free(g), "group:G-", freed_); \
  } while (0)

#endif  // REFRAIN_TESTS_CALLS_H_
