#!/usr/bin/env python3
"""What recording costs: nanoseconds and instructions a call, whole programs, and MPI_Finalize.

usage: overhead.py [--out DIR] [--repeats N] [--only PART] [LIBRARY ...]

Every table has the program without a tool, Refrain's wrappers alone (REFRAIN_RECORD=0), and Refrain
as `refrain record` and `refrain record --timing exact` run it; and each LIBRARY, another tool for
MPICH, preloaded into the same binaries. Nanoseconds are also those of `refrain record --callpath 1`.
Times are medians of runs in turn: on a shared machine they scatter, so look at ratios and at
instructions first. The targets are for orientation; the exit status does not depend on them.

What a call costs is said twice: in the loop alone, and over the whole process, which begins with
the program's first instruction and ends behind MPI_Finalize; where every call is a new signature, also on
several ranks, of which the one with the most work counts, and with the bytes of memory that one more
signature takes: the most that was resident of a process, of the rank with the most. What a program costs
is said twice as well: from the launcher's start to its end, and from MPI_Init to the end of MPI_Finalize.
Python's frames are counted in a program of mpi4py (python_frames.py).
Writes DIR/overhead_<part>.csv.
"""

import argparse
import csv
import pathlib
import shutil
import statistics
import sys
import time

import common
import python_frames

# Loop of bench/programs/overhead.c -> nanoseconds and instructions that recording may add to a call.
LOOPS = {
    "irecv_isend_waitall_self": (100, 450),
    "irecv_isend_waitall_proc_null": (100, 450),
    "allreduce_8_bytes": (80, None),
    "iprobe": (70, None),
    "comm_rank": (50, None),
    "new_signature": (350, None),
    "any_order": (None, None),
    "new_stack": (None, None),
}
# Program, arguments, ranks, how much longer all of it may take. Each takes half a second to two without a recorder: in
# a shorter one little but the start is measured, which EMPTY measures alone.
PROGRAMS = [
    ("multigrid", [80], 16, 1.10),
    ("adi", [150], 16, 1.10),
    ("unstructured", [400], 12, 1.10),
    ("cg", [60], 16, 1.10),
    ("halo2d", [2000], 16, 1.05),
    ("halo3d", [900], 27, 1.15),
]
EMPTY = ("empty", [], 16, 20)  # ..., milliseconds that recording may add
FINALIZE = ("halo2d", [100], 64, 100)  # ..., milliseconds that recording may add
# Ranks, and instructions and bytes of memory that a new signature may take in all, on the rank with the most.
SIGNATURES = [(1, 4000, 150), (4, 4000, 150)]
PARTS = ("ns", "instructions", "python", "signatures", "programs", "finalize")
kCallgrindIterations = (2000, 6000)
kSignatureCalls = (10_000, 50_000)
kMemoryCalls = (100_000, 300_000)  # so many that pages and tables that double count for little
kThreads = "multiple"  # the program asks for MPI_THREAD_MULTIPLE


class Tool:
    """A way of running a command on MPICH."""

    def __init__(self, name, library=None, environment=None, record=False):
        self.name, self.library = name, library
        self.environment, self.record = environment or {}, record

    def run(self, ranks, command, folder, shim=None):
        preload = [library for library in (shim,) if library is not None]
        if self.record:
            return common.record(ranks, folder / "overhead.rfn", command, preload, self.environment)
        if self.library is not None:
            preload.append(self.library)
        return common.mpiexec(ranks, command, preload, self.environment)

    def timed_run(self, ranks, command, folder, shim):
        """(what it prints, seconds from the launcher's start to its end)"""
        begin = time.monotonic()
        text = self.run(ranks, command, folder, shim)
        return text, time.monotonic() - begin

    def instructions(self, command, folder, whole=False):
        """Instructions of the loop, or of the whole process, on one rank, as callgrind counts them."""
        counts = folder / "callgrind.out"
        library = common.recorder_library() if self.record else self.library
        environment = {**common.MPICH_ENVIRONMENT, **self.environment, "REFRAIN_OUTPUT": str(folder / "overhead.rfn")}
        if library is not None:
            environment["LD_PRELOAD"] = str(library)
        where = [] if whole else ["--collect-atstart=no", "--toggle-collect=measured_piece"]
        common.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", *where, *command], environment)
        return common.callgrind_total(counts)

    def instructions_of_ranks(self, ranks, command, folder, shim):
        """Those of the whole process with the most of them."""
        for old in folder.glob("callgrind.rank.*"):
            old.unlink()
        library = common.recorder_library() if self.record else self.library
        environment = {**self.environment, "REFRAIN_OUTPUT": str(folder / "overhead.rfn")}
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.rank.%p", *command]
        common.mpiexec(ranks, valgrind, [shim] if library is None else [shim, library], environment)
        return max(common.callgrind_total(counts) for counts in folder.glob("callgrind.rank.*"))


