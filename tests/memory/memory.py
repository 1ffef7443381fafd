#!/usr/bin/python3
"""--memory bounds the recorder, and what it records is the same.

    memory.py --refrain build/refrain --mpi mpich --programs build/tests/memory/mpich [--only kill]

Programs are recorded with a bound and without; the dumps are equal call by call, and the trace says
that the recorder kept to the bound. Exit status: 0 all good, 1 something is wrong, 77 nothing could
run.
"""
import argparse
import glob
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED, INCOMPLETE = 77, 4
MIB = 1 << 20
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def record(name, ranks, words, memory=None, by_environment=False, spool=None, kill=False, more=()):
    """A job; the path of its trace, and how it ended."""
    trace = os.path.join(options.work, name + ".rfn")
    env = {"REFRAIN_LIBRARY_PATH": options.libraries}
    command = [options.refrain, "record", "-o", trace] + list(more)
    if spool:
        command += ["--spool", spool]
    if kill:
        env["REFRAIN_TEST_KILL"] = trace + ".rank-0-is-there"
    if memory and by_environment:
        env["REFRAIN_MEMORY"] = memory
    elif memory:
        command += ["--memory", memory]
    shims = mpirun.shims(options.mpi, options.shim)
    program = [os.path.join(options.programs, words[0])] + [str(w) for w in words[1:]]
    outcome = mpirun.run_job(options.mpi, ranks, command + ["--"] + program, 120, shims, env, cwd=options.work)
    return trace, outcome


def recorded(*arguments, **more):
    """The path of a trace that must be whole, and what `info` says of it."""
    trace, outcome = record(*arguments, **more)
    expect(outcome.status == 0, "exit status %d: %r", outcome.status, outcome.stderr[-300:])
    refrain("check", trace)
    info = info_of(trace)
    lost = [l for l in info["losses"] if l["reason"] != "left_out"]
    expect(info["complete"] and not lost, "losses: %r", lost)
    expect(not os.path.exists(trace + ".spool"), "the spool is still there")
    return trace, info


