"""Threads that call MPI at the same time, each from a place of its own."""
import threading

from mpi4py import MPI

import written


def first(comm):
    for _ in range(20):
        written.write("MPI_Ibarrier"), comm.Ibarrier().Wait()


def second(comm):
    for _ in range(20):
        written.write("MPI_Bcast"), comm.Bcast(bytearray(8))


written.begin(0)
if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
    workers = [threading.Thread(target=f, args=(MPI.COMM_WORLD.Dup(),)) for f in (first, second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
else:
    first(MPI.COMM_WORLD)
    second(MPI.COMM_WORLD)