def all_tools(libraries):
    return [Tool("untraced"), Tool("wrappers", environment={"REFRAIN_RECORD": "0"}, record=True),
            Tool("refrain", record=True), Tool("exact", environment={"REFRAIN_TIMING": "exact"}, record=True),
            *[Tool(pathlib.Path(l).name, pathlib.Path(l).resolve()) for l in libraries]]


def in_turn(tools, repeats, what, measure):
    """{tool: list of what measure(tool) returned}."""
    results = {tool: [] for tool in tools}
    for repeat in range(repeats):
        for tool in tools:
            common.progress(f"{what}: run {repeat + 1} of {repeats}, {tool.name}")
            results[tool].append(measure(tool))
    return results


def table(title, folder, part, header, rows):
    common.progress("")
    print(f"\n{title}")
    common.print_table(header, rows)
    with open(folder / f"overhead_{part}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def added(values, target, digits=0):
    """A row: the first value, what each other one adds to it, and the target."""
    return ([f"{values[0]:.{digits}f}"] + [f"{value - values[0]:+.{digits}f}" for value in values[1:]] +
            ["-" if target is None else f"+{target}"])


def loop_times(text):
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines() if line.split()[0] in LOOPS}


def cost_in_ns(tools, arguments, folder):
    # What the call path costs, known or new: the difference between this one and `refrain`.
    tools = [*tools, Tool("site only", environment={"REFRAIN_CALLPATH": "1"}, record=True)]
    command = [common.compile_program("overhead", folder), str(arguments.iterations)]

    def measure(tool):
        text, took = tool.timed_run(1, command, folder, None)
        return loop_times(text), took

    runs = in_turn(tools, arguments.repeats, "ns", measure)
    rows = [[loop, *added([statistics.median(run[0][loop] for run in runs[tool]) for tool in tools], target)]
            for loop, (target, _) in LOOPS.items()]
    # A loop of three calls counts for three; a tenth more is run before it is measured.
    calls = sum(3 if loop.startswith("irecv") else 1 for loop in LOOPS) * 1.1 * arguments.iterations
    whole = [1e9 / calls * statistics.median(run[1] for run in runs[tool]) for tool in tools]
    rows.append(["whole process, over all calls", *added(whole, None)])
    table("nanoseconds a call", folder, "ns",
          ["loop", *[tool.name for tool in tools], "target"], rows)


def cost_in_instructions(tools, _, folder):
    if shutil.which("valgrind") is None:
        print("\nvalgrind is not installed: instructions are not counted")
        return
    binary = common.compile_program("overhead", folder)
    rows, whole_rows = [], []
    loops = [(loop, [loop], target) for loop, (_, target) in LOOPS.items()]
    loops += [(f"{loop}, {kThreads}", [loop, kThreads], None) for loop in LOOPS if loop.startswith("irecv")]
    few, many = kCallgrindIterations
    for loop, words, target in loops:
        # A tenth more is run before the loop is measured.
        calls = 1.1 * (3 if loop.startswith("irecv") else 1)
        values, wholes = [], []
        for tool in tools:
            common.progress(f"instructions: {loop}, {tool.name}")
            counts = [tool.instructions([binary, str(n), *words], folder) for n in (few, many)]
            values.append((counts[1] - counts[0]) / ((many - few) * calls))
            if kThreads not in words:
                wholes.append(tool.instructions([binary, str(many), *words], folder, whole=True) / (many * calls))
        rows.append([loop, *added(values, target)])
        if wholes:
            whole_rows.append([f"{loop}, whole process of {many * calls:.0f} calls", *added(wholes, None)])
    table("instructions a call", folder, "instructions", ["loop", *[tool.name for tool in tools], "target"],
          rows + whole_rows)


def cost_of_python_frames(_tools, _arguments, folder):
    rows = python_frames.rows(folder)
    if rows is None:
        print("\nPython's frames are not counted: that takes valgrind, and an mpi4py whose MPI has a recorder here")
        return
    table("instructions of the recorder a call of Python, of frames that did not change", folder, "python",
          ["call", "without frames", "frames", "target"], rows)


def most_resident(text):
    """Bytes: what bench/programs/new_signature.c prints on each rank."""
    return 1024 * max(int(line.split()[3]) for line in text.splitlines() if "resident" in line)


def memory_of_signatures(tools, binary, shim, folder):
    rows = []
    for ranks, _, target in SIGNATURES:
        slopes = []
        for tool in tools:
            common.progress(f"memory of new signatures on {ranks} ranks: {tool.name}")
            few, many = (most_resident(tool.run(ranks, [binary, str(n)], folder, shim)) for n in kMemoryCalls)
            slopes.append((many - few) / (kMemoryCalls[1] - kMemoryCalls[0]))
        rows.append([f"one more, {ranks} ranks", *added(slopes, target)])
    table("bytes of memory a new signature, MPI_Finalize included, on the rank with the most", folder,
          "signature_bytes", ["what", *[tool.name for tool in tools], "target"], rows)


