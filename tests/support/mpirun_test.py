#!/usr/bin/python3
"""Which deaths of a rank are Open MPI's own, by the stacks that it prints."""
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import mpirun  # noqa: E402

HEAD = "[n:1] *** Process received signal ***\n[n:1] Signal: Segmentation fault (11)\n"
CAUGHT = "[n:1] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7fe050]\n"
WILD = "[n:1] [ 1] /lib/x86_64-linux-gnu/libz.so.1(+0x1b6f0)[0x7f06f0]\n"
NOWHERE = "[n:1] [ 1] [0x7f06f0]\n"
PROGRAM = "[n:1] [ 2] ./app(main+0x11dd)[0x5611dd]\n"
RECORDER = "[n:1] [ 2] /usr/lib/refrain/librefrain-openmpi.so(MPI_Send+0x1)[0x7f11dd]\n"
TAIL = "[n:1] *** End of error message ***\n"
DIED = 128 + 11


def outcome(text, status=DIED):
    return mpirun.Outcome(status, b"", text.encode(), 1.0)


class DiedInOpenMpi(unittest.TestCase):
    def is_its_own(self, text, mpi="openmpi", status=DIED, major=4):
        with mock.patch.object(mpirun, "openmpi_major", return_value=major):
            return mpirun.died_in_openmpi(mpi, outcome(text, status), [
                "mpirun", "-n", "2", "refrain", "record", "--", "/somewhere/app", "10"])

    def test_a_jump_to_nowhere(self):
        self.assertTrue(self.is_its_own(HEAD + CAUGHT + WILD + TAIL))
        self.assertTrue(self.is_its_own(HEAD + CAUGHT + NOWHERE + TAIL))
        self.assertTrue(self.is_its_own(HEAD + "mpirun noticed that process rank 0 exited on signal 11\n"))

    def test_the_program_or_the_recorder_had_a_part(self):
        for frame in (PROGRAM, RECORDER):
            self.assertFalse(self.is_its_own(HEAD + CAUGHT + WILD + frame + TAIL))
            both = HEAD + CAUGHT + WILD + TAIL + HEAD + CAUGHT + frame + TAIL
            self.assertFalse(self.is_its_own(both))

    def test_something_else(self):
        whole = HEAD + CAUGHT + WILD + TAIL
        self.assertFalse(self.is_its_own("Segmentation fault\n"))
        self.assertFalse(self.is_its_own(whole, status=1))
        self.assertFalse(self.is_its_own(whole, mpi="mpich"))
        self.assertFalse(self.is_its_own(whole, major=5))


if __name__ == "__main__":
    unittest.main()
