#!/usr/bin/python3
"""Programs of one job that find each other and stream data (include/refrain/coupling.h): examples/coupling, which are
Figures 11 and 12 of the online-coupling paper and blocks that nobody copies, and coupled.c, of which it is known what
each process prints.

    coupling.py --mpi mpich --programs build/tests/live/mpich --shim yield_shim.so [--refrain build/refrain]
                [--libraries build/src/tracer]
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 300
options = None


def job(*programs, launcher_options=(), wrapper=(), env=None, then=""):
    """Runs (ranks, words...) as one job: its outcome, and the lines of its output, sorted.

    Each process writes to a file of its own: launchers mix lines, and lose those that are on their way when a job is
    ended. `then`: what the shell around each process does afterwards."""
    preload = mpirun.shims(options.mpi, options.shim)
    environment = mpirun.job_environment(options.mpi)
    environment.setdefault("REFRAIN_QUIET", "1")
    with tempfile.TemporaryDirectory(prefix="refrain-coupling-") as folder:
        shell = ["/bin/sh", "-c", '"$@" > "$0.$$"' + then, os.path.join(folder, "out")]
        argv = []
        for ranks, *words in programs:
            line = mpirun.command_line(options.mpi, ranks, words, preload, env, shell + list(wrapper))
            argv += [":"] + line[line.index("-n"):] if argv else line[:1] + list(launcher_options) + line[1:]
        outcome = mpirun.run_command(argv, LIMIT_S, environment)
        lines = []
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                lines += file.read().splitlines()
    return outcome, sorted(lines)


def program(name):
    return os.path.join(options.programs, name)


def check_figures():
    """Two writers' programs and a reader's: every block comes, to the reader that the map says."""
    outcome, lines = job((2, program("writer"), "9"), (1, program("writer"), "5"), (2, program("reader")))
    # Three writers in two partitions of 2 and 1; the second one is the smaller, so both readers map to it.
    expected = ["reader 3: 9 blocks of rank 0", "reader 4: 9 blocks of rank 1"]
    both = collections.Counter()
    for line in lines:
        found = re.match(r"reader \d: (\d+) blocks of rank 2$", line)
        if found:
            both[2] += int(found.group(1))
    expect(outcome.status == 0 and [line for line in lines if not line.endswith("rank 2")] == expected and both[2] == 5,
           "Figures 11 and 12: three writers and two readers: %d %s" % (outcome.status, lines))
    outcome, lines = job((2, program("writer"), "1"))
    expect(outcome.status != 0 and set(lines) == {'writer: there is no partition "Analyser" in this job'},
           "a job without an analyser: %s" % lines)


def check_in_place():
    """Blocks that nobody copies: three makers of 20 frames each, whose numbers are those of the frames."""
    outcome, lines = job((3, program("frames"), "20"), (1, program("frames")))
    total = 3 * sum(range(20)) * (1 << 17)
    expect(outcome.status == 0 and lines == ["frames 3: 60 frames, sum %d" % total],
           "blocks that are filled and looked at where they are: %d %s" % (outcome.status, lines))


def check_parts():
    outcome, lines = job((2, program("coupled"), "parts"), (1, program("coupled"), "parts", "x"),
                         (1, program("coupled"), "parts", "sink"), (1, program("coupled"), "parts"))
    # The last one has the command line of the first two.
    parts = "coupled parts/3,0,1,4 coupled parts x/1,2 sink/1,3 none"
    own = [(0, 0), (0, 1), (1, 0), (2, 0), (0, 2)]
    expect(outcome.status == 0 and lines == ["%d: %d of 3, process %d, universe 5: %s" % (rank, part, index, parts)
                                             for rank, (part, index) in enumerate(own)],
           "partitions by name and by command line: %s" % lines)


def partners(lines, what):
    """{rank: partners} of a map."""
    found = {}
    for line in lines:
        match = re.match(r"(\d+): %s:((?: \d+)*)$" % what, line)
        if match:
            found[int(match.group(1))] = [int(word) for word in match.group(2).split()]
    return found


def check_maps():
    outcome, lines = job((3, program("coupled"), "maps"), (2, program("coupled"), "maps", "sink"))
    expect(outcome.status == 0 and partners(lines, "round robin") == {0: [3], 1: [4], 2: [3], 3: [0, 2], 4: [1]} and
           partners(lines, "fixed") == {0: [3], 1: [3], 2: [4], 3: [0, 1], 4: [2]}, "maps round robin and fixed")
    random = partners(lines, "random")
    expect(all(random[rank] for rank in range(5)) and
           all(rank in random[partner] for rank in range(5) for partner in random[rank]) and
           [len(random[rank]) for rank in range(3)] == [1, 1, 1], "a random map: %s" % random)
    # The function leaves out process 1, and deals the others from the last one on.
    chosen = partners(lines, "chosen")
    expect(chosen == {0: [3], 1: [], 2: [3], 3: [0, 2], 4: []}, "a map that a function chose: %s" % chosen)
    expect(partners(lines, "added") == {0: [3], 1: [4], 2: [3], 3: [0, 2], 4: [1]}, "maps add, nothing twice")
    refusal = "the function of a map chose a process that is not there"
    expect(sum(line.endswith(refusal) for line in lines) == 5 and not any("wrong" in line for line in lines),
           "a function that chooses badly is refused everywhere")


def check_streams():
    outcome, lines = job((3, program("coupled"), "both"), (2, program("coupled"), "both", "sink"))
    expect(outcome.status == 0 and lines == ["%d: in order" % rank for rank in range(5)],
           "streams both ways at once: %d %s" % (outcome.status, lines))
    outcome, lines = job((2, program("coupled"), "leave"), (1, program("coupled"), "leave", "sink"))
    expect(outcome.status == 0 and lines == ["2: 6 blocks, 2 dead"] +
           ["2: rank %d died: it left MPI with the stream open" % rank for rank in range(2)],
           "writers that leave MPI with their streams open are named: %s" % lines)


def check_death():
    """A shell that goes on for a while keeps the launcher from ending the job."""
    words = {"mpich": ["-disable-auto-cleanup"], "openmpi": ["--enable-recovery"]}[options.mpi]
    _, lines = job((2, program("coupled"), "die"), (1, program("coupled"), "die", "sink"), launcher_options=words,
                   then="; sleep 5")
    expect(lines == ["2: 7 blocks, 1 dead", "2: rank 1 died: its process is gone"],
           "a writer that was killed is named, what it wrote before is read: %s" % lines)


def check_recorded(folder):
    """Both programs recorded: what they do is the same, and the trace has the messages of the streams."""
    if not options.refrain:
        return
    trace = os.path.join(folder, "run.rfn")
    outcome, lines = job((1, program("writer"), "4"), (1, program("reader")),
                         wrapper=[options.refrain, "record", "-o", trace, "--"],
                         env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(outcome.status == 0 and lines == ["reader 1: 4 blocks of rank 0"],
           "recorded: %d %s %s" % (outcome.status, lines, outcome.stderr.decode()[-300:]))
    done = subprocess.run([options.refrain, "profile", trace, "--format", "json"], stdout=subprocess.PIPE, timeout=60)
    check = subprocess.run([options.refrain, "check", trace], capture_output=True, timeout=60)
    expect(check.returncode == 0, "its trace is good: %d %s" % (check.returncode, check.stderr.decode()))
    counts = {f["call"]: f["count"] for f in json.loads(done.stdout or "{}").get("functions", [])}
    # Four blocks, the end, and a greeting of each end.
    expect(counts.get("MPI_Issend") == 7, "its trace has the calls: %s" % counts)
    done = subprocess.run([options.refrain, "matrix", trace, "--format", "json"], stdout=subprocess.PIPE, timeout=60)
    pairs = [(p["source"], p["dest"], p["messages"]) for p in json.loads(done.stdout or "{}").get("pairs", [])]
    expect(sorted(pairs) == [(0, 1, 6), (1, 0, 1)], "and the messages: %s" % pairs)


def check_analysed(folder):
    """The same beside an analyser, which the programs do not see: their world has its partitions only."""
    if not options.refrain:
        return
    record = [options.refrain, "record", "--live", "--live-name", "both", "-o", os.path.join(folder, "both.rfn")]
    left = os.path.join(folder, "live")
    outcome, lines = job((1, *record, program("writer"), "4"), (1, *record, program("reader")),
                         (1, options.refrain, "live", "analyze", "-o", left),
                         env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(outcome.status == 0 and lines == ["reader 1: 4 blocks of rank 0"],
           "beside an analyser: %d %s %s" % (outcome.status, lines, outcome.stderr.decode()[-300:]))
    done = subprocess.run([options.refrain, "profile", os.path.join(left, "both.rfn"), "--format", "json"],
                          stdout=subprocess.PIPE, timeout=60)
    counts = {f["call"]: f["count"] for f in json.loads(done.stdout or "{}").get("functions", [])}
    expect(counts.get("MPI_Issend") == 7, "the analyser's trace has the calls: %s" % counts)


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("mpi", "programs", "shim", "refrain", "libraries"):
        parser.add_argument("--" + name, default="")
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None or not mpirun.starts_several(options.mpi):
        print("skip  no launcher of", options.mpi, "that starts several programs")
        return 77
    check_figures()
    check_in_place()
    check_parts()
    check_maps()
    check_streams()
    check_death()
    with tempfile.TemporaryDirectory(prefix="refrain-coupling-") as folder:
        check_recorded(folder)
        check_analysed(folder)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
