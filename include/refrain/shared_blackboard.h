/* refrain/shared_blackboard.h: one blackboard of all ranks of an MPI job. C and C++; link
 * librefrain-blackboard-mpich.so or librefrain-blackboard-openmpi.so, and librefrain-blackboard.so.
 *
 *   refrain_shared_board* board = refrain_shared_board_new(MPI_Comm_c2f(MPI_COMM_WORLD), 4, 0);
 *   const refrain_type pack = refrain_type_of("job 7", "event pack");
 *   refrain_shared_board_add(board, "unpacker", &pack, 1, unpack, board);        on all ranks
 *   if (has_data) refrain_shared_board_submit_copy(board, pack, data, bytes);    on any
 *   refrain_shared_board_wait(board);                       until no rank has anything left to do
 *   refrain_shared_board_free(board);
 *
 * examples/blackboard/histogram.c is a whole program. Entries, types and operations are those of
 * refrain/blackboard.h; every rank has such a board for the sources that live there.
 *
 * Who has what. Each type has an owner, one of the ranks. A source lives at the owner of its first
 * sensitivity, and nowhere else. An entry that is submitted on any rank goes to each rank where a
 * source is sensitive to its type: so a source sees what it would see if there were one rank. Which
 * entries come together in a job, and in which order jobs run, may depend on the ranks as it
 * depends on threads; the entries of one thread of one rank keep their order at each source.
 *
 * How. Entries are put one-sided (MPI_Put, passive target) into a ring of memory at the other rank,
 * one for each pair. An entry of any size goes through it.
 *
 * Memory. A board holds at most a number of bytes of payload, those on their way to other ranks
 * included: then submitting, except in operations, waits as long as there are jobs that give memory
 * back, and the rank takes nothing out of its rings, so those that write to it wait too. What is
 * left when no job runs waits for other entries, and does not keep anybody.
 *
 * Threads. One thread of each rank calls these functions, one that may call MPI; MPI is called by
 * no other. Operations may call refrain_shared_board_submit(), _submit_copy() and _owner(), on any
 * thread. Entries move while a thread is in refrain_shared_board_submit(), _progress() or _wait():
 * a rank that does something else for long calls _progress() now and then.
 *
 * Failures. Codes below zero, those of refrain/blackboard.h and REFRAIN_BOARD_EMPI; nothing ends
 * the program. After REFRAIN_BOARD_EMPI a board can only be freed. */
#ifndef REFRAIN_SHARED_BLACKBOARD_H_
#define REFRAIN_SHARED_BLACKBOARD_H_

#include "refrain/blackboard.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REFRAIN_BOARD_EMPI (-4) /* an MPI function failed */

typedef struct refrain_shared_board refrain_shared_board;

/* Collective. comm: a Fortran handle (MPI_Comm_c2f makes it of C's). workers and most_bytes: as of
 * refrain_blackboard_new(), of this rank; they may differ among ranks. NULL: no memory, no threads,
 * or MPI failed, on this or another rank. */
refrain_shared_board* refrain_shared_board_new(int comm, int workers, size_t most_bytes);
/* Collective. Waits, as below, and frees it. */
void refrain_shared_board_free(refrain_shared_board* board);

/* Every rank calls this with the same sensitivities in the same order, before the first entry is
 * submitted and not in an operation; operation and context are called at the source's rank only. As
 * refrain_source_add() otherwise. Returns the rank where the source lives, or a code. */
int refrain_shared_board_add(refrain_shared_board* board, const char* name,
                             const refrain_type* sensitivities, int count,
                             refrain_operation operation, void* context);
/* The rank that owns a type: spread by the type, or as refrain_shared_board_give() said. */
int refrain_shared_board_owner(const refrain_shared_board* board, refrain_type type);
/* Makes a rank the owner. Every rank calls it alike, before sources are added. */
int refrain_shared_board_give(refrain_shared_board* board, refrain_type type, int rank);

/* As refrain_blackboard_submit(), to all ranks' sources. Not REFRAIN_BOARD_EFULL: see Memory. */
int refrain_shared_board_submit(refrain_shared_board* board, refrain_entry* entry);
int refrain_shared_board_submit_copy(refrain_shared_board* board, refrain_type type,
                                     const void* data, size_t bytes);

/* Sends and takes what can be, without waiting for anybody (and runs jobs, with 0 workers). */
int refrain_shared_board_progress(refrain_shared_board* board);
/* Collective: until no job is left on any rank and nothing is on its way. More may be submitted
 * afterwards. */
int refrain_shared_board_wait(refrain_shared_board* board);

/* The board of this rank, for refrain_blackboard_count() and _failures(). */
refrain_blackboard* refrain_shared_board_local(refrain_shared_board* board);

#ifdef __cplusplus
}
#endif
#endif /* REFRAIN_SHARED_BLACKBOARD_H_ */