def refrain(*arguments, status=0):
    done = subprocess.run([options.refrain] + list(arguments), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    expect(done.returncode == status, "`refrain %s` exits with %d instead of %d: %s", " ".join(arguments),
           done.returncode, status, done.stderr.decode().strip()[:300])
    return done.stdout.decode()


def info_of(trace, status=0):
    return json.loads(refrain("info", "--format", "json", trace, status=status))


# What MPI_Finalize has in memory of each signature until the record is handed over.
EACH = 112


def most_memory(info):
    return info["recorder_cost"]["memory_bytes"]["greatest"]


def expect_bounded(info, bound, without):
    """The bound while recording, and in MPI_Finalize what is distinct."""
    limit = bound * MIB + info["signatures"] * EACH
    expect(without > limit + bound * MIB, "no more than %d bytes are needed without a bound", without)
    expect(most_memory(info) <= limit, "%d bytes, %d without a bound, at most %d", most_memory(info), without, limit)


def calls_of(trace, rank, status=0):
    """Lines of the dump by thread. Requests are named in order of appearance, and types not at all: how
    threads take turns decides about their numbers."""
    threads, names = {}, {}
    text = refrain("dump", "--rank", str(rank), "--format", "jsonl", trace, status=status)
    for line in text.splitlines():
        thread = json.loads(line)["thread"]
        known = names.setdefault(thread, {})
        line = re.sub(r'"request#\d+"', lambda m: known.setdefault(m.group(), '"request %d"' % len(known)), line)
        threads.setdefault(thread, []).append(re.sub(r'"datatype#\d+"', '"a datatype"', line))
    return threads


def expect_equal(one, other, ranks):
    for rank in range(ranks):
        ours, theirs = calls_of(one, rank), calls_of(other, rank)
        expect(sorted(ours) == sorted(theirs), "rank %d: threads %r and %r", rank, sorted(ours), sorted(theirs))
        for thread in ours:
            for a, b in itertools.zip_longest(ours[thread], theirs[thread]):
                expect(a == b, "rank %d, thread %d: %s with the bound, %s without", rank, thread, a, b)


def parts_in(spool):
    """Statistics that were finished before the end, in the spool of a job that died."""
    count = 0
    for path in glob.glob(spool + "/*.rank"):
        with open(path, "rb") as f:
            data = f.read()
        for at in range(4096, len(data), 4096):
            is_chunk = data[at:at + 4] == b"CHNK" and int.from_bytes(data[at + 8:at + 16], "little") == at
            kind = int.from_bytes(data[at + 4:at + 8], "little")
            count += is_chunk and kind == 5 and int.from_bytes(data[at + 40:at + 48], "little") == 1
    return count


def new_signatures():
    """No two calls are alike: the most that a table of signatures can be asked for."""
    calls, bound = 300000, 16
    free, info = recorded("new-free", 1, ["new_signature", calls])
    without = most_memory(info)
    expect(without <= 64 * MIB, "%d bytes without a bound", without)
    bounded, info = recorded("new-bound", 1, ["new_signature", calls], memory="%dM" % bound)
    expect(most_memory(info) <= bound * MIB + calls * EACH, "%d bytes, %d without", most_memory(info), without)
    expect(info["calls"] == calls + 2 and info["signatures"] == calls + 2, "%d calls, %d signatures",
           info["calls"], info["signatures"])
    expect_equal(bounded, free, 1)


def many_kinds():
    """A program whose calls come back, and need more memory than there is until they do."""
    rounds, bound = 1400, 3
    free, info = recorded("kinds-free", 2, ["parts", rounds])
    without = most_memory(info)
    bounded, info = recorded("kinds-bound", 2, ["parts", rounds], memory="%dM" % bound, by_environment=True)
    expect_bounded(info, bound, without)
    expect_equal(bounded, free, 2)


def threads():
    rounds, bound = 700, 4
    free, info = recorded("threads-free", 2, ["parts", rounds, "threads"])
    without = most_memory(info)
    bounded, info = recorded("threads-bound", 2, ["parts", rounds, "threads"], memory="%dM" % bound)
    expect_bounded(info, bound, without)
    expect_equal(bounded, free, 2)


def kill():
    rounds = 700
    free, _ = recorded("kill-free", 2, ["parts", rounds])
    dead, _ = record("kill-bound", 2, ["parts", rounds], memory="2M", kill=True)
    expect(not os.path.exists(dead) and parts_in(dead + ".spool") >= 2, "no parts in %s", os.listdir(options.work))
    refrain("recover", dead + ".spool")
    for rank in range(2):
        whole, found = calls_of(free, rank)[0], calls_of(dead, rank, INCOMPLETE)[0]
        until = 1 + next(i for i, line in enumerate(whole) if "MPI_Query_thread" in line)
        expect(found == whole[:until], "rank %d: %d calls recovered of %d", rank, len(found), until)
    durations = json.loads(refrain("profile", "--format", "json", dead, status=INCOMPLETE))
    expect(durations, "no profile")


def times():
    """Calls that complete requests of tables that are forgotten have their times, too: all within the bound."""
    for words, bound in ((["parts", 500], "1M"), (["parts", 300, "threads"], "2M")):
        name = "times-%d" % len(words)
        exact = os.path.join(options.work, name + "-exact.rfn")
        trace, _ = recorded(name, 2, words, memory=bound, more=["--timing", "bins:0.05", "--exact-copy", exact])
        checked = json.loads(refrain("check", "--format", "json", "--against", exact, trace))
        expect(checked["against"]["calls"] == info_of(trace)["calls"], "checked: %r", checked)


def times_of_the_dead():
    """A job that dies between two tables."""
    dead, _ = record("times-kill", 2, ["parts", 500], memory="1M", kill=True, more=["--timing", "exact"])
    expect(parts_in(dead + ".spool") >= 2, "no parts in %s", os.listdir(options.work))
    refrain("recover", dead + ".spool")
    refrain("check", dead, status=INCOMPLETE)
    lost = {l["reason"] for l in info_of(dead, INCOMPLETE)["losses"]}
    expect("times_missing" not in lost, "losses: %r", lost)
    for rank in range(2):
        before = 0
        for line in refrain("dump", "--rank", str(rank), "--format", "jsonl", dead, status=INCOMPLETE).splitlines():
            call = json.loads(line)
            if call["end_ns"] is None:
                continue  # the one that never returned
            expect(before <= call["end_ns"] and call["begin_ns"] <= call["end_ns"], "rank %d: %s", rank, line)
            before = call["end_ns"]


def no_spool():
    """Nowhere to put parts: what was recorded until then is there, and the rest is counted."""
    calls = 50000
    trace, outcome = record("no-spool", 1, ["new_signature", calls], memory="1M", spool="off")
    expect(outcome.status == 0, "exit status %d: %r", outcome.status, outcome.stderr[-300:])
    info = info_of(trace)
    lost = sum(l["calls"] for l in info["losses"] if l["reason"] == "out_of_memory")
    expect(lost > 0 and lost + info["calls"] == calls + 2, "%d lost, %d recorded", lost, info["calls"])


def wrong_values():
    for value in ("64X", "-1", "M", "1.5"):
        _, outcome = record("wrong", 1, ["new_signature", 10], memory=value)
        expect(outcome.status == 2 and b"not a size" in outcome.stderr, "%s: exit status %d, %r", value,
               outcome.status, outcome.stderr[-300:])


TESTS = {
    "new_signatures": new_signatures,
    "many_kinds": many_kinds,
    "threads": threads,
    "kill": kill,
    "times": times,
    "times_of_the_dead": times_of_the_dead,
    "no_spool": no_spool,
    "wrong_values": wrong_values,
}


def run_all():
    failed = 0
    for name in [options.only] if options.only else TESTS:
        begin = time.monotonic()
        try:
            TESTS[name]()
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as e:
            failed += 1
            print("FAIL  %s %s: %s %s" % (options.mpi, name, type(e).__name__, e), flush=True)
            continue
        print("pass  %s %s  %.1f s" % (options.mpi, name, time.monotonic() - begin), flush=True)
    print("%d failed" % failed)
    return 1 if failed else 0


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True, choices=mpirun.MPIS)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries", default="")
    parser.add_argument("--shim", default="")
    parser.add_argument("--only", choices=sorted(TESTS))
    options = parser.parse_args()
    for name in ("refrain", "programs", "libraries", "shim"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return SKIPPED
    options.work = tempfile.mkdtemp(prefix="refrain-memory-")
    try:
        return run_all()
    finally:
        shutil.rmtree(options.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
