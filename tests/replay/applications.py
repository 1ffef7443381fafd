#!/usr/bin/python3
"""Replays of programs that we did not write: LAMMPS, HPCC and one in mpi4py make the same calls again.

    applications.py --refrain build/refrain --libraries build/src/tracer --application lammps [--target mpich ...]
                    [--proxy]

The program runs under Open MPI, which Debian builds it with, on 4 ranks, and is recorded. Its trace is replayed under
each --target (openmpi and mpich where nothing is said), the replay is recorded, and `refrain check --replays` must find
the same calls with the same parameters at the same places. With --proxy `refrain proxy` makes a program of the trace
instead, which is built for each --target, recorded and compared as in proxies.py. Exit status: 0, 1 something differs,
77 not installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", part) for part in ("support", "real", "proxy")]
import mpirun  # noqa: E402
import proxies  # noqa: E402
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


def calls(options, trace):
    done = subprocess.run([options.refrain, "dump", "--format", "jsonl", "--no-resolve", trace], capture_output=True,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_proxy(options, target, trace, folder):
    source, binary = os.path.join(folder, "proxy-" + target), os.path.join(folder, "proxy." + target)
    again = os.path.join(folder, "proxy-%s.rfn" % target)
    subprocess.run([options.refrain, "proxy", trace, "-o", source], check=True, stdout=subprocess.DEVNULL)
    wrapper, _ = proxies.WRAPPERS[target]
    subprocess.run([wrapper, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", binary,
                    os.path.join(source, "main.cc")], check=True)
    run(options, target, [options.refrain, "record", "-o", again, "--", binary, "--compute", "none", "--scratch",
                          folder], folder)
    try:
        was = calls(options, trace)
        proxies.compare(was, calls(options, again))
    except proxies.Failure as e:
        print("%s, its proxy under %s: %s" % (options.application, target, e))
        return False
    print("%s, its proxy under %s: %d calls are the same" % (options.application, target, len(was)))
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--application", required=True, choices=sorted(real.APPLICATIONS))
    parser.add_argument("--target", action="append")
    parser.add_argument("--proxy", action="store_true", help="build a program of the trace instead")
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
        how = check_proxy if options.proxy else check
        good = [how(options, target, trace, folder) for target in options.target or ("openmpi", "mpich")
                if mpirun.launcher(target)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
