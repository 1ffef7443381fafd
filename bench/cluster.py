#!/usr/bin/env python3
"""How well a few ranks stand for all: clusters, and how many parameters of all calls are what they were.

usage: cluster.py [--out DIR] [--quick] [--ranks 64,256] [--program NAME ...] [--k 9,27,81,243] [--long]
       cluster.py --replay [--ranks 64,256] [--program NAME ...] [--noise 0.01] [--steps 5] [--k 9,27,...]
       cluster.py --replay --real [--runs 5] [--ranks 4] [--program NAME ...] [--compute sleep|spin]

Programs of bench/programs run under SimGrid's SMPI (lulesh, a cube of ranks, on 216 instead of 256), each with as much
work for a rank however many there are (weak scaling), and sweep3d also with the same for all (strong). Beside exact
endpoints stands the paper's way (`--paper`). With --k, numbers of clusters, structures mixed (ACURDION, table III),
and the error of time per call that they make.
`record_s` and `record_cluster_s`: the run as a whole, recorded without and with `--cluster`. `found_s` is what
`refrain cluster` takes. Exit status 3 if sweep2d has not nine clusters, or a parameter of it, or any source or
destination, is not what it was with exact endpoints, or if mg, with its 46 kinds, keeps an error of 2 % with nine
clusters or does not with `auto:0.02`.

--long: 1024 and 4096 ranks as well. --replay: times of replays instead, in simulated time (cluster_simulated.py), or
with --real on a real MPI (cluster_replay.py). Exit status 3 if the replay of a simulated trace is off by 1 % from its
program, or ACC with exact endpoints is below 98 %.
Writes DIR/cluster.csv, DIR/cluster_replay.csv or DIR/cluster_real.csv.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import time

import cluster_replay
import cluster_simulated
import common
from cluster_programs import PROGRAMS

sys.path.insert(0, str(common.ROOT / "tests/support"))
import smpi  # noqa: E402

# The rows of ACURDION's table II.
KINDS = ["COUNT", "LOOP", "EVENTS", "SRC", "DEST", "TAG"]
WAYS = [("exact", ()), ("kinds", ("--k", "kinds")), ("paper", ("--paper",)), ("two steps", ("--steps", "2")),
        ("two-signature", ("--method", "two-signature")), ("reference", ("--method", "reference"))]
kHeader = ["program", "ranks", "way", "clusters", "structures", *KINDS, "error", "bytes", "full_bytes", "record_s",
           "record_cluster_s", "found_s", "replayable"]
# What is asked of replays: the name, words of `refrain cluster`, words of `refrain record`.
REPLAYED = [
    ("kinds", ("--k", "kinds"), ("--cluster", "kinds")),
    ("two steps", ("--k", "kinds", "--steps", "2"), None),
    ("two-signature", ("--k", "kinds", "--method", "two-signature"), None),
    ("reference", ("--k", "kinds", "--method", "reference"), None),
    ("none", ("--method", "none"), None),
    ("lead", ("--k", "kinds", "--endpoints", "lead"), ("--cluster", "kinds", "--endpoints", "lead")),
]
kReplayedTimes = 20  # as many steps as under SMPI
# The same in simulated time; K mixes no structures here, as such traces cannot be replayed.
SIMULATED = [("kinds", ("--k", "kinds")), ("nine", ("--k", "9")), ("lead", ("--k", "9", "--endpoints", "lead"))]
# The largest relative error of a rank's time per call that `auto:0.02` may leave, and that nine clusters of mg pass.
kError = 0.02


def record(program, ranks, folder, words=()):
    """A trace with exact times of the simulation, and how long it took."""
    binary = program.compile("smpicc", folder)
    trace = folder / f"{program.stem}-{ranks}.rfn"
    wrapper = [str(common.REFRAIN), "record", "--quiet", "--timing", "exact", *words, "-o", str(trace)]
    line = smpi.command_line(ranks, [str(binary), *program.words()], wrapper, str(folder))
    environment = dict(os.environ, REFRAIN_LIBRARY_PATH=str(recorders()))
    began = time.monotonic()
    done = smpi.run(line, common.kRunTimeoutSeconds, environment)
    if done.status != 0 or not trace.exists():
        common.fail(f"{program.name} at {ranks} ranks: exit status {done.status}\n{done.output[-400:]}")
    return trace, time.monotonic() - began


def recorders():
    build = common.REFRAIN.resolve().parent
    for folder in (build / "src/tracer", build, build.parent / "lib"):
        if (folder / "librefrain-smpi.so").exists():
            return folder
    common.fail(f"there is no librefrain-smpi.so in {build}")
    return None


def cluster(trace, words, folder):
    """What `refrain cluster` says, and how long it took; nothing where it refuses."""
    out = folder / "clustered.rfn"
    ranks = common.info(trace)["ranks"]
    if "--k" not in words:
        words = (*words, "--k", str(min(9, ranks)))
    began = time.monotonic()
    done = subprocess.run([str(common.REFRAIN), "cluster", str(trace), "-o", str(out), "--force", "--format", "json",
                           *words], capture_output=True, text=True, timeout=common.kRunTimeoutSeconds, check=False)
    if done.returncode != 0:
        print(f"{trace.name} {' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
        return None, 0
    return json.loads(done.stdout), time.monotonic() - began


def error_of(trace, folder):
    """The largest relative error of the time of a rank, in MPI and outside, that its lead's would make of it."""
    info = common.info(folder / "clustered.rfn")
    ranks = {row["rank"]: row for row in json.loads(common.run(
        [common.REFRAIN, "profile", "--by", "rank", "--format", "json", trace]))["ranks"]}
    worst = 0
    for cluster in info["clusters"]["list"]:
        lead = ranks[cluster["lead"]]
        for text in cluster["members"]:
            for rank in expand(text):
                mine, its = time_of(ranks[rank]), time_of(lead)
                worst = max(worst, abs(mine - its) / mine if mine > 0 else 0)
    return worst


