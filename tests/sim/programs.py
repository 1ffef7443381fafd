#!/usr/bin/python3
"""Every program of the manifest, recorded, is simulated to its end.

    programs.py --refrain build/release/refrain --mpi mpich --programs build/release/tests/programs
                [--libraries build/release/src/tracer] [--sample | --only NAME] [--keep FOLDER]

The parts of each rank's time add up, there is no deadlock, the predicted trace is as long as the prediction, and what
is not lowered is in not_lowered.json, by program. "simulate": "filtered" in the manifest: the recording lacks an end of
a message, and simulate says so.
Exit status: 0, 1, or 77 where the MPI cannot be started.
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

SKIPPED, INCOMPLETE = 77, 4
# One program of each kind of call.
SAMPLE = ("p2p_nonblocking", "p2p_wildcard", "p2p_persistent", "coll_nonblocking", "coll_vectors", "comm_trees", "rma",
          "threads_come_and_go", "threads_windows")
UNORDERED = ("threads_windows",)  # threads use what others make; without times, in an order that no trace tells
MACHINE = """version = 1
[distance.core]
eager_limit = 4096
[[distance.core.range]]
L = 400
o_send = 100
o_recv = 120
g = 20
G = 0.1
[distance.switch]
eager_limit = 1024
[[distance.switch.range]]
L = 1500
o_send = 300
o_recv = 300
g = 50
G = 0.2
[topology]
kind = "torus"
dimensions = [2, 4]
cores = 2
link_bandwidth = 5e9
[files]
open = 100000
bandwidth = 1e9
"""
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def record(entry, ranks, folder, timing="exact"):
    """The trace; None where this MPI cannot run the program, or leaves no whole trace of it."""
    programs = os.path.join(options.programs, options.mpi)
    arguments = [a.replace("{programs}", programs) for a in entry.get("args", [])]
    trace = os.path.join(folder, "run.rfn")
    wrapper = [options.refrain, "record", "--timing", timing, "-o", trace] + entry.get("record", []) + ["--"]
    mpirun.run_job(options.mpi, ranks, [os.path.join(programs, entry["name"])] + arguments, options.timeout,
                   env={"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_LOG": os.path.join(folder, "log")},
                   cwd=folder, job_env=entry.get("job_env"), wrapper=wrapper)
    if not os.path.exists(trace):
        return None
    done = subprocess.run([options.refrain, "info", trace], capture_output=True)
    return trace if done.returncode == 0 else None


def simulate(trace, machine, *words):
    done = subprocess.run([options.refrain, "simulate", trace, "--machine", machine, "--format", "json", *words],
                          capture_output=True, text=True, timeout=options.timeout)
    if done.returncode not in (0, INCOMPLETE) or not done.stdout:
        raise Failure("simulate exits with %d: %s" % (done.returncode, done.stderr.strip()[:400]))
    return json.loads(done.stdout)


def check_predicted(trace, machine, folder):
    """No thread goes on when its rank has ended."""
    predicted = os.path.join(folder, "predicted.rfn")
    said = simulate(trace, machine, "-o", predicted)
    done = subprocess.run([options.refrain, "info", predicted, "--format", "json"], capture_output=True, text=True)
    duration = json.loads(done.stdout)["duration_ns"]
    if duration != said["predicted_ns"]:
        raise Failure("predicted are %d ns, and the predicted trace has %d" % (said["predicted_ns"], duration))


def check_refused(trace, machine):
    done = subprocess.run([options.refrain, "simulate", trace, "--machine", machine], capture_output=True, text=True,
                          timeout=options.timeout)
    if done.returncode != INCOMPLETE or done.stdout or "the recording left calls out (filter: " not in done.stderr:
        raise Failure("a filtered trace: exit %d: %s" % (done.returncode, done.stderr.strip()[:400]))


def check_unordered(entry, ranks, machine, folder):
    trace = record(entry, ranks, folder, "stats")
    done = subprocess.run([options.refrain, "simulate", trace, "--machine", machine], capture_output=True, text=True,
                          timeout=options.timeout)
    if done.returncode == INCOMPLETE and "threads, whose order the trace does not tell" in done.stderr:
        return
    raise Failure("without times: exit %d: %s" % (done.returncode, done.stderr.strip()[:400]))


def check(entry, ranks, allowed, folder):
    """None, or why it was left out."""
    trace = record(entry, ranks, folder)
    if trace is None:
        return "no whole trace"
    machine = os.path.join(folder, "m.toml")
    with open(machine, "w", encoding="utf-8") as out:
        out.write(MACHINE)
    if entry.get("simulate") == "filtered":
        return check_refused(trace, machine)
    for words in ((), ("--contention", "none"), ("--matching", "simulated")):
        said = simulate(trace, machine, *words)
        if said["matching"]["changed"] and not words[-1:] == ("simulated",):
            raise Failure("matching as recorded has changed %d" % said["matching"]["changed"])
        times = [rank["comp_ns"] + rank["comm_ns"] + rank["sync_ns"] for rank in said["ranks"]]
        if len(times) != ranks or max(times) != said["predicted_ns"]:
            raise Failure("parts are %s, predicted are %d ns" % (times, said["predicted_ns"]))
        found = sorted(one["what"] for one in said["not_lowered"])
        surplus = [what for what in found if what not in allowed]
        if surplus:
            raise Failure("not lowered: %s" % ", ".join(surplus))
    check_predicted(trace, machine, folder)
    if entry["name"] in UNORDERED:
        check_unordered(entry, ranks, machine, folder)
    return None


def cases(entries):
    for entry in entries:
        if options.mpi not in entry.get("mpi", [options.mpi]) or entry.get("python"):
            continue
        if options.only and entry["name"] != options.only:
            continue
        if options.sample and (entry["name"] not in SAMPLE or entry.get("record")):
            continue
        for ranks in entry["ranks"][:1] if options.sample else entry["ranks"]:
            if ranks <= options.most:
                yield entry, ranks


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--only")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--most", type=int, default=6, help="leave out cases of more ranks")
    parser.add_argument("--timeout", type=float, default=180)
    parser.add_argument("--keep")
    options = parser.parse_args()
    for name in ("refrain", "programs"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    options.libraries = os.path.abspath(options.libraries or os.path.dirname(options.refrain))
    if not mpirun.startable(options.mpi):
        print("%s cannot be started here" % options.mpi)
        return SKIPPED
    with open(os.path.join(HERE, "..", "programs", "manifest.json"), encoding="utf-8") as file:
        entries = json.load(file)["programs"]
    with open(os.path.join(HERE, "not_lowered.json"), encoding="utf-8") as file:
        allowed = json.load(file)
    work = options.keep or tempfile.mkdtemp(prefix="refrain-sim-")
    good = left_out = failed = 0
    for number, (entry, ranks) in enumerate(cases(entries)):
        folder = os.path.join(work, "%d-%s-%d" % (number, entry["name"], ranks))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            why = check(entry, ranks, allowed.get(entry["name"], []), folder)
            good += why is None
            left_out += why is not None
            if why is not None:
                print("left out: %s -n %d: %s" % (entry["name"], ranks, why))
        except (Failure, subprocess.TimeoutExpired) as error:
            failed += 1
            print("FAILED: %s -n %d: %s\n  again: %s --only %s --keep /tmp/sim" % (
                entry["name"], ranks, error, " ".join(sys.argv), entry["name"]))
    if not options.keep:
        shutil.rmtree(work, ignore_errors=True)
    print("%d simulated, %d left out, %d failed" % (good, left_out, failed))
    return 1 if failed or good == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
