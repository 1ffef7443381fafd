#!/usr/bin/python3
"""Replays of programs that we did not write: LAMMPS, HPCC and one in mpi4py make the same calls again.

    applications.py --refrain build/refrain --libraries build/src/tracer --application lammps [--target mpich ...]

The program runs under Open MPI, which Debian builds it with, on 4 ranks, and is recorded. Its trace is replayed under
each --target (openmpi and mpich where nothing is said), the replay is recorded, and `refrain check --replays` must find
the same calls with the same parameters at the same places. Exit status: 0, 1 something differs, 77 not installed.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "real")]
import mpirun  # noqa: E402
import real  # noqa: E402

TIMEOUT_S = 300


def run(options, mpi, command, folder):
    done = mpirun.run_job(mpi, real.RANKS, command, TIMEOUT_S, env={"REFRAIN_LIBRARY_PATH": options.libraries},
                          cwd=folder)
    if done.status != 0:
        sys.exit("FAIL  %s: %s exits with %d: %s" % (options.application, " ".join(command), done.status,
                                                     done.stderr.decode(errors="replace")[-1000:]))


def check(options, target, trace, folder):
    again, scratch = os.path.join(folder, "%s.rfn" % target), os.path.join(folder, "scratch-" + target)
    os.makedirs(scratch)
    run(options, target, [options.refrain, "record", "-o", again, "--", options.refrain, "replay", "--compute", "none",
                          "--stall", str(TIMEOUT_S / 2), "--scratch", scratch, trace], folder)
    done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip()
    print("%s, replayed under %s: %s" % (options.application, target, said.replace("\n", ";")))
    return done.returncode == 0 and "places that may differ" not in said


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--application", required=True, choices=sorted(real.APPLICATIONS))
    parser.add_argument("--target", action="append")
    options = parser.parse_args()
    options.refrain, options.libraries = os.path.abspath(options.refrain), os.path.abspath(options.libraries)
    if not real.installed(options.application) or mpirun.launcher("openmpi") is None:
        print("skip  %s is not installed" % options.application)
        return 77
    words, inputs, _ = real.APPLICATIONS[options.application]
    with tempfile.TemporaryDirectory(prefix="refrain-replayed-") as folder:
        for file in inputs:
            shutil.copy(os.path.join(HERE, "..", "real", file), folder)
        trace = os.path.join(folder, "run.rfn")
        run(options, "openmpi", [options.refrain, "record", "-o", trace, "--"] + words, folder)
        good = [check(options, target, trace, folder) for target in options.target or ("openmpi", "mpich")
                if mpirun.launcher(target)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
