#!/usr/bin/env python3
"""Replays under SMPI take as long as the program took, in simulated time.

usage: simulated.py --refrain BIN --libraries DIR --programs DIR

A program that computes (sleeps, which the simulation counts) between its messages is recorded with exact times and
replayed with `--compute sleep` and `spin`: both must take the recorded time but for 1 %. The replay is recorded as
well: the same calls, at the program's own places. A wrong number of ranks ends with status 2. Exit status: 0 good,
1 something is wrong, 77 SimGrid is not there.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

RANKS = 4
MOST_ERROR = 0.01
SLOW = "10:1:5000"  # rank 1 computes 5 ms more in iteration 10
TIMEOUT_S = 120


class Failure(Exception):
    """One line that says what is wrong."""


def run(options, command, wrapper, ranks=RANKS):
    environment = dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries)
    return smpi.run(smpi.command_line(ranks, command, wrapper), TIMEOUT_S, environment)


def good(outcome, what):
    if outcome.status != 0:
        raise Failure("%s ends with %d: %s" % (what, outcome.status, outcome.output[-400:]))
    return outcome.output


def check(options, folder):
    trace, again = os.path.join(folder, "run.rfn"), os.path.join(folder, "again.rfn")
    program = os.path.join(options.programs, "steps")
    good(run(options, [program, "single", "40", "2000", SLOW],
             [options.refrain, "record", "--timing", "exact", "-o", trace]), "the program")
    for compute in ("sleep", "spin"):
        text = good(run(options, [trace], [options.refrain, "replay", "--compute", compute, "--format", "json"]),
                    "the replay")
        found = json.loads(text[text.index("{"):text.rindex("}") + 1])
        error = found["replay_s"] / found["app_s"] - 1
        print("%s: program %.6f s, replay %.6f s, %+.3f %%" % (compute, found["app_s"], found["replay_s"], error * 100))
        if found["app_s"] < 40 * 0.002 + 0.005:
            raise Failure("the program has computed for %.6f s in all only" % found["app_s"])
        if abs(error) > MOST_ERROR:
            raise Failure("--compute %s: the replay takes %.6f s, the program took %.6f s"
                          % (compute, found["replay_s"], found["app_s"]))
    good(run(options, [trace], [options.refrain, "record", "-o", again, "--", options.refrain, "replay"]),
         "the recorded replay")
    done = subprocess.run([options.refrain, "check", again, "--replays", trace, "--format", "json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure("the replay differs: %s" % (done.stdout + done.stderr)[:400])
    if json.loads(done.stdout)["may_differ"]["places"] != 0:
        raise Failure("calls of the replay are not at the program's places")
    wrong = run(options, [trace], [options.refrain, "replay"], RANKS - 1)
    if wrong.status != 2 or "start it with as many" not in wrong.output:
        raise Failure("%d ranks: status %d, %s" % (RANKS - 1, wrong.status, wrong.output[-300:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--programs", required=True)
    options = parser.parse_args()
    for name in ("refrain", "libraries", "programs"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    if not mpirun.launcher("smpi"):
        print("simulated: SimGrid is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="refrain-simulated-") as folder:
        try:
            check(options, folder)
        except Failure as failure:
            print("simulated: %s" % failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
