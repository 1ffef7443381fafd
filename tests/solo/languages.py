#!/usr/bin/python3
"""Ranks that run alone print what they printed in their job: programs in Fortran's three bindings, with the clock and
with sections of arrays, and one with OpenMP threads that call MPI. A difference says that there are several threads.

    languages.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich --libraries build/src/tracer

What the programs print depends on everything that they received. Exit status: 0 all good, 1 something is wrong,
77 nothing could run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED = 77
RANKS = 3
# Of all ranks' messages in fortran.F90: arrays, a short one, and sections where the binding has them. The types that
# MPI's Fortran layer makes for sections are in no call of the program.
ELEMENTS = {"fortran_MPIF_alone": 3 * (8 + 4) + 5, "fortran_MPI_alone": 3 * (8 + 4) + 5,
            "fortran_F08_alone": 3 * (8 + 4 + 3 + 3 * (4 + 2)) + 5}
PROGRAMS = ("fortran_MPIF_alone", "fortran_MPI_alone", "fortran_F08_alone", "openmp_alone")


def lines(text):
    return sorted(text.decode(errors="replace").splitlines())


def alone(options, program, rank, folder, **environment):
    return subprocess.run([options.refrain, "solo", "run.rfn", "--rank", str(rank), "--", program], cwd=folder,
                          capture_output=True, timeout=100, check=False,
                          env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries, **environment))


def check(options, program, folder):
    """What is wrong; None: nothing."""
    wrapper = [options.refrain, "record", "-o", "run.rfn", "--messages", "all", "--"]
    job = mpirun.run_job(options.mpi, RANKS, [program], 100, cwd=folder, wrapper=wrapper,
                         env={"REFRAIN_LIBRARY_PATH": options.libraries})
    if job.status != 0:
        return "exits with %d when it is recorded: %s" % (job.status, job.stderr.decode(errors="replace")[-300:])
    expected = ELEMENTS.get(os.path.basename(program))
    matrix = json.loads(subprocess.run([options.refrain, "matrix", "run.rfn", "--format", "json"], cwd=folder,
                                       capture_output=True, timeout=100, check=True).stdout)
    sent = sum(pair["bytes"] for pair in matrix["pairs"])
    if expected is not None and sent != 4 * expected:
        return "%d bytes of messages, and not %d" % (sent, 4 * expected)
    if "F08" in os.path.basename(program):
        again = mpirun.run_job(options.mpi, RANKS, [options.refrain, "replay", "--compute", "none", "run.rfn"], 100,
                               cwd=folder, env={"REFRAIN_LIBRARY_PATH": options.libraries})
        if again.status != 0 or b"leaked" in again.stderr:
            return "its replay exits with %d: %s" % (again.status, again.stderr.decode(errors="replace")[-300:])
    printed = []
    for rank in range(RANKS):
        done = alone(options, program, rank, folder)
        said = done.stderr.decode(errors="replace")
        if done.returncode != 0 or "not in the log" in said:
            return "rank %d alone exits with %d: %s" % (rank, done.returncode, said[-400:])
        printed += lines(done.stdout)
    if sorted(printed) != lines(job.stdout):
        return "ranks alone print other lines: %s" % sorted(set(printed) ^ set(lines(job.stdout)))[:4]
    if "openmp" in os.path.basename(program):
        done = alone(options, program, 1, folder, OPENMP_CHANGE="1")
        if done.returncode != 1 or b"sendtag is 9, in the trace 1; several threads of this rank" not in done.stderr:
            return "a changed tag of one thread: exit status %d, %r" % (done.returncode, done.stderr[-400:])
    return None if len(printed) >= RANKS else "prints nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--refrain", "--mpi", "--programs", "--libraries"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    programs = [path for path in (os.path.join(options.programs, name) for name in PROGRAMS) if os.path.exists(path)]
    if mpirun.launcher(options.mpi) is None or not programs:
        return SKIPPED
    wrong = 0
    for program in programs:
        folder = tempfile.mkdtemp(prefix="refrain-solo-languages-")
        try:
            found = check(options, program, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        wrong += found is not None
        print("%s: %s" % (os.path.basename(program), found or "the same"), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
