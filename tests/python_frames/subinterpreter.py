"""A second interpreter is there during the second call."""
try:
    import _interpreters as interpreters
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters

from mpi4py import MPI

MPI.COMM_WORLD.Barrier()
other = interpreters.create()
MPI.COMM_WORLD.Barrier()
interpreters.destroy(other)
