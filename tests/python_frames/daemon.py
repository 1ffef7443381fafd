"""A daemon thread is in a call of MPI while the interpreter ends and frees the thread's frames."""
import ctypes
import threading
import time

from mpi4py import MPI

hold = ctypes.PyDLL(None)
world = MPI.COMM_WORLD


def poll():
    hold.hold_first_reading()
    world.Iprobe()


world.Barrier()
threading.Thread(target=poll, daemon=True).start()
while not hold.is_reading_held():
    time.sleep(0.01)
ctypes.pythonapi.Py_AtExit(ctypes.cast(hold.wait_for_reading, ctypes.c_void_p))
