#!/usr/bin/python3
"""The times in a trace are those of the calls.

    timing.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich [--only exact]

The test programs note the system's clock before and after every call. What the trace says of a call
must lie in between, after one shift for all ranks: its clock begins with rank 0's MPI_Init. Exit
status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED, INCOMPLETE = 77, 4
# The command line of whichever file runs: one object for all that import it.
options = argparse.Namespace()
# A rank's clock is frozen at a rate that is known to about a millionth, and set right by two points.
OWN_NS, OWN_SHARE = 3_000, 2e-5
# How far ranks may be apart that find out by messages that wait for a core, on cores that they share; one clock:
# OWN_NS.
APART_NS = 3_000_000


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def refrain(*arguments, status=0):
    done = subprocess.run([options.refrain] + list(arguments), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    expect(done.returncode == status, "`refrain %s` exits with %d instead of %d: %s", " ".join(arguments),
           done.returncode, status, done.stderr.decode().strip()[:300])
    return done.stdout.decode()


class Run:
    """A program that was recorded, with its log."""

    def __init__(self, name, ranks, words, record, env=None, shims=(), status=0, wrapper=()):
        self.ranks, self.folder = ranks, os.path.join(options.work, name)
        os.makedirs(self.folder)
        self.trace, self.log = os.path.join(self.folder, "run.rfn"), os.path.join(self.folder, "log")
        command = list(wrapper) + [options.refrain, "record", "-o", self.trace] + list(record) + ["--"]
        command += [os.path.join(options.programs, words[0])] + [str(w) for w in words[1:]]
        settings = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_LOG": self.log,
                    "REFRAIN_TEST_TIMES": "1"}
        settings.update(env or {})
        preload = mpirun.shims(options.mpi, options.shim)
        self.outcome = mpirun.run_job(options.mpi, ranks, command, 120, preload + list(shims), settings,
                                      cwd=self.folder)
        expect(status is None or self.outcome.status == status, "exit status %d: %s", self.outcome.status,
               self.outcome.stderr.decode()[-400:])

    def logged(self, rank):
        with open("%s.%d" % (self.log, rank)) as f:
            return [json.loads(line) for line in f]

    def dumped(self, rank, status=0):
        text = refrain("dump", "--rank", str(rank), "--format", "jsonl", self.trace, status=status)
        return [json.loads(line) for line in text.splitlines()]

    def info(self, status=0):
        return json.loads(refrain("info", "--format", "json", self.trace, status=status))


def pairs(run, rank, status=0, filtered=False):
    """(line of the log, line of the dump) of a rank with one thread. A filter may have left out calls:
    of functions that it has left alone then."""
    log, dump = run.logged(rank), run.dumped(rank, status)
    if not filtered:
        expect(0 <= len(dump) - len(log) <= 1, "rank %d: %d calls logged, %d dumped", rank, len(log), len(dump))
        return list(zip(log, dump))
    logged, dumped = ({}, {})
    for lines, by_call in ((log, logged), (dump, dumped)):
        for line in lines:
            by_call.setdefault(line["call"], []).append(line)
    whole = [call for call in logged if len(logged[call]) == len(dumped.get(call, ()))]
    return [pair for call in whole for pair in zip(logged[call], dumped[call])]


def shift(run, rank, status=0, filtered=False, bent_ns=0):
    """From the trace's clock to the system's: the least and the greatest that fits all calls. `bent_ns`: what
    comparing it with rank 0's may have got wrong, more at one end of the run than at the other."""
    least, greatest, known = -float("inf"), float("inf"), 0
    for log, line in pairs(run, rank, status, filtered):
        expect(log["call"] == line["call"], "rank %d: %r logged, %r dumped", rank, log["call"], line["call"])
        expect(line["begin_ns"] is not None, "rank %d call %d: no time", rank, line["seq"])
        expect(line["begin_ns"] <= line["end_ns"], "rank %d call %d: a negative duration", rank, line["seq"])
        if "ns" not in log:
            continue
        known += 1
        slack = OWN_NS + bent_ns + OWN_SHARE * line["end_ns"]
        least = max(least, log["ns"][0] - line["begin_ns"] - slack)
        greatest = min(greatest, log["ns"][1] - line["end_ns"] + slack)
    expect(known >= 5, "rank %d: only %d calls have times in the log", rank, known)
    expect(least <= greatest, "rank %d: no shift fits all calls; they are off by %d ns", rank, least - greatest)
    return least, greatest


def check_times(run, apart, status=0, filtered=False):
    bent_ns = apart if apart > OWN_NS else 0
    found = [shift(run, rank, status, filtered, bent_ns if rank > 0 else 0) for rank in range(run.ranks)]
    least, greatest = max(f[0] for f in found), min(f[1] for f in found)
    expect(least <= greatest + apart, "the clocks of the ranks are %d ns apart", least - greatest)


