#!/usr/bin/env python3
"""A job that died is replayed as far as all of its ranks can go together.

usage: early_end.py --refrain BIN --libraries DIR --program dying --mpi mpich

Rank 1 is killed after some calls, and the spool becomes a trace. Its replay ends with status 4 and says how many
calls it makes; the record of the replay has the same calls, and then MPI_Finalize. Exit status: 0 good, 1 something is
wrong, 77 the MPI is not there.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

RANKS = 3
TIMEOUT_S = 60
INCOMPLETE = 4
DIES_AFTER = 40  # calls


class Failure(Exception):
    """One line that says what is wrong."""


def job(options, folder, command, wrapper):
    return mpirun.run_job(options.mpi, RANKS, command, TIMEOUT_S, env={"REFRAIN_LIBRARY_PATH": options.libraries},
                          cwd=folder, wrapper=wrapper)


def check(options, folder):
    trace, again = os.path.join(folder, "run.rfn"), os.path.join(folder, "again.rfn")
    job(options, folder, [options.program, "kill", "1", str(DIES_AFTER)],
        [options.refrain, "record", "-o", trace, "--"])
    subprocess.run([options.refrain, "recover", trace + ".spool", "-o", trace], capture_output=True, check=False)
    if not os.path.exists(trace):
        raise Failure("nothing was recovered")
    replay = job(options, folder, [options.refrain, "replay", "--compute", "none", trace],
                 [options.refrain, "record", "-o", again, "--"])
    said = replay.stderr.decode(errors="replace")
    found = re.search(r"its first (\d+) calls of (\d+) are replayed", said)
    if replay.status != INCOMPLETE or not found:
        raise Failure("status %d: %s" % (replay.status, said[:400]))
    if int(found.group(1)) < DIES_AFTER * (RANKS - 1):
        raise Failure("only %s calls are replayed" % found.group(1))
    done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, text=True)
    if done.returncode not in (0, INCOMPLETE):
        raise Failure((done.stdout + done.stderr)[:400])
    if "%s calls with equal parameters" % found.group(1) not in done.stdout:
        raise Failure("%s calls were replayed, compared are others: %s" % (found.group(1), done.stdout[:300]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--mpi", required=True)
    options = parser.parse_args()
    for name in ("refrain", "libraries", "program"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    if not mpirun.launcher(options.mpi):
        print("early_end: no launcher of %s" % options.mpi)
        return 77
    with tempfile.TemporaryDirectory(prefix="refrain-early-end-") as folder:
        try:
            check(options, folder)
        except Failure as failure:
            print("early_end: %s" % failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
