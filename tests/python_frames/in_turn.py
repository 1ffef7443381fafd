"""C functions, called by ctypes, come to MPI by several paths in an order that nobody can foresee."""
import ctypes
import random

from mpi4py import MPI

import written

world = MPI.COMM_WORLD
functions = ctypes.CDLL(None)  # in_turn.c is preloaded
handle = ctypes.c_void_p.from_address(MPI._addressof(world))
barrier = ctypes.cast(functions.MPI_Barrier, ctypes.c_void_p)


def call(function):
    written.write("MPI_Barrier", way=function.__name__), function(barrier, handle)


def first(function):
    call(function)


def second(function):
    call(function)


written.begin(world.Get_rank())
ways = [(caller, function) for caller in (first, second) for function in (functions.by_one, functions.by_other)]
order = random.Random(1)
before = 0
for i, (caller, function) in enumerate(ways + [order.choice(ways) for _ in range(200)]):
    if i == len(ways):  # each was there once
        before = functions.copies_so_far()
    caller(function)
written.note({"copies": functions.copies_so_far() - before})
