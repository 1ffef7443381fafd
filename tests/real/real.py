#!/usr/bin/python3
"""Programs that we did not write: LAMMPS, HPCC, and one in mpi4py; 4 ranks under Open MPI.

    real.py --refrain build/src/cli/refrain --counter count_calls_openmpi.so --application lammps

Each runs twice: by itself, and under Refrain with an independent counter of calls behind it. Both
runs must end well and print the same (numbers that are times aside), and the counter must have seen
every function as often as Refrain: one run, so that polling, whose number of calls depends on the
moment, is compared too. Exit status 77: the application is not installed.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

RANKS = 4
# What the counter cannot see (a wrapper of its own kind) or Refrain leaves out on purpose.
NOT_COUNTED = {"MPI_Wtime", "MPI_Wtick", "MPI_Pcontrol"}


def lammps_text(run, folder):
    """The thermodynamic table: the physics of the run, to the last digit."""
    return [l.split() for l in run.stdout.decode(errors="replace").splitlines()
            if re.match(r"^\s+\d+\s+\S+\s+\S+\s+\S+\s*$", l)]


def hpcc_text(run, folder):
    with open(os.path.join(folder, "hpccoutf.txt")) as f:
        text = f.read()
    said = []
    for line in text.splitlines():
        if line.startswith(("Success=", "End of HPC Challenge", "||Ax-b||")):
            said.append(line)
        elif "FAILED" in line:
            said.append("FAILED")
        elif line.startswith("WALL") and "PASSED" in line:  # with times in it
            said.append("WALL PASSED")
        # PTRANS leaves out its CPU lines when the clock of CPU time did not move in between.
    return said


def plain_text(run, folder):
    return run.stdout.decode(errors="replace").splitlines()


APPLICATIONS = {
    "lammps": (["lmp", "-in", "in.melt", "-log", "none"], ["in.melt"], lammps_text),
    "hpcc": (["hpcc"], ["hpccinf.txt"], hpcc_text),
    "mpi4py": (["/usr/bin/python3", "jacobi.py"], ["jacobi.py"], plain_text),
}


def installed(name):
    if name == "mpi4py":
        return subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], stderr=subprocess.DEVNULL).returncode == 0
    return shutil.which(APPLICATIONS[name][0][0]) is not None


def run(name, folder, prefix, preload, env, tries=1):
    """What it said. `tries`: of a program alone, which fails now and then by itself."""
    os.makedirs(folder)
    words, inputs, text = APPLICATIONS[name]
    for file in inputs:
        shutil.copy(os.path.join(HERE, file), folder)
    done = mpirun.run_job("openmpi", RANKS, prefix + words, 200, preload, env, cwd=folder)
    if done.status != 0:
        what = "%s %s: exit status %d\n%s\n%s" % (
            name, "under Refrain" if prefix else "alone", done.status,
            done.stdout.decode(errors="replace")[-1000:], done.stderr.decode(errors="replace")[-2000:])
        if tries > 1:
            print("again: " + what)
            return run(name, folder + ".again", prefix, preload, env, tries - 1)
        sys.exit("FAIL  " + what)
    said = text(done, folder)
    if not said:
        sys.exit("FAIL  %s: no result in its output: %r" % (name, done.stdout[-500:]))
    return said


def counted(base):
    totals = {}
    for rank in range(RANKS):
        with open("%s.%d" % (base, rank)) as f:
            for line in f:
                call, count = line.split()
                totals[call] = totals.get(call, 0) + int(count)
    return totals


def refrain(options, *arguments):
    done = subprocess.run([options.refrain] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)
    if done.returncode != 0:
        sys.exit("FAIL  `refrain %s` exits with %d: %s" % (
            " ".join(arguments), done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode()


def compare(name, expected, found):
    wrong = 0
    compared = (set(expected) | set(found)) - NOT_COUNTED
    for call in sorted(compared):
        if expected.get(call, 0) != found.get(call, 0):
            print("FAIL  %s: %s: the counter saw %d calls, Refrain %d" % (
                name, call, expected.get(call, 0), found.get(call, 0)))
            wrong += 1
    print("%s: %d functions compared, %d calls" % (
        name, len(compared), sum(expected.get(c, 0) for c in compared)))
    return wrong == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--counter", required=True)
    parser.add_argument("--libraries", default="")
    parser.add_argument("--application", required=True, choices=sorted(APPLICATIONS))
    options = parser.parse_args()
    options.refrain, options.counter = os.path.abspath(options.refrain), os.path.abspath(options.counter)
    if not installed(options.application) or mpirun.launcher("openmpi") is None:
        print("skip  %s is not installed" % options.application)
        return 77
    with tempfile.TemporaryDirectory(prefix="refrain-real-") as folder:
        base, trace = os.path.join(folder, "counts"), os.path.join(folder, "t.rfn")
        alone = run(options.application, os.path.join(folder, "alone"), [], [], {}, tries=2)
        env = {"REFRAIN_QUIET": "1", "REFRAIN_COUNT_FILE": base}
        if options.libraries:
            env["REFRAIN_LIBRARY_PATH"] = os.path.abspath(options.libraries)
        recorded = run(options.application, os.path.join(folder, "recorded"),
                       [options.refrain, "record", "-o", trace, "--"], [options.counter], env)
        if alone != recorded:
            print("FAIL  %s: its output differs:\n%s\n%s" % (options.application, alone, recorded))
            return 1
        refrain(options, "check", trace)
        functions = json.loads(refrain(options, "profile", trace, "--format", "json"))["functions"]
        info = json.loads(refrain(options, "info", trace, "--format", "json"))
        if info["ranks"] != RANKS or info["complete"] is not True or info["losses"]:
            print("FAIL  %s: info says %s" % (options.application, info))
            return 1
        dumped = {}
        for rank in range(RANKS):
            for line in refrain(options, "dump", trace, "--rank", str(rank), "--format", "jsonl").splitlines():
                call = json.loads(line)["call"]
                dumped[call] = dumped.get(call, 0) + 1
        profiled = {f["call"]: f["count"] for f in functions if f["count"]}
        if dumped != profiled:
            print("FAIL  %s: profile and dump count differently" % options.application)
            return 1
        print("%s: trace of %d bytes" % (options.application, info["file_bytes"]))
        return 0 if compare(options.application, counted(base), profiled) else 1


if __name__ == "__main__":
    sys.exit(main())