def time_of(row):
    """Of a rank: in MPI and outside, each call of it."""
    return (row["in_mpi_ns"] + row["outside_ns"]) / max(row["calls"], 1)


def expand(text):
    """The ranks of "<2 0 4 4 2 1>": number of dimensions, the first rank, then a count and a stride for each."""
    numbers = [int(word) for word in text.strip("<>").split()]
    ranks = [numbers[1]]
    for i in range(numbers[0]):
        count, stride = numbers[2 + 2 * i], numbers[3 + 2 * i]
        ranks = [first + stride * n for first in ranks for n in range(count)]
    return ranks


def complaints(program, way, said, error):
    """What must be, and is not."""
    shares = {kind: said["matching"][kind]["share"] for kind in KINDS}
    found = []
    if program == "sweep2d" and way == "exact":
        if said["cluster_count"] != 9:
            found.append(f"sweep2d has {said['cluster_count']} clusters")
        found += [f"sweep2d keeps {shares[kind]:.2%} of {kind}" for kind in KINDS if shares[kind] < 1]
    if program == "mg" and way == "auto:0.02" and error > kError:
        found.append(f"auto:0.02 leaves mg an error of {error:.2%}")
    if program == "mg" and way == "nine, mixed" and error <= kError:
        found.append(f"nine clusters keep the error of mg at {error:.2%}")
    if way == "exact":
        found += [f"{program} keeps {shares[kind]:.2%} of {kind}" for kind in ("SRC", "DEST") if shares[kind] < 1]
    return found


def ways_of(arguments, program, ranks):
    """Each: its name, and the words of `refrain cluster`."""
    if not arguments.k:
        yield from WAYS
        if program == "mg":
            yield "auto:0.02", ("--k", "auto:0.02")
            yield "nine, mixed", ("--k", "9", "--mix")
        return
    for k in arguments.k.split(","):
        if int(k) <= ranks:
            yield f"K {k}", ("--k", k, "--mix")


