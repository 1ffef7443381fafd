"""What steps.py needs of mpi4py, by ctypes: for interpreters that have no mpi4py. Open MPI only.

Functions are none of Python, so that they have no frames; like mpi4py's they give the interpreter's lock back around
calls that may wait, and keep it around others.
"""
import ctypes
import functools
import types

_library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
_with_lock, _without_lock = ctypes.PyDLL(None), ctypes.CDLL(None)
_world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(_library, "ompi_mpi_comm_world")))
_int = ctypes.c_int()
_with_lock.MPI_Init_thread(None, None, 3, ctypes.byref(_int))
ctypes.pythonapi.Py_AtExit(ctypes.cast(_without_lock.MPI_Finalize, ctypes.c_void_p))
MPI = types.SimpleNamespace(COMM_WORLD=types.SimpleNamespace(
    Barrier=functools.partial(_without_lock.MPI_Barrier, _world),
    Get_rank=functools.partial(_with_lock.MPI_Comm_rank, _world, ctypes.byref(_int))))  # the status, which is 0
