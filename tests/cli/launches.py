#!/usr/bin/python3
"""Programs of one MPI under the launcher of another.

    launches.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich
                --others openmpi=build/tests/programs/openmpi --libraries build/src/tracer [--shim yield_shim.so]

The program wins: its output and exit status are always those that it has without Refrain.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

GOOD, SKIPPED = 0, 77
options = None


class Job(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-launches-")
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, *words):
        return [options.refrain, "record"] + list(words) + ["--"]


class WrongLauncher(Job):
    NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
    LAUNCHERS = {"mpich": "MPICH's mpiexec", "openmpi": "Open MPI's mpirun"}

    def refused(self, done, said):
        lines = [l for l in done.stderr.decode(errors="replace").splitlines() if l.startswith("refrain")]
        self.assertNotEqual(done.status, GOOD)
        self.assertEqual(len(lines), 1, done.stderr[-1500:])
        self.assertIn(said, lines[0])
        self.assertEqual(os.listdir(self.folder), [])

    def test_program_of_the_other_mpi(self):
        if not options.others:
            self.skipTest("one MPI only")
        other, folder = options.others
        command = self.record("-o", self.path("run.rfn")) + [os.path.join(folder, "exit_status")]
        done = mpirun.run_job(options.mpi, 2, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                              cwd=self.folder)
        right = "mpiexec.mpich" if other == "mpich" else "mpirun.openmpi"
        said = "started by %s, under which each of the 2 processes is a job of its own; use " % (
            self.LAUNCHERS[options.mpi])
        self.refused(done, "exit_status: built for %s (" % self.NAMES[other])
        self.refused(done, said)
        if mpirun.launcher(other).endswith(right):
            self.refused(done, "use %s (or say --mpi %s if that is meant)" % (right, other))

    def test_it_may_be_meant(self):
        """One process is the same job under any launcher, and --mpi says that more are meant."""
        if not options.others:
            self.skipTest("one MPI only")
        other, folder = options.others
        program = os.path.join(folder, "exit_status")
        for ranks, words in ((1, []), (2, ["--mpi", other])):
            command = self.record("-o", self.path("run.rfn"), *words) + [program]
            done = mpirun.run_job(options.mpi, ranks, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                                  cwd=self.folder)
            self.assertNotIn(b"built for", done.stderr)
            self.assertTrue(os.path.exists(self.path("run.rfn")), done.stderr[-800:])
            for name in os.listdir(self.folder):
                os.remove(self.path(name))

    def test_python_of_the_other_mpi(self):
        """mpi4py is of one MPI, whatever launcher starts it."""
        python = "/usr/bin/python3"
        found = subprocess.run([python, "-c", "import mpi4py, os; print(os.path.dirname(mpi4py.__file__))"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if found.returncode != 0:
            self.skipTest("no mpi4py")
        needs = "".join(subprocess.run(["ldd", os.path.join(found.stdout.decode().strip(), f)], stdout=subprocess.PIPE)
                        .stdout.decode() for f in os.listdir(found.stdout.decode().strip()) if f.startswith("MPI."))
        its = "openmpi" if "libmpi.so.40" in needs else "mpich" if "libmpich.so" in needs else ""
        if its in ("", options.mpi):
            self.skipTest("mpi4py of this MPI, or of none that is known")
        command = self.record("-o", self.path("run.rfn")) + [python, "-c", "from mpi4py import MPI"]
        done = mpirun.run_job(options.mpi, 2, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                              cwd=self.folder)
        self.refused(done, "mpi4py is built for %s (" % self.NAMES[its])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True, choices=("mpich", "openmpi"))
    parser.add_argument("--programs", required=True)
    parser.add_argument("--others", default="", help="MPI=FOLDER: programs of another MPI")
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    options, rest = parser.parse_known_args()
    for name in ("refrain", "programs", "libraries", "shim"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    options.others = options.others.split("=", 1) if options.others else None
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return SKIPPED
    unittest.main(argv=sys.argv[:1] + rest)
    return GOOD


if __name__ == "__main__":
    sys.exit(main())