def is_complete(run, timing):
    info = run.info()
    expect(info["timing"].startswith(timing) and not info["losses"], "timing %r, losses %r", info.get("timing"),
           info["losses"])
    refrain("check", run.trace)


def own_clocks():
    """MPICH is told to take every rank for a machine of its own."""
    return APART_NS if options.mpi == "mpich" else OWN_NS


def exact():
    for words in (["p2p_nonblocking"], ["coll_blocking"], ["p2p_persistent"], ["comm_basic"],
                  ["random_mix", 7, 4000]):
        run = Run("exact-" + words[0], 4, words, ["--timing", "exact"])
        is_complete(run, "exact")
        check_times(run, own_clocks())


def nested():
    """Calls inside of calls end before these do."""
    run = Run("nested", 3, ["info_attributes"], ["--timing", "exact"])
    is_complete(run, "exact")
    for rank in range(3):
        before = 0
        for line in run.dumped(rank):
            expect(line["end_ns"] >= before, "rank %d call %d ends before the one before it", rank, line["seq"])
            before = line["end_ns"]


def by_environment():
    run = Run("environment", 2, ["p2p_blocking"], [], env={"REFRAIN_TIMING": "exact"})
    is_complete(run, "exact")
    check_times(run, own_clocks())


def no_spool():
    run = Run("no-spool", 3, ["random_mix", 3, 9000], ["--timing", "exact", "--spool", "off"])
    is_complete(run, "exact")
    check_times(run, own_clocks())


def little_memory():
    """The tables begin anew many times, and numbers with them."""
    run = Run("little-memory", 3, ["random_mix", 3, 12000],
              ["--timing", "bins:0.05", "--exact-copy", "exact.rfn", "--memory", "1M"])
    is_complete(run, "bins:0.05")
    refrain("check", run.trace, "--against", os.path.join(run.folder, "exact.rfn"))
    run.trace = os.path.join(run.folder, "exact.rfn")
    check_times(run, own_clocks())


def held_calls():
    """Calls that waited until the size of a message was known have their own times."""
    run = Run("held", 2, ["random_mix", 5, 3000], ["--timing", "exact", "--max-bytes", "1G"])
    refrain("check", run.trace)
    expect({loss["reason"] for loss in run.info()["losses"]} <= {"left_out"}, "losses %r", run.info()["losses"])
    receives = sum(line["call"] == "MPI_Irecv" for rank in range(2) for line, _ in pairs(run, rank, filtered=True))
    expect(receives > 100, "only %d receives were held and kept", receives)
    check_times(run, own_clocks(), filtered=True)


def bounds():
    for bound in ("0.001", "0.02", "0.2,MPI_Wait=0.01", "0.5"):
        run = Run("bins-" + bound.split(",")[0], 4, ["random_mix", 11, 3000],
                  ["--timing", "bins:" + bound, "--exact-copy", "exact.rfn"])
        is_complete(run, "bins:" + bound)
        other = os.path.join(run.folder, "exact.rfn")
        text = refrain("check", run.trace, "--against", other)
        expect("within the bound" in text, "check says %r", text)
        refrain("check", other)


def threads():
    for words in (["threads"], ["threads_come_and_go"], ["threads_hand_over"]):
        run = Run(words[0], 2, words, ["--timing", "bins:0.01", "--exact-copy", "exact.rfn"])
        is_complete(run, "bins:0.01")
        refrain("check", run.trace, "--against", os.path.join(run.folder, "exact.rfn"))


def sessions():
    """Processes that have no communicator to compare their clocks with."""
    run = Run("sessions", 3, ["sessions_only"], ["--timing", "exact"], status=None)
    if run.outcome.status == SKIPPED:
        return "skip: no sessions"
    is_complete(run, "exact")
    return None


def other_clocks():
    """Clocks that are seconds apart, and drift."""
    if options.mpi != "mpich":
        return "skip: Open MPI knows that its ranks share a clock"
    run = Run("other-clocks", 4, ["random_mix", 7, 4000], ["--timing", "exact"], shims=[options.skewed_clock])
    is_complete(run, "exact")
    # A rank's own nanoseconds are longer: what they say of its calls is set right, too.
    check_times(run, APART_NS)
    refrain("waits", run.trace)
    return None


def disagreement():
    """One rank has another idea of what to keep."""
    script = os.path.join(options.work, "one_other.sh")
    with open(script, "w") as f:
        f.write('#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && export REFRAIN_TIMING=bins:0.5\n'
                'exec "$@"\n')
    os.chmod(script, 0o755)
    run = Run("disagreement", 3, ["p2p_blocking"], [], env={"REFRAIN_TIMING": "exact"}, wrapper=[script])
    expect(b"do not agree about --timing" in run.outcome.stderr, "not a word: %r", run.outcome.stderr[-300:])
    expect(run.info()["timing"] == "stats", "timing %r", run.info()["timing"])
    refrain("check", run.trace)


