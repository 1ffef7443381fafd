#!/usr/bin/python3
"""Clocks that run unevenly, compared while the program runs (`record --clock-interval`).

    clocks.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich [--only bent]

Every rank is a host of its own here, whose clock goes faster than the system's for a second and slower for
the next. The test programs note the system's own clock. Exit status: 0 all good, 1 something is wrong, 77
nothing could run.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import timing  # noqa: E402
from timing import Run, expect, mpirun, options, pairs  # noqa: E402

# The clock of rank 3 is 24 ms ahead at most: a straight line is off by half of that or more. Ranks that find
# out by messages on cores that they share are a little apart, and more so where a clock bends. A comparison
# whose message had to wait for a core bends the calls on both of its sides, so a few calls may be further off.
RANKS, STEPS, STEP_US = 4, 100, 20_000
FAR_NS, NEAR_NS = 8_000_000, 4_000_000
NEAR_CALLS = 0.9
# On a machine that is busy with something else, more than one message of ten may wait for a core.
MOST_RUNS = 4


def bent(name, words, record, **more):
    shims = [options.bent_clock, options.own_hosts]
    return Run(name, RANKS, ["slow_steps"] + words, ["--timing", "exact"] + record, shims=shims,
               env={"REFRAIN_CLOCK": "system"}, **more)


def calls_off(run, filtered=False):
    """How far each call lies from where the program saw it, of all ranks, as far as rank 0 is right: ns, ascending."""
    def shift(lines):
        near = [log["ns"][0] - line["begin_ns"] for log, line in lines if "ns" in log and line["begin_ns"] > 0]
        return sorted(near)[len(near) // 2]
    of_rank_0 = shift(pairs(run, 0, filtered=filtered))
    off = []
    for rank in range(run.ranks):
        for log, line in pairs(run, rank, filtered=filtered):
            if "ns" not in log or line["begin_ns"] == 0:
                continue
            off.append(max(0, log["ns"][0] - (line["begin_ns"] + of_rank_0),
                           line["end_ns"] + of_rank_0 - log["ns"][1]))
    return sorted(off)


def are_near(what, make_run):
    """In one run of a few. Each is whole."""
    most = []
    while not most or most[-1] >= NEAR_NS and len(most) < MOST_RUNS:
        run = make_run("%s-%d" % (what, len(most)))
        is_whole(run)
        off = calls_off(run)
        most.append(off[int(NEAR_CALLS * len(off))])
    expect(most[-1] < NEAR_NS, "%s: one call of ten is so many ns off or more, in each of the runs: %r", what, most)


def is_whole(run):
    info = run.info()
    expect(not info["losses"], "losses %r", info["losses"])
    timing.refrain("check", run.trace)


def straight():
    """Without it, the two ends are not enough: else the other tests would say nothing."""
    run = bent("straight", [STEPS, STEP_US], [])
    is_whole(run)
    off = calls_off(run)[-1]
    expect(off > FAR_NS, "calls are only %d ns off: the clocks are not bent enough", off)


def compared():
    for how in ("alike", "dup"):
        are_near("compared-" + how,
                 lambda name: bent(name, [STEPS, STEP_US, how], ["--clock-interval", "0.03"]))


def plain():
    """Of a conventional trace as well, and by the environment."""
    are_near("plain", lambda name: Run(
        name, RANKS, ["slow_steps", STEPS, STEP_US], ["--timing", "exact", "--no-compress"],
        shims=[options.bent_clock, options.own_hosts],
        env={"REFRAIN_CLOCK": "system", "REFRAIN_CLOCK_INTERVAL": "0.03"}))


def same_host():
    """Ranks of one host have one clock, and are told by their leader."""
    run = Run("same-host", RANKS, ["slow_steps", 40, 5_000], ["--timing", "bins:0.1", "--clock-interval", "0.02"])
    is_whole(run)


def recovered():
    """Of a job that dies later the points are in the spool."""
    run = bent("recovered", [STEPS, STEP_US, "abort"], ["--clock-interval", "0.03"], status=None)
    expect(run.outcome.status not in (0, mpirun.TIMED_OUT), "exit status %d", run.outcome.status)
    timing.refrain("recover", run.trace + ".spool", "-o", run.trace)
    timing.refrain("check", run.trace, status=timing.INCOMPLETE)


def uneven_count():
    """A rank whose recording is paused counts less: the others wait once, a little, and say so."""
    run = bent("uneven", [40, 5_000, "paused"], ["--clock-interval", "0.02"])
    losses = {loss["reason"] for loss in run.info()["losses"]}
    expect("clocks_not_compared" in losses, "losses %r", losses)
    timing.refrain("check", run.trace)


def threads():
    run = Run("threads", 2, ["threads"], ["--timing", "exact", "--clock-interval", "0.001"])
    is_whole(run)


def wrong_words():
    for words in (["--clock-interval", "60"], ["--timing", "exact", "--clock-interval", "-1"],
                  ["--timing", "exact", "--clock-interval", "1e10"], ["--timing", "exact", "--clock-interval", "nan"],
                  ["--timing", "exact", "--clock-interval", "often"]):
        program = ["--", os.path.join(options.programs, "slow_steps")]
        done = subprocess.run([options.refrain, "record"] + words + program, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=options.work,
                              env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
        expect(done.returncode == 2, "%r: exit status %d", words, done.returncode)
        expect(len(done.stderr.splitlines()) == 1 and b"--clock-interval" in done.stderr, "%r: says %r", words,
               done.stderr)


TESTS = {"straight": straight, "compared": compared, "plain": plain, "same_host": same_host, "recovered": recovered,
         "uneven_count": uneven_count, "threads": threads, "wrong_words": wrong_words}


if __name__ == "__main__":
    sys.exit(timing.run_tests(__doc__, TESTS, required=["bent-clock", "own-hosts"]))
