"""MPI calls of a Python program, three functions deep: see bench/python_frames.py.

usage: python_calls.py CALLS barrier|iprobe
"""

import sys

from mpi4py import MPI

kOthers = 50  # calls of both kinds before those that are counted


def exchange(name, comm):
    if name == "barrier":
        comm.Barrier()
    else:
        comm.Iprobe()


def step(name, comm):
    exchange(name, comm)


def main():
    comm = MPI.COMM_SELF
    calls, name = int(sys.argv[1]), sys.argv[2]
    for _ in range(kOthers):
        step("barrier", comm)
        step("iprobe", comm)
    for _ in range(calls):
        step(name, comm)


main()
