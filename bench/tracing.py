#!/usr/bin/env python3
"""What a conventional trace costs, beside segments, bins and statistics: program, instrumentation, writing.

usage: tracing.py [--out DIR] [--repeats N] [--ranks 4,8,...] [--program NAME] [--calls N] [--refrain PATH]
writes DIR/tracing.csv and DIR/tracing_instructions.csv

The experiments of Mohror's thesis, chapters 3 and 6 (sections 4.1 and 6.2 there). A conventional trace is
`record --timing exact --no-compress`: every call plainly into a buffer of 1.5 MB (TAU's) or 8 MB (MPE's),
which is written when it is full or, with --no-write, thrown away. Time is that between MPI_Init and
MPI_Finalize, as in the thesis: setting up, the last flush and what is made of the files afterwards are not
in it. All ways of running take turns, and times are medians:

  program          without a tool
  instrumentation  what the same with writing off adds to that
  writing          what writing adds to that; for traces that are compressed while the program runs, writing
                   is the spool in its mapped file, and off is --spool off
  in write()       measured around the flushes, of the rank that took longest; -: nothing is flushed

bytes: a conventional trace's plain records, of all ranks; else the trace file. flushes: of full buffers, and
the rest at the end; with bins or exact times blocks of calls that were coded, of all ranks. runs: that the
medians are of.

Segments are those of loops, matched in MPI_Finalize, and those of marks, matched while the program runs. The
programs mark their iterations, whoever looks on.

On a machine with fewer cores than ranks, or that others use, seconds scatter more than ways differ. So there
is a second table: instructions that each way adds to a call, as callgrind counts them (system calls are not in
them), for Irecv, Isend and Waitall of a rank with itself.
"""

import argparse
import csv
import pathlib
import shutil
import statistics
import subprocess
import sys

import common
import overhead

# Program, its calls a rank and iteration, marks around it included, further arguments.
PROGRAMS = {"halo2d": (11.1, []), "halo3d": (15.1, []), "sweep2d": (6, []), "jacobi2d": (11.1, [96])}
RANKS = (4, 8, 16, 32, 64)
SEGMENTS = "segments:avgWave:0.2"
# Iterations are marked in all ways of running, so that all have the same calls.
kFlags = ("-DWITH_MARKS", f"-I{common.ROOT / 'include'}")
kCalls = 40_000  # of a rank: more than a buffer of 1.5 MB holds
kLoop = "irecv_isend_waitall_self"
kBlock = 8192  # calls that are coded at once
HEADER = ["program", "ranks", "calls", "way", "seconds", "program_s", "instrumentation_s", "writing_s",
          "in_write_s", "finalize_s", "bytes", "flushes", "of_untraced", "runs"]


class Way:
    """A way of running: the options of `record` with writing on, and those that turn it off."""

    def __init__(self, name, options=None, off=None, environment=None):
        self.name, self.options, self.off = name, options, off
        self.environment = environment or {}

    def variants(self):
        """(is writing on, options)"""
        if self.options is None:
            return [(True, None)]
        return [(True, self.options)] + ([(False, self.options + self.off)] if self.off else [])


def conventional(size):
    return Way(f"conventional, {size}B", ["--timing", "exact", "--no-compress", "--buffer", size], ["--no-write"])


def timed(timing, *more):
    return Way(" ".join([timing, *more[1:]]), ["--timing", timing, *more], ["--spool", "off"])


def all_ways(folder, binary):
    ways = [Way("untraced"), Way("wrappers only", [], environment={"REFRAIN_RECORD": "0"}),
            conventional("1.5M"), conventional("8M"), timed("exact"), timed("bins:0.02"), timed("bins:0.2")]
    if takes(SEGMENTS, folder, binary):
        ways += [timed(SEGMENTS), timed(SEGMENTS, "--segments", "marks")]
    return ways + [timed("stats")]


def takes(timing, folder, binary):
    """Whether `record` knows these times: else it ends with a usage error."""
    command = ["mpiexec.mpich", "-n", "1", common.REFRAIN, "record", "--timing", timing, "-o",
               folder / "tracing.rfn", "--", binary, "1"]
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False,
                          timeout=common.kRunTimeoutSeconds)
    return done.returncode == 0


def seconds(text):
    """(MPI_Init to MPI_Finalize, MPI_Finalize): see bench/programs/timing.h."""
    words = next(line for line in text.splitlines() if line.startswith("seconds")).split()
    return float(words[words.index("running") + 1]), float(words[words.index("finalize") + 1])


class Runs:
    """Of a way with writing on, or off."""

    def __init__(self):
        self.seconds, self.finalize, self.in_write, self.info = [], [], [], None

    def add(self, text, info):
        running, finalize = seconds(text)
        self.seconds.append(running)
        self.finalize.append(finalize)
        self.info = info
        if info is not None and "plain_trace" in info:
            self.in_write.append(max(rank["write_ns"] for rank in info["plain_trace"]["by_rank"]) / 1e9)

    def median(self):
        return statistics.median(self.seconds)


def run_once(way, options, command, ranks, folder, shim):
    """What the program printed, and the trace's `info`."""
    if options is None:
        return common.mpiexec(ranks, command, [shim]), None
    trace = folder / "tracing.rfn"
    trace.unlink(missing_ok=True)
    text = common.mpiexec(ranks, [common.REFRAIN, "record", "-o", trace, *options, "--", *command], [shim],
                          way.environment)
    return text, common.info(trace) if trace.exists() else None