def window():
    """Only what lies in it is shown."""
    run = Run("window", 2, ["random_mix", 7, 30000], ["--timing", "exact"])
    whole = run.dumped(1)
    low, high = whole[len(whole) // 3]["begin_ns"], whole[len(whole) // 2]["end_ns"]
    text = refrain("dump", "--rank", "1", "--from-ns", str(low), "--to-ns", str(high), "--format", "jsonl", run.trace)
    inside = [line for line in whole if line["end_ns"] >= low and line["begin_ns"] <= high]
    expect([json.loads(line) for line in text.splitlines()] == inside, "the window is not what lies in it")
    # A call of an operator begins behind the window, inside of a call that begins before, and comes before it.
    run = Run("window_nested", 2, ["user_op"], ["--timing", "exact"])
    whole = run.dumped(1)
    nested = next(line for line in whole if line["call"] == "MPI_Type_size")
    high = nested["begin_ns"] - 1
    text = refrain("dump", "--rank", "1", "--to-ns", str(high), "--format", "jsonl", run.trace)
    inside = [line for line in whole if line["begin_ns"] <= high]
    expect(inside[-1]["seq"] > nested["seq"], "no call is around %r", nested)
    expect([json.loads(line) for line in text.splitlines()] == inside, "a call around another one is not in the window")


def functions():
    """Functions of the program are segments: main, repeat, descend, twice, add, and what is behind each."""
    run = Run("functions", 2, ["functions"], ["--timing", "exact", "--functions", "on"])
    is_complete(run, "exact")
    check_times(run, own_clocks())
    reduced = os.path.join(run.folder, "reduced.rfn")
    said = json.loads(refrain("reduce", "--segments", "marks", "--format", "json", "-o", reduced, run.trace))
    names = {context.split("_")[0] for context in said["contexts"]}
    expect(len(names) == 5 and all(name.startswith("functions+0x") for name in names), "contexts %r", names)
    expect(said["marks"]["crossed"] == 0 and said["marks"]["ends_without_begin"] == 0, "marks %r", said["marks"])
    refrain("check", reduced)


def wrong_words():
    def record(*words):
        return subprocess.run([options.refrain, "record"] + list(words) +
                              ["--", os.path.join(options.programs, "p2p_blocking")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=options.work,
                              env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
    for words in (["--timing", "bins"], ["--timing", "bins:2"], ["--timing", "bins:0.1,MPI_Nothing=0.1"],
                  ["--timing", "often"], ["--functions", "some"], ["--timing", "exact", "--exact-copy", "x.rfn"],
                  ["--timing", "bins:0.1", "--exact-copy", "/no/such/folder/x.rfn"],
                  ["--timing", "bins:0.1", "--exact-copy", "x.rfn", "-o", "./x.rfn"]):
        done = record(*words)
        expect(done.returncode in (2, 1), "%r: exit status %d", words, done.returncode)
        expect(len(done.stderr.splitlines()) == 1, "%r: says %r", words, done.stderr)


TESTS = {"exact": exact, "nested": nested, "by_environment": by_environment, "no_spool": no_spool,
         "little_memory": little_memory, "held_calls": held_calls, "bounds": bounds, "threads": threads,
         "sessions": sessions, "other_clocks": other_clocks, "disagreement": disagreement, "window": window,
         "functions": functions,
         "wrong_words": wrong_words}


def run_tests(doc, tests, required=(), optional=(), on_smpi=()):
    """Runs the tests, or the one of --only, each a function that may return how it ended. The words named are
    paths, beside those that all these files take; on_smpi has those tests that SMPI can run. Returns the exit
    status."""
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    paths = ["refrain", "programs", "libraries"] + list(required)
    for name in ["mpi"] + paths:
        parser.add_argument("--" + name, required=True)
    for name in ["shim"] + list(optional):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--only", choices=sorted(tests))
    parser.add_argument("--keep", action="store_true")
    parser.parse_args(namespace=options)
    for name in (n.replace("-", "_") for n in paths + ["shim"] + list(optional)):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if not mpirun.launcher(options.mpi):
        print("skip  no", options.mpi)
        return SKIPPED
    options.work = tempfile.mkdtemp(prefix="refrain-timing-")
    failed = 0
    for name, test in tests.items():
        if options.only not in (None, name) or (options.mpi == "smpi" and name not in on_smpi):
            continue
        begin = time.monotonic()
        try:
            said = test()
        except Exception as e:  # noqa: B902 - anything that goes wrong is a failure
            said = "FAIL: %s %s" % (type(e).__name__, e)
            failed += 1
        print("%s  %s %s  %.1f s" % (said or "pass", options.mpi, name, time.monotonic() - begin), flush=True)
    if not options.keep:
        shutil.rmtree(options.work, ignore_errors=True)
    print("%d failed" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_tests(__doc__, TESTS, optional=["skewed-clock"]))