def measure(arguments, folder):
    """Rows, and what is not as it must be."""
    rows, wrong = [], []
    for program in chosen(arguments):
        for ranks in rank_counts(arguments, program):
            common.progress(f"{program.name}, {ranks} ranks")
            recorded = record(program, ranks, folder, ("--cluster", "kinds"))[1]
            trace, seconds = record(program, ranks, folder)
            for way, words in ways_of(arguments, program.name, ranks):
                said, found = cluster(trace, words, folder)
                if said is None:
                    continue
                error = error_of(trace, folder)
                wrong += [f"{ranks} ranks: {text}" for text in complaints(program.name, way, said, error)]
                shares = [f"{100 * said['matching'][kind]['share']:.2f}" for kind in KINDS]
                rows.append([program.name, ranks, way, said["cluster_count"], said["structures"], *shares,
                             f"{error:.4f}", said["bytes_after"], said["bytes_before"], f"{seconds:.2f}",
                             f"{recorded:.2f}", f"{found:.2f}", said["replayable"]])
    return rows, wrong


def measure_replays(arguments, folder):
    rows = []
    for program in chosen(arguments):
        for ranks in rank_counts(arguments, program):
            rows += cluster_replay.rows(program, kReplayedTimes, ranks, arguments.runs, arguments.compute, REPLAYED,
                                        folder)
    return rows


def measure_simulated(arguments, folder):
    rows = []
    for program in chosen(arguments):
        ways = list(SIMULATED)
        if arguments.k:
            ways = [(f"K {k}", ("--k", k)) for k in arguments.k.split(",")]
        elif program.name == "mg":
            ways.append(("auto:0.02", ("--k", "auto:0.02")))
        for ranks in rank_counts(arguments, program):
            rows += cluster_simulated.rows(program, arguments.steps, ranks, arguments.noise,
                                           [(way, words) for way, words in ways if not is_above(words, ranks)],
                                           recorders(), folder)
    return rows


def is_above(words, ranks):
    return words[:1] == ("--k",) and words[1].isdigit() and int(words[1]) > ranks


def chosen(arguments):
    return [program for program in PROGRAMS if not arguments.program or program.name in arguments.program]


def rank_counts(arguments, program):
    """As asked for, or the largest number that is not more and that the program runs on."""
    return sorted({program.ranks(count) for count in asked_counts(arguments)})


def asked_counts(arguments):
    counts = [64] if arguments.quick else [int(word) for word in arguments.ranks.split(",")]
    if arguments.long:
        counts += [n for n in (1024, 4096) if n not in counts]
    return counts


def main():
    parser = argparse.ArgumentParser(description="Clusters of ranks, what they keep, and what they cost.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--quick", action="store_true", help="64 ranks only")
    parser.add_argument("--ranks", help="with commas between (64,256; with --real 4)")
    parser.add_argument("--long", action="store_true", help="1024 and 4096 ranks as well")
    parser.add_argument("--program", action="append", choices=[program.name for program in PROGRAMS],
                        metavar="PROGRAM", help="only this one; again and again")
    parser.add_argument("--k", help="numbers of clusters with commas between, instead of the ways: 9,27,81,243")
    parser.add_argument("--replay", action="store_true", help="times of replays, simulated")
    parser.add_argument("--noise", type=float, default=0.01, help="of work between messages, with --replay (0.01)")
    # Ranks leave MPI_Init some microseconds apart, which is much of few steps.
    parser.add_argument("--steps", type=int, default=5, help="with --replay: so many times those of PROGRAMS (5)")
    parser.add_argument("--real", action="store_true", help="with --replay: on a real MPI")
    parser.add_argument("--runs", type=int, default=5, help="of each replay on a real MPI (5)")
    parser.add_argument("--compute", choices=("sleep", "spin"), default="sleep", help="between their calls")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    arguments.ranks = arguments.ranks or ("4" if arguments.real else "64,256")
    folder = common.prepare(arguments.out, arguments.refrain) / "cluster"
    folder.mkdir(exist_ok=True)
    if arguments.replay and arguments.real:
        rows, wrong, header, name = measure_replays(arguments, folder), [], cluster_replay.kHeader, "cluster_real.csv"
    elif arguments.replay:
        rows, header, name = measure_simulated(arguments, folder), cluster_simulated.kHeader, "cluster_replay.csv"
        wrong = list(cluster_simulated.complaints(rows))
    else:
        rows, wrong = measure(arguments, folder)
        header, name = kHeader, "cluster.csv"
    common.progress("")
    common.print_table(header, rows)
    path = pathlib.Path(arguments.out) / name
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    print(f"written: {path}")
    for text in wrong:
        print(f"cluster: {text}", file=sys.stderr)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