def measure(ways, command, ranks, repeats, folder, shim):
    runs = {(way.name, on): Runs() for way in ways for on, _ in way.variants()}
    for repeat in range(repeats):
        for way in ways:
            for on, options in way.variants():
                common.progress(f"{command[0].name}, {ranks} ranks: {repeat + 1} of {repeats}, {way.name}"
                                f"{'' if on else ', not written'}")
                runs[way.name, on].add(*run_once(way, options, command, ranks, folder, shim))
    return runs


def size_of(info):
    """Bytes and flushes."""
    if info is None:
        return "-", "-"
    if "plain_trace" in info:
        return info["plain_trace"]["bytes"], info["plain_trace"]["flushes"]
    return info["file_bytes"], info.get("times", {}).get("blocks", 0)


def row_of(way, runs, plain, start):
    on = runs[way.name, True]
    without = runs.get((way.name, False))
    split = ["-", "-"]
    if without is not None:
        split = [without.median() - plain, on.median() - without.median()]
    elif way.options is not None:
        split = [on.median() - plain, 0.0]
    in_write = statistics.median(on.in_write) if on.in_write else "-"
    cells = [on.median(), plain, *split, in_write, statistics.median(on.finalize)]
    return [*start, way.name, *[cell if cell == "-" else f"{cell:.3f}" for cell in cells], *size_of(on.info),
            f"{on.median() / plain:.2f}"]


def table(program, ranks, arguments, folder, shim):
    per_iteration, more = PROGRAMS[program]
    binary = common.compile_program(program, folder, kFlags)
    iterations = max(round(arguments.calls / per_iteration), 1)
    ways = all_ways(folder, binary)
    runs = measure(ways, [binary, str(iterations), *map(str, more)], ranks, arguments.repeats, folder, shim)
    plain = runs["untraced", True].median()
    calls = runs["stats", True].info["calls"]
    rows = [row_of(way, runs, plain, [program, ranks, calls]) for way in ways]
    if SEGMENTS not in [way.name for way in ways]:
        rows.append([program, ranks, calls, f"{SEGMENTS}: left out, record does not know it"] + ["-"] * 9)
    for row in rows:
        row.append(arguments.repeats)
    common.progress("")
    print(f"\n{program}, {ranks} ranks, {calls} calls, {arguments.repeats} runs: seconds from MPI_Init to MPI_Finalize")
    common.print_table(["way", "seconds", "program", "instrumentation", "writing", "in write()", "finalize", "bytes",
                        "flushes", "of untraced"], [row[3:-1] for row in rows])
    sys.stdout.flush()
    return rows


def instructions(ways, folder):
    """What each way adds to a call."""
    if shutil.which("valgrind") is None:
        print("\nvalgrind is not installed: instructions are not counted")
        return
    binary = common.compile_program("overhead", folder)
    # A tenth more is run before the loop is measured, and an iteration has three calls.
    few = round(2 * kBlock / 3.3)
    many = 3 * few
    counts = {}
    for way in ways:
        common.progress(f"instructions: {way.name}")
        words = dict(zip(way.options[::2], way.options[1::2])) if way.options else {}
        environment = dict(way.environment)
        if "--timing" in words:
            environment["REFRAIN_TIMING"] = words["--timing"]
        if "--segments" in words:
            environment["REFRAIN_SEGMENTS"] = words["--segments"]
        if way.options and "--no-compress" in way.options:
            size = way.options[way.options.index("--buffer") + 1]
            environment.update(REFRAIN_NO_COMPRESS="1", REFRAIN_BUFFER=size)
        tool = overhead.Tool(way.name, environment=environment, record=way.options is not None)
        least, most = (tool.instructions([binary, str(n), kLoop], folder) for n in (few, many))
        counts[way.name] = (most - least) / (3.3 * (many - few))
    plain = counts["untraced"]
    rows = [[way.name, f"{counts[way.name]:.0f}", f"{counts[way.name] - plain:+.0f}"] for way in ways]
    common.progress("")
    print("\ninstructions a call")
    common.print_table(["way", "in all", "added"], rows)
    with open(folder / "tracing_instructions.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["way", "instructions", "added"], *rows])


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description="Conventional traces beside segments and bins.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ranks", type=numbers, default=list(RANKS), help="4,8, say")
    parser.add_argument("--program", choices=sorted(PROGRAMS), action="append", help="one of them; may be repeated")
    parser.add_argument("--only", choices=("seconds", "instructions"), help="one of the tables")
    parser.add_argument("--calls", type=int, default=kCalls, help="MPI calls of a rank")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    # Where the ranks' files go is where the bench is run: a file system in memory writes sooner.
    shim = common.compile_yield_shim(folder)
    if arguments.only != "seconds":
        instructions(all_ways(folder, common.compile_program("halo2d", folder)), folder)
    if arguments.only == "instructions":
        return 0
    rows = []
    for program in arguments.program or PROGRAMS:
        for ranks in arguments.ranks:
            rows += table(program, ranks, arguments, folder, shim)
            # Each time: the last ones take longest.
            with open(folder / "tracing.csv", "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([HEADER, *rows])
    print(f"written: {folder / 'tracing.csv'}")
    (pathlib.Path(folder) / "tracing.rfn").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