def cost_of_signatures(tools, _, folder):
    """Of a program in which no two calls are alike, MPI_Init and MPI_Finalize included."""
    binary = common.compile_program("new_signature", folder)
    shim = common.compile_yield_shim(folder)
    memory_of_signatures(tools, binary, shim, folder)
    if shutil.which("valgrind") is None:
        return
    rows = []
    for ranks, target, _ in SIGNATURES:
        few, many = [], []
        for tool in tools:
            common.progress(f"new signatures on {ranks} ranks: {tool.name}")
            counts = [tool.instructions_of_ranks(ranks, [binary, str(n)], folder, shim) for n in kSignatureCalls]
            few.append((counts[1] - counts[0]) / (kSignatureCalls[1] - kSignatureCalls[0]))
            many.append(counts[1] / kSignatureCalls[1])
        rows.append([f"one more, {ranks} ranks", *added(few, target)])
        rows.append([f"whole process over {kSignatureCalls[1]} calls, {ranks} ranks", *added(many, target)])
    table("instructions a new signature, MPI_Finalize included, on the rank with the most", folder, "signatures",
          ["what", *[tool.name for tool in tools], "target"], rows)


def seconds(text):
    """(MPI_Init to the end of MPI_Finalize, MPI_Finalize): see bench/programs/timing.h."""
    words = next(line for line in text.splitlines() if line.startswith("seconds")).split()
    return float(words[1]), float(words[3])


def timed(tools, arguments, folder, program, words, ranks):
    """{tool: [(seconds of all, MPI_Init to the end of MPI_Finalize, MPI_Finalize)]}"""
    command = [common.compile_program(program, folder), *map(str, words)]
    shim = common.compile_yield_shim(folder)

    def measure(tool):
        text, took = tool.timed_run(ranks, command, folder, shim)
        return (took, *seconds(text)) if "seconds" in text else (took,)

    return in_turn(tools, arguments.repeats, f"{program} on {ranks} ranks", measure)


def whole_programs(tools, arguments, folder):
    names = [tool.name for tool in tools[1:]]
    rows = []
    for program, words, ranks, target in PROGRAMS:
        runs = timed(tools, arguments, folder, program, words, ranks)
        plain = runs[tools[0]]
        # Of all, from the launcher's start to its end; and from MPI_Init to the end of MPI_Finalize.
        ratios = [[statistics.median(run[k] / p[k] for run, p in zip(runs[tool], plain)) for tool in tools[1:]]
                  for k in (0, 1)]
        took = statistics.median(run[0] for run in plain)
        whole, in_mpi = ([f"{ratio:.2f}" for ratio in part] for part in ratios)
        rows.append([program, ranks, f"{took:.3f}", *whole, f"{target:.2f}", *in_mpi])
    table("whole programs: seconds untraced, and times as long with a tool; from the launcher's start to its end, "
          "and (in MPI) from MPI_Init to the end of MPI_Finalize", folder, "programs",
          ["program", "ranks", "untraced", *names, "target", *[f"{name} (in MPI)" for name in names]], rows)
    program, words, ranks, target = EMPTY
    runs = timed(tools, arguments, folder, program, words, ranks)
    values = [1000 * statistics.median(run[0] for run in runs[tool]) for tool in tools]
    table("milliseconds of a program that only calls MPI_Init and MPI_Finalize", folder, "empty",
          ["program", "ranks", *[tool.name for tool in tools], "target"], [[program, ranks, *added(values, target)]])


def finalize(tools, arguments, folder):
    program, words, ranks, target = FINALIZE
    runs = timed(tools, arguments, folder, program, words, ranks)
    values = [1000 * statistics.median(run[2] for run in runs[tool]) for tool in tools]
    table("milliseconds of MPI_Finalize", folder, "finalize",
          ["program", "ranks", *[tool.name for tool in tools], "target"], [[program, ranks, *added(values, target)]])


def main():
    parser = argparse.ArgumentParser(description="What recording costs.")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="other tools to preload, for comparison")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=200_000)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part of it; may be repeated")
    arguments = parser.parse_args()
    for library in arguments.libraries:
        if not pathlib.Path(library).exists():
            common.fail(f"there is no library {library}")
    folder = common.prepare(arguments.out)
    tools = all_tools(arguments.libraries)
    for part, measure in zip(PARTS, (cost_in_ns, cost_in_instructions, cost_of_python_frames, cost_of_signatures,
                                   whole_programs, finalize)):
        if arguments.only is None or part in arguments.only:
            measure(tools, arguments, folder)
    print(f"\nwritten: {folder}/overhead_*.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
