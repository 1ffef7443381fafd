/* refrain/coupling.h: programs of one MPI job that find each other and send each other streams of
 * data. C and C++; link librefrain-coupling-mpich.so or librefrain-coupling-openmpi.so before the
 * MPI library.
 *
 *   mpiexec -n 4 ./simulation : -n 1 ./analyser       two programs, one job
 *
 *   MPI_Init(&argc, &argv);                                          the simulation
 *   const struct refrain_partition* other = refrain_partition_by_name("Analyser");
 *   refrain_map* map = refrain_map_new();
 *   refrain_map_partition(map, other->id, REFRAIN_MAP_ROUND_ROBIN, 0);
 *   refrain_stream* stream = refrain_stream_new(1 << 20, REFRAIN_BALANCE_ROUND_ROBIN);
 *   refrain_stream_open_map(stream, map, "w");
 *   refrain_stream_write(stream, data, 1, 0);                        one block of 1 MiB
 *   refrain_stream_close(stream);
 *
 * examples/coupling has both programs whole, docs/coupling.md explains the parts. The ideas are
 * those of the online-coupling paper: partitions and maps (section III-A, Figures 7 and 8), streams
 * (Figures 9, 11 and 12).
 *
 * Start. MPI_Init and MPI_Init_thread of this library call MPI's and then exchange the partitions:
 * this is collective over MPI_COMM_WORLD, so every program of the job must be linked with the
 * library, of the same version. A program whose MPI_Init does not come by here (Fortran under Open
 * MPI) calls refrain_coupling_start() itself.
 *
 * Threads. One thread at a time calls these functions, one that may call MPI. The library has no
 * thread of its own: data move inside these calls and inside calls of MPI.
 *
 * Failures. Functions that return int give one of the codes below zero, those that return a pointer
 * NULL; refrain_coupling_error() has a line of text. Nothing ends the program.
 *
 * Ownership. The library owns what it returns as const, until MPI_Finalize. What a function named
 * ..._new returned belongs to the caller. Functions that write and read copy data: a buffer is the
 * caller's again when the call returns. Those that acquire and borrow do not copy: the caller fills
 * or looks at the library's memory.
 */
#ifndef REFRAIN_COUPLING_H_
#define REFRAIN_COUPLING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Ends of streams say it to each other: another one is
 * REFRAIN_EMISMATCH. */
#define REFRAIN_COUPLING_VERSION 2

#define REFRAIN_EAGAIN                                                                           \
  (-1)                     /* nothing to read, or no buffer to write: with REFRAIN_NONBLOCK only \
                            */
#define REFRAIN_EDIED (-2) /* a process at the other end died, or left MPI with the stream open */
#define REFRAIN_EINVALID (-3)  /* an argument, or a call at the wrong time */
#define REFRAIN_EMISMATCH (-4) /* the two ends differ in version, block size or direction */
#define REFRAIN_EMPI (-5)      /* an MPI function failed */
#define REFRAIN_ENOMEM (-6)    /* no memory for buffers */

/* What the last function that failed in this process has to say, one line; "" before the first one.
 */
const char* refrain_coupling_error(void);

/* Collective over MPI_COMM_WORLD, once, between MPI_Init and MPI_Finalize. 0 also when MPI_Init has
 * done it already. */
int refrain_coupling_start(void);

/* -- partitions: the processes of one program -- */

struct refrain_partition {
  int id;                   /* 0 .. refrain_partition_count() - 1, by their first ranks */
  const char* name;         /* as set before MPI_Init; else the command line */
  const char* command_line; /* of its first process: words with a blank between */
  int size;                 /* processes */
  const int* ranks;         /* their ranks in the universe, ascending */
};

/* Before MPI_Init: processes that set equal names form a partition. Processes that set none form
 * partitions by equal command lines. At most 4096 bytes. */
int refrain_partition_set_name(const char* name);

int refrain_partition_count(void);
int refrain_partition_id(void); /* of the calling process */
const struct refrain_partition* refrain_partition_by_id(int id);
/* NULL when there is none: a partition can find out who else is there. */
const struct refrain_partition* refrain_partition_by_name(const char* name);

/* Communicators as Fortran handles (MPI_Comm_f2c makes them C's): all processes of the job, and
 * those of the own partition in the order of their ranks. Valid until MPI_Finalize; not to be
 * freed. REFRAIN_EINVALID is no handle: it is returned before the start. */
int refrain_universe_comm(void);
int refrain_partition_comm(void);

/* -- maps: who talks to whom -- */

typedef struct refrain_map refrain_map;

enum refrain_map_policy {
  REFRAIN_MAP_ROUND_ROBIN =
      0, /* process i of the larger partition to process i mod size of the smaller */
  REFRAIN_MAP_RANDOM =
      1,                /* by the seed; every process of the smaller partition gets one at least */
  REFRAIN_MAP_FIXED = 2 /* blocks of neighbours */
};

refrain_map* refrain_map_new(void);
void refrain_map_free(refrain_map* map);
void refrain_map_clear(refrain_map* map);

/* Adds partners in another partition; every process of both gets one at least. All processes of
 * both partitions call it with the same policy and seed. No messages: each computes its own.
 * Returns the partners that it added. */
int refrain_map_partition(refrain_map* map, int partition, int policy, unsigned long long seed);

/* Chooses a process of the smaller partition, 0 .. target_count - 1, for process `source` of the
 * larger one; or -1 for none. */
typedef int (*refrain_map_chooser)(int source, int source_count, int target_count, void* context);

/* The same by a function. All processes of both partitions call it, maps of the same pair in the
 * same order. Only the function of the pivot is called, the first process of the smaller partition
 * (of equal ones, of that with the smaller id); it tells all others. A choice out of range is
 * REFRAIN_EINVALID everywhere. Returns the partners that it added, 0 where the function chose none.
 */
