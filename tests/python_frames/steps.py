"""Calls of MPI from functions, methods, generators, lambdas and from Python that C called."""
import _ctypes
import functools
import threading

from mpi4py import MPI

import written

world = MPI.COMM_WORLD


def exchange():
    written.write("MPI_Barrier"), world.Barrier()
    world_rank = world.Get_rank()  # another call between
    written.write("MPI_Barrier"), world.Barrier()
    return world_rank


class Solver:
    def step(self, depth):
        if depth > 0:
            return self.step(depth - 1)
        return exchange()


def rounds(times):
    for i in range(times):
        written.write("MPI_Barrier"), world.Barrier()
        yield i


def deeper(times):
    yield from rounds(times)


def größer():
    written.write("MPI_Barrier"), world.Barrier()


written.begin(world.Get_rank())
for _ in range(3):
    exchange()
Solver().step(1)
Solver().step(20)  # deeper than a path
for _ in deeper(2):
    pass
list(rounds(2))                                  # the interpreter's C calls the generator
sorted([2, 1], key=lambda x: (written.write("MPI_Barrier"), world.Barrier(), x)[2])
functools.reduce(lambda a, b: exchange(), [1, 2, 3])
exec(compile("\n\nexchange()", "made.py", "exec"))
größer()
_ctypes.dlclose(_ctypes.dlopen("libm.so.6", 0))  # what is known of addresses ends
for _ in range(3):
    exchange()
thread = threading.Thread(target=exchange)
thread.start()
thread.join()
