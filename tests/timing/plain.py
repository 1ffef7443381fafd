#!/usr/bin/python3
"""A conventional trace (`record --no-compress`) has the calls and times of any other, and its files the
records, bytes and flushes that `info` speaks of.

    plain.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich [--only files]

Exit status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import timing  # noqa: E402
from timing import Run, check_times, expect, is_complete, mpirun, options, own_clocks  # noqa: E402

PLAIN = ["--timing", "exact", "--no-compress"]
# begin, end, terminal + 1, function, bytes of the signature behind it
HEAD = struct.Struct("<QQIII4x")
# Of begins in the trace, whose clock is set right by a straight line.
NEAR_NS, NEAR_SHARE = 3_000, 1e-4


def records(path):
    """(begin, end, terminal, function, signature) of each call in a file."""
    with open(path, "rb") as f:
        data = f.read()
    found, at = [], 0
    while at < len(data):
        begin, end, terminal, call, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        found.append((begin, end, terminal - 1, call, data[at:at + size]))
        at += size
    expect(at == len(data), "%s ends in the middle of a record", path)
    return found


def flushes_of(sizes, room):
    """How often a buffer is written, into which records of these sizes go."""
    used = flushes = 0
    for size in sizes:
        if room - used < size and used > 0:
            flushes, used = flushes + 1, 0
        if size > room:
            flushes += 1
        else:
            used += size
    return flushes + (used > 0)


def by_rank(run):
    """{rank: records}, of a run of one thread each."""
    folder = run.trace + ".plain"
    return {int(name.split("-")[0]): records(os.path.join(folder, name)) for name in os.listdir(folder)}


def check_records(run, found, room):
    """The files against `info` and `dump`."""
    plain = run.info()["plain_trace"]
    expect(plain["buffer_bytes"] == room and plain["write"], "info says %r", plain)
    expect(len(plain["by_rank"]) == run.ranks == len(found), "%d files, info says %r", len(found), plain)
    for rank in range(run.ranks):
        said, lines = plain["by_rank"][rank], run.dumped(rank)
        sizes = [HEAD.size + len(record[4]) for record in found[rank]]
        expect((said["bytes"], said["flushes"]) == (sum(sizes), flushes_of(sizes, room)),
               "rank %d: info says %r, its file has %d bytes in %d flushes", rank, said, sum(sizes),
               flushes_of(sizes, room))
        expect(said["write_ns"] > 0, "rank %d: writing took no time", rank)
        expect(len({(r[2], r[4]) for r in found[rank]}) == len({r[4] for r in found[rank]}),
               "rank %d: a signature has two numbers", rank)
        check_begins(rank, found[rank], lines)
    expect(plain["bytes"] == sum(r["bytes"] for r in plain["by_rank"]), "the sum is %d", plain["bytes"])
    expect(plain["flushes"] == sum(r["flushes"] for r in plain["by_rank"]), "the sum is %d", plain["flushes"])


def check_begins(rank, found, lines):
    """In the trace: the same functions, at the same times but for origin and rate."""
    expect(len(found) == len(lines), "rank %d: %d records, %d calls", rank, len(found), len(lines))
    names = {}
    for record, line in zip(found, lines):
        expect(names.setdefault(record[3], line["call"]) == line["call"], "rank %d call %d: %s is not function %d",
               rank, line["seq"], line["call"], record[3])
    known = [(record[0], line["begin_ns"]) for record, line in zip(found, lines) if line["begin_ns"] > 0]
    (first, first_ns), (last, last_ns) = known[0], known[-1]
    rate = (last_ns - first_ns) / (last - first)
    for ticks, ns in known:
        off = abs(ns - first_ns - (ticks - first) * rate)
        expect(off < NEAR_NS + NEAR_SHARE * ns, "rank %d: a call begins %d ns from where its record says", rank, off)


def files():
    """Buffers that are small, and so small that some records are larger."""
    for room in (4096, 16384):
        run = Run("files-%d" % room, 4, ["random_mix", 7, 2000], PLAIN + ["--buffer", str(room)],
                  shims=[options.keep_plain])
        is_complete(run, "exact")
        found = by_rank(run)
        check_records(run, found, room)
        expect(min(len(r) for r in found.values()) > 500, "only %r records", {k: len(v) for k, v in found.items()})


def same_calls():
    """As a trace that is compressed while the program runs, and no file is left."""
    def calls(run, rank):
        return [{k: v for k, v in line.items() if k not in ("begin_ns", "end_ns")} for line in run.dumped(rank)]
    for words in (["coll_blocking"], ["p2p_blocking"], ["comm_basic"]):
        other = Run("other-" + words[0], 3, words, ["--timing", "exact"])
        run = Run("same-" + words[0], 3, words, PLAIN)
        is_complete(run, "exact")
        expect("plain_trace" not in other.info(), "a trace that was compressed says it was not")
        for rank in range(3):
            expect(calls(run, rank) == calls(other, rank), "%s: the calls of rank %d differ", words[0], rank)
        expect(not os.path.exists(run.trace + ".plain"), "%s.plain is still there", run.trace)
        check_times(run, own_clocks())


def thrown_away():
    """Without writing there are the same bytes and flushes, and no times."""
    plain = []
    for more in ([], ["--no-write"]):
        run = Run("write%d" % len(more), 3, ["coll_blocking"], PLAIN + ["--buffer", "4K"] + more)
        info = run.info()
        plain.append([(r["bytes"], r["flushes"]) for r in info["plain_trace"]["by_rank"]])
        timing.refrain("check", run.trace)
    expect(plain[0] == plain[1], "%r with writing, %r without", *plain)
    expect(not info["plain_trace"]["write"], "info says that it was written")
    missing = {(loss["reason"], loss["detail"]) for loss in info["losses"]}
    expect(missing == {("times_missing", "thrown away: --no-write")}, "losses %r", info["losses"])
    expect(sum(loss["calls"] for loss in info["losses"]) == info["calls"], "losses %r", info["losses"])
    expect(all(line["begin_ns"] is None for line in run.dumped(1)), "calls have times")


def threads():
    run = Run("threads", 2, ["threads"], PLAIN + ["--buffer", "4K"])
    is_complete(run, "exact")


def no_place():
    """Nothing can be written: the program ends well, and the trace says what it lacks."""
    folder = os.path.join(options.work, "no-place")
    script = os.path.join(options.work, "no_place.sh")
    with open(script, "w") as f:
        f.write('#!/bin/sh\n: >> %s/run.rfn.plain\nexec "$@"\n' % folder)
    os.chmod(script, 0o755)
    run = Run("no-place", 2, ["coll_blocking"], PLAIN + ["--buffer", "4K"], wrapper=[script])
    # Open MPI 5's launcher mixes lines of ranks that write at the same time.
    said = run.outcome.stderr.decode()
    expect(said.count("cannot write") == 2 and said.count("(Not a directory)") == 2, "said: %r", said)
    info = run.info()
    expect({loss["reason"] for loss in info["losses"]} == {"times_missing"}, "losses %r", info["losses"])
    expect(sum(loss["calls"] for loss in info["losses"]) == info["calls"], "losses %r", info["losses"])
    timing.refrain("check", run.trace)


def died():
    """The calls are in the spool; times that were in a buffer or a file are not."""
    run = Run("died", 3, ["abort"], PLAIN, status=None)
    expect(run.outcome.status not in (0, mpirun.TIMED_OUT), "exit status %d", run.outcome.status)
    timing.refrain("recover", run.trace + ".spool", "-o", run.trace)
    losses = {loss["reason"] for loss in run.info(timing.INCOMPLETE)["losses"]}
    expect("times_missing" in losses, "losses %r", losses)
    # Of the rank that gave up; the others may not have left it when they were ended.
    last = run.dumped(run.ranks - 1, timing.INCOMPLETE)
    expect(any(line["call"] == "MPI_Barrier" for line in last), "no MPI_Barrier")


def wrong_words():
    for words in (["--no-compress"], ["--timing", "bins:0.1", "--no-compress"], PLAIN + ["--buffer", "much"],
                  PLAIN + ["--buffer", "1"], PLAIN + ["--memory", "64M"], ["--timing", "exact", "--no-write"],
                  ["--timing", "exact", "--buffer", "1M"]):
        program = ["--", os.path.join(options.programs, "p2p_blocking")]
        done = subprocess.run([options.refrain, "record"] + words + program, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=options.work,
                              env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
        expect(done.returncode == 2, "%r: exit status %d", words, done.returncode)
        expect(len(done.stderr.splitlines()) == 1 and b"--" in done.stderr, "%r: says %r", words, done.stderr)


TESTS = {"files": files, "same_calls": same_calls, "thrown_away": thrown_away, "threads": threads,
         "no_place": no_place, "died": died, "wrong_words": wrong_words}


if __name__ == "__main__":
    sys.exit(timing.run_tests(__doc__, TESTS, required=["keep-plain"]))
