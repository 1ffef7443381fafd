#!/usr/bin/python3
"""A replay makes the calls of a trace again: every test program recorded, replayed, recorded again and compared.

    replay.py --refrain build/refrain --programs build/tests/programs --mpi mpich [--target openmpi]
              [--group p2p | --only NAME [-n 3]] [--sample] [--keep DIR]

Each program of the manifest is recorded under --mpi and replayed under --target (the same one where it is left
out), while a recorder records the replay. `refrain check --replays` must find the same calls with the same
parameters. What cannot be replayed is on the committed list refused.json, with the functions that say so; a
refusal that is not there, or one there that does not come, is a failure. A function that mpi.h of --target does
not declare may be refused as well. Exit status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import argparse
import functools
import glob
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
import smpi  # noqa: E402

SKIPPED = 77
INCOMPLETE = 4  # traces of which filters have left out calls
UNSUPPORTED = 5
# A replay that gets on is waited for: making 600 communicators takes minutes on a machine with other work. One that
# does not get on says so itself (--stall), after --timeout seconds.
PATIENCE = 10
# One of each kind, for every run of the tests.
SAMPLE = ("p2p_nonblocking", "p2p_wildcard", "p2p_probe", "p2p_persistent_any", "coll_blocking", "coll_vectors",
          "comm_basic", "datatypes", "files", "rma_dynamic", "win_attributes", "user_op", "threads_hand_over",
          "threads_names_again", "graph_order", "sizes_x", "sessions_only", "inner_attributes")
options = None


class Failure(Exception):
    """One line that says what is wrong."""


class Simulated:
    """What became of a run under SMPI: the simulator has one output for all."""

    def __init__(self, outcome):
        self.status, self.stdout, self.stderr = outcome.status, b"", outcome.output.encode()
        self.timed_out = outcome.status is None


def run(mpi, ranks, entry, command, wrapper, folder):
    """`command`: the last word of a replay is the trace, which stands in the place of the program."""
    environment = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_DIR": folder,
                   "REFRAIN_TEST_LOG": os.path.join(folder, "log")}
    if mpi == "smpi":
        if command[0] == options.refrain:
            wrapper, command = wrapper + command[:-1], command[-1:]
        elif wrapper[-1] == "--":
            wrapper = wrapper[:-1]
        return Simulated(smpi.run(smpi.command_line(ranks, command, wrapper, folder), PATIENCE * options.timeout,
                                  dict(os.environ, **environment)))
    return mpirun.run_job(mpi, ranks, command, PATIENCE * options.timeout, env=environment, cwd=folder,
                          job_env=entry.get("job_env"), wrapper=wrapper)


def said(outcome):
    lines = [line for line in outcome.stderr.decode(errors="replace").splitlines() if "refrain" in line]
    return " | ".join(lines)[:600] or outcome.stderr.decode(errors="replace")[:300]


def record(entry, ranks, folder):
    """The trace; None where this MPI cannot run the program."""
    programs = os.path.join(options.programs, options.mpi)
    arguments = [a.replace("{programs}", programs) for a in entry.get("args", [])]
    trace = os.path.join(folder, "run.rfn")
    wrapper = [options.refrain, "record", "-o", trace] + entry.get("record", []) + ["--"]
    outcome = run(options.mpi, ranks, entry, [os.path.join(programs, entry["name"])] + arguments, wrapper, folder)
    if outcome.timed_out:
        raise Failure("the program that is recorded does not end")
    return trace if os.path.exists(trace) else None


def compare(again, trace, told=""):
    """`told`: what the replay said of itself, for the line of a failure."""
    done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, text=True)
    if done.returncode not in (0, INCOMPLETE):
        raise Failure(" | ".join(((done.stdout + done.stderr).strip() + "\n" + told.strip()).splitlines())[:1200])
    if "places that may differ" in done.stdout:
        raise Failure("calls of the replay are not at the program's places: " + done.stdout.strip()[:300])


def check_recorded_time(trace, told):
    """What the replay says that the program took: without times of single calls the duration of the run."""
    about = json.loads(subprocess.run([options.refrain, "info", "--format", "json", trace], capture_output=True,
                                      check=False).stdout)
    said_s = float(re.search(r"\(recorded: ([0-9.]+) s\)", told).group(1))
    if about["timing"] == "stats" and abs(said_s - about["duration_ns"] / 1e9) > 1e-5:
        raise Failure("the run took %d ns, the replay says %f s" % (about["duration_ns"], said_s))


def replay(entry, ranks, trace, folder, number=1):
    """Replays it under a recorder; the refused functions, in order."""
    again, scratch = os.path.join(folder, "again.rfn"), os.path.join(folder, "scratch")
    os.makedirs(scratch)
    jitter = ["--jitter", options.jitter, "--seed", str(number)] if options.jitter else []
    command = [options.refrain, "replay"] + jitter + ["--compute", "none", "--stall", str(options.timeout),
               "--scratch", scratch, trace]
    wrapper = [options.refrain, "record", "-o", again, "--"]
    outcome = run(options.target, ranks, entry, command, wrapper, folder)
    if outcome.status == UNSUPPORTED:
        return sorted(set(re.findall(r"cannot replay (\w+)", outcome.stderr.decode(errors="replace"))))
    if outcome.status not in (0, INCOMPLETE):
        raise Failure("the replay exits with %d: %s" % (outcome.status, said(outcome)))
    if b"replayed 0 calls" in outcome.stdout:
        raise Failure("the replay says that it made no call")
    told = outcome.stdout.decode(errors="replace")
    compare(again, trace, told)
    if options.target != "smpi":  # whose simulator has one output for all
        check_recorded_time(trace, told)
    for started in sorted(glob.glob(trace[:-len(".rfn")] + ".spawn*.rfn")):
        compare(again[:-len(".rfn")] + started[len(trace) - len(".rfn"):], started)
    return []


@functools.lru_cache(maxsize=None)
def functions_of(mpi):
    """Those that its mpi.h declares."""
    compiler = "smpicc" if mpi == "smpi" else "mpicc." + mpirun.behind(mpi)
    done = subprocess.run([compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n",
                          capture_output=True, text=True, check=True)
    return set(re.findall(r"\b(MPIX?_\w+)\s*\(", done.stdout))


def check(entry, ranks, refused):
    """None, or why it was left out."""
    words = "_".join(entry.get("args", []))[:20].replace("/", "")
    folder = os.path.join(options.work, "%s-%d-%s" % (entry["name"], ranks, words))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    trace = record(entry, ranks, folder)
    if trace is None:
        return "this MPI lacks what it needs"
    found = replay(entry, ranks, trace, folder)
    for number in range(2, options.times + 1):
        again = os.path.join(folder, str(number))
        os.makedirs(again)
        replay(entry, ranks, trace, again, number)
    expected = refused.get(" ".join([entry["name"]] + entry.get("args", [])), {})
    allowed = expected.get("functions", [])
    unknown = [f for f in found if f not in functions_of(options.target)]
    if sorted(set(allowed) | set(unknown)) != found:
        raise Failure("refused are %s, in refused.json %s" % (found, sorted(allowed)))
    return "%s has no %s" % (options.target, unknown[0]) if unknown else "refused" if found else None


def cases(entries):
    for entry in entries:
        if options.mpi not in entry.get("mpi", [options.mpi]) or entry.get("python") or entry.get("replay") is False:
            continue
        if options.group and entry["group"] != options.group:
            continue
        if options.only and entry["name"] != options.only:
            continue
        if options.sample and (entry["name"] not in SAMPLE or entry.get("record")):
            continue
        for ranks in entry["ranks"][:1] if options.sample else entry["ranks"]:
            if ranks <= options.most and options.ranks in (None, ranks):
                yield entry, ranks


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--target")
    parser.add_argument("--manifest", default=os.path.join(HERE, "..", "programs", "manifest.json"))
    parser.add_argument("--group")
    parser.add_argument("--only")
    parser.add_argument("-n", type=int, dest="ranks")
    parser.add_argument("--most", type=int, default=6, help="leave out cases of more ranks")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--jitter", help="of `refrain replay`, with another seed each time")
    parser.add_argument("--times", type=int, default=1, help="replay each trace so often")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.target = options.target or options.mpi
    for name in ("refrain", "programs"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    options.libraries = os.path.abspath(options.libraries or os.path.dirname(options.refrain))
    if not mpirun.launcher(options.mpi) or not mpirun.launcher(options.target):
        print("replay: no launcher of %s or %s" % (options.mpi, options.target))
        return SKIPPED
    with open(options.manifest, encoding="utf-8") as file:
        entries = json.load(file)["programs"]
    with open(os.path.join(HERE, "refused.json"), encoding="utf-8") as file:
        lists = json.load(file)
    refused, elsewhere = lists["programs"], lists["on_another_mpi"] if options.target != options.mpi else {}
    good, left, wrong = 0, [], 0
    with tempfile.TemporaryDirectory(prefix="refrain-replay-") as work:
        options.work = options.keep or work
        for entry, ranks in cases(entries):
            title = "%s to %s: %s -n %d" % (options.mpi, options.target, " ".join(
                [entry["name"]] + entry.get("args", [])), ranks)
            if entry["name"] in elsewhere:
                left.append("%s (%s)" % (entry["name"], elsewhere[entry["name"]]))
                continue
            try:
                why = check(entry, ranks, refused)
            except Failure as failure:
                wrong += 1
                print("%s: %s" % (title, failure))
                continue
            good += why is None
            left += ["%s (%s)" % (entry["name"], why)] if why else []
    print("replay: %d good, %d wrong, left out: %s" % (good, wrong, ", ".join(left) or "none"))
    return 1 if wrong else 0 if good else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
