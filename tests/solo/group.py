#!/usr/bin/python3
"""Ranks of a node run together, with messages among them, and do what they did in their job.

    group.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich --libraries build/src/tracer

Four ranks on two nodes are recorded twice: with logs that leave out what ranks of a node sent each other, and with
whole ones. Both nodes run again as groups of two processes; what they print depends on all that they received.
Exit status: 0 all good, 1 something is wrong, 77 no launcher.
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
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

SKIPPED = 77
RANKS = 4
options = None


def program():
    return os.path.join(options.programs, "group_alone")


def record(folder, name, *words):
    wrapper = [options.refrain, "record", "-o", name, "--messages", "all", *words, "--"]
    job = mpirun.run_job(options.mpi, RANKS, [program()], 100, cwd=folder, wrapper=wrapper,
                         env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(job.status == 0, "recorded: %s" % job.stderr.decode(errors="replace")[-300:])
    return sorted(job.stdout.decode().splitlines())


def group(folder, trace, ranks, processes, **env):
    wrapper = [options.refrain, "solo", trace, "--group", ranks, "--"]
    return mpirun.run_job(options.mpi, processes, [program()], 100, cwd=folder, wrapper=wrapper,
                          env={"REFRAIN_LIBRARY_PATH": options.libraries, **env})


def alone(folder, *words):
    return subprocess.run([options.refrain, "solo", *words, "--", program()], cwd=folder, capture_output=True,
                          text=True, timeout=100, check=False,
                          env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))


def as_recorded(folder, trace, printed):
    for ranks in ("0-1", "2-3"):
        done = group(folder, trace, ranks, 2)
        said = done.stderr.decode(errors="replace")
        expect(done.status == 0, "%s, group %s: %d, %s" % (trace, ranks, done.status, said[-500:]))
        now = sorted(line for line in done.stdout.decode().splitlines() if "has seen" in line)
        first = int(ranks[0])
        expect(now == printed[first:first + 2], "%s, group %s prints %s" % (trace, ranks, now))
        expect(said.count("ran in its group") == 2 and "not in the log" not in said,
               "%s, group %s says %s" % (trace, ranks, said[-500:]))


def bad_input(folder):
    done = group(folder, "left_out.rfn", "0-1", 2, GROUP_CHANGE="tag")
    said = done.stderr.decode(errors="replace")
    expect(done.status != 0 and "tag is 6, in the trace 5" in said,
           "a changed tag: %d, %s" % (done.status, said[-300:]))
    for words, status, what in ((("left_out.rfn", "--group", "0-1"), 2, "mpiexec -n 2"),
                                (("left_out.rfn", "--group", "1-0"), 2, "two ranks"),
                                (("left_out.rfn", "--group", "0-9"), 2, "ranks 0 to 3"),
                                (("left_out.rfn", "--group", "0-1", "--rank", "0"), 2, "--rank"),
                                (("left_out.rfn",), 2, "which rank")):
        done = alone(folder, *words)
        expect(done.returncode == status and what in done.stderr, "%s: %d, %s" % (words, done.returncode, done.stderr))
    done = group(folder, "left_out.rfn", "1-2", 2)
    said = done.stderr.decode(errors="replace")
    expect(done.status != 0 and "--group has to have the ranks of its node" in said, "another group: %s" % said[-400:])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--refrain", "--mpi", "--programs", "--libraries"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        return SKIPPED
    folder = tempfile.mkdtemp(prefix="refrain-solo-group-")
    try:
        printed = record(folder, "left_out.rfn", "--node-size", "2")
        said = subprocess.run([options.refrain, "messages", "left_out.rfn", "--format", "json"], cwd=folder,
                              capture_output=True, text=True, check=False)
        found = json.loads(said.stdout)["all"]
        expect(0 < found["kept_bytes"] < 0.7 * found["received_bytes"], "half of it is left out: %s" % found)
        as_recorded(folder, "left_out.rfn", printed)
        bad_input(folder)
        as_recorded(folder, "whole.rfn", record(folder, "whole.rfn"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d wrong" % expectations.failures)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