int refrain_map_partition_by(refrain_map* map, int partition, refrain_map_chooser choose,
                             void* context);

/* Partners by their ranks in the universe, in the order in which they were added, none twice. */
int refrain_map_size(const refrain_map* map);
const int* refrain_map_ranks(const refrain_map* map);

/* -- streams: blocks of data, as through a pipe -- */

typedef struct refrain_stream refrain_stream;

/* Which end is next, of several. Blocks between two processes keep their order with each of them.
 */
enum refrain_balance {
  REFRAIN_BALANCE_NONE =
      0, /* write to the first one that lives; look for blocks in the order of the map */
  REFRAIN_BALANCE_RANDOM = 1, /* write to any; begin to look at any */
  REFRAIN_BALANCE_ROUND_ROBIN =
      2 /* write to the next one; begin to look behind the last one that had a block */
};

#define REFRAIN_NONBLOCK 1

/* block_bytes: 0 for 1 MiB; the same at both ends. The balance is of this end. NULL: no such
 * balance. A process keeps up to 32 MiB of blocks of closed streams for the streams to come. */
refrain_stream* refrain_stream_new(size_t block_bytes, int balance);

/* N_A of the paper: blocks that a reader holds ready for each writer, and blocks that a writer
 * shares among all its readers. 3 unless set, before the stream is opened; 1 to 64. */
int refrain_stream_set_buffers(refrain_stream* stream, int buffers);

/* mode: "r", "w" or "rw", what this end does. Does not wait for the other end. Both ends open the
 * streams between the same two processes in the same order. May be called again, for further
 * partners. */
int refrain_stream_open_map(refrain_stream* stream, const refrain_map* map, const char* mode);
int refrain_stream_open_rank(refrain_stream* stream, int rank, const char* mode);

/* Writes blocks, each to one partner. Returns as soon as all are copied: it waits while all N_A
 * buffers are full. Returns the number of blocks written, with REFRAIN_NONBLOCK perhaps fewer, or
 * REFRAIN_EAGAIN for none; the next attempt then takes the next partner. After REFRAIN_EDIED
 * another call goes on with the readers that live. */
int refrain_stream_write(refrain_stream* stream, const void* data, int blocks, int flags);

/* Reads blocks from any partner. Returns the number of blocks read, 0 when all writers closed the
 * stream (or died, which was said), or a code: REFRAIN_EAGAIN when no partner has one;
 * REFRAIN_EDIED once for writers that died, whose blocks before that were read:
 * refrain_stream_dead() names them, and another call goes on with the others. */
int refrain_stream_read(refrain_stream* stream, void* data, int blocks, int flags);

/* One block of 1 .. block_bytes bytes. Returns `bytes`, or a code. */
long refrain_stream_write_bytes(refrain_stream* stream, const void* data, size_t bytes, int flags);
/* One block, of any size: `data` has room for block_bytes. Returns its bytes, 0 at the end, or a
 * code; *from (unless NULL) becomes the rank that wrote it. */
long refrain_stream_read_bytes(refrain_stream* stream, void* data, int flags, int* from);

/* -- the same without a copy --
 *
 *   void* block;
 *   refrain_stream_acquire(stream, &block, 0);                     the writer
 *   const size_t bytes = fill(block);
 *   refrain_stream_commit(stream, block, bytes, 0);
 *
 *   const void* block;                                             the reader
 *   long bytes = refrain_stream_borrow(stream, &block, 0, NULL);
 *   look_at(block, bytes);
 *   refrain_stream_release(stream, block);
 *
 * Blocks begin at a multiple of 64 bytes. Both ways may be mixed, at one end and between the ends.
 * The stream's end frees all blocks. */

/* Gives one of the N_A buffers to fill, room for block_bytes; its content is not set. Waits while
 * all are full. 0, or a code; REFRAIN_EINVALID also when it would wait and the caller has all of
 * them already. */
int refrain_stream_acquire(refrain_stream* stream, void** block, int flags);
/* Sends the first `bytes` bytes of it as one block, to the partner that the balance chooses. Waits
 * only until that one has opened its end. Returns `bytes`: then the block is the library's. 0 bytes
 * send nothing and give the block back. After a code the caller still has the block, except after
 * REFRAIN_EDIED for a partner to which it was already on its way. */
long refrain_stream_commit(refrain_stream* stream, void* block, size_t bytes, int flags);

/* Gives the next block of any partner to look at, and *from as refrain_stream_read_bytes() does.
 * Returns its bytes, 0 at the end, or a code. Until the block is released its writer has one buffer
 * less on this side: who borrows N_A blocks of a writer gets no more of it. A call that would wait
 * while all buffers of all writers are borrowed is REFRAIN_EINVALID. */
long refrain_stream_borrow(refrain_stream* stream, const void** block, int flags, int* from);
/* In any order. 0, or a code. */
int refrain_stream_release(refrain_stream* stream, const void* block);

/* Partners that died, in the order in which it was noticed: stores at most `count` ranks, returns
 * how many there are. A death is noticed when the process was on this host, or MPI says so; MPI
 * usually ends the job first. */
int refrain_stream_dead(const refrain_stream* stream, int* ranks, int count);

/* Takes back all blocks, tells readers that there is no more, waits until they have everything,
 * reads and throws away what writers still send until they close too, and frees the stream. 0, or
 * the first code. A stream that is open in MPI_Finalize is closed there, and its readers get
 * REFRAIN_EDIED. */
int refrain_stream_close(refrain_stream* stream);

#ifdef __cplusplus
}
#endif
#endif /* REFRAIN_COUPLING_H_ */
