"""Figures 15 and 16 of the online-coupling paper: what watching costs a program, in each way there is.

  none          without a tool
  record        `refrain record`
  plain         `refrain record --timing exact --no-compress`: every call is written, as by tools that send events
  serve         `record --live-dir`, with `live serve` beside the job
  inside 1:1    `record --live`, with as many ranks of `live analyze` in the same launch
  inside 8:1    the same with one for eight

Wall time is the program's own, from MPI_Init to the end of MPI_Finalize (bench/programs/timing.h), CPU time that of its
processes alone (own_cost.c): what an analyser uses is not the program's. Where, as on two cores, it shares a core with
ranks that wait for each other, these are switched twice as often, which is most of what `inside` costs. Programs of one
rank, which sends to itself, have a core each for the rank and for its analyser, also on two. Beside it the calls a
second of the run, which the paper's B_i is in proportion to.
"""

import re
import statistics
import tempfile

import common

# Program, arguments, ranks: a second or more each on two cores.
PROGRAMS = [("halo2d", [1000000], 1), ("mg", [8000], 1),
            ("cg", [250], 4), ("halo2d", [200000], 4), ("lu", [15000], 4), ("mg", [2500], 4), ("bt", [1500], 4),
            ("cg", [30], 16), ("lu", [600], 16), ("mg", [150], 16), ("bt", [80], 16)]
MOST_CPU, MOST_WALL, MOST_OVER_NONE = 1.02, 1.05, 1.25
WAYS = ("none", "record", "plain", "serve", "inside 1:1", "inside 8:1")


class Run:
    """A program that runs, watched in one way: its seconds."""

    def __init__(self, folder, preload):
        self.folder, self.preload = folder, preload

    def words_of(self, way, ranks, command, place, jobs):
        recorded = [common.REFRAIN, "record", "--quiet", "-o", f"{place}/run.rfn"]
        if way == "none":
            return command
        if way == "record":
            return [*recorded, "--", *command]
        if way == "plain":
            return [*recorded, "--timing", "exact", "--no-compress", "--", *command]
        if way == "serve":
            return [*recorded, "--live-dir", jobs, "--", *command]
        analysers = ranks if way == "inside 1:1" else max(1, ranks // 8)
        return [*recorded, "--live", "--", *command, ":", "-n", str(analysers), common.REFRAIN, "live", "analyze",
                "-o", f"{place}/live"]

    def __call__(self, way, ranks, command, jobs):
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            cost = f"{place}/cost"
            line = ["mpiexec.mpich", "-genv", "LD_PRELOAD", ":".join(map(str, self.preload)), "-genv", "OWN_COST_FILE",
                    cost, "-genv", "OWN_COST_PROGRAM", command[0], "-n", str(ranks),
                    *self.words_of(way, ranks, command, place, jobs)]
            text = common.run(line, common.MPICH_ENVIRONMENT)
            with open(cost, encoding="ascii") as file:
                cpu = sum(map(float, file))
            found = re.search(r"seconds ([0-9.]+) finalize ([0-9.]+)", text)
            calls = common.info(f"{place}/run.rfn")["calls"] if way == "record" else None
        if found is None:
            common.fail(f"{way}: no time in {text!r}")
        return {"cpu": cpu, "wall": float(found.group(1)), "finalize": float(found.group(2)), "calls": calls}


def measure(figures, folder, arguments):
    """All programs in all ways in turn; `figures` takes the medians of ratios within a turn."""
    cost = folder / "own_cost.so"
    common.run(["gcc", "-O2", "-shared", "-fPIC", "-o", cost, common.ROOT / "bench/own_cost.c"])
    run = Run(folder, [common.compile_yield_shim(folder), cost])
    for name, words, ranks in PROGRAMS:
        command = [str(common.compile_program(name, folder)), *map(str, words)]
        turns = []
        for repeat in range(arguments.repeats):
            common.progress(f"{name} on {ranks} ranks, {repeat + 1} of {arguments.repeats}")
            with tempfile.TemporaryDirectory(dir=folder) as place, arguments.service(place) as service:
                # The service is there in all ways, so that what it costs the machine when idle is in all.
                turns.append({way: run(way, ranks, command, service.jobs) for way in WAYS})
        common.progress("")
        tell(figures, f"{name}, {ranks} ranks", turns)


def tell(figures, name, turns):
    ratio = lambda part, way, base: statistics.median(t[way][part] / t[base][part] for t in turns)  # noqa: E731
    alone = statistics.median(t["record"]["wall"] for t in turns)
    figures.add(f"{name}: seconds recorded", alone, "s")
    figures.add(f"{name}: calls a second", turns[0]["record"]["calls"] / alone, "/s")
    figures.add(f"{name}: recorded / without a tool, wall time", ratio("wall", "record", "none"), "x")
    figures.add(f"{name}: plain / without a tool, wall time", ratio("wall", "plain", "none"), "x")
    for way in WAYS[3:]:
        figures.add(f"{name}: {way} / recorded, CPU time", ratio("cpu", way, "record"), "x", MOST_CPU)
        figures.add(f"{name}: {way} / recorded, wall time", ratio("wall", way, "record"), "x", MOST_WALL)
        figures.add(f"{name}: {way} / without a tool, wall time", ratio("wall", way, "none"), "x", MOST_OVER_NONE)
        more = statistics.median(t[way]["finalize"] - t["record"]["finalize"] for t in turns)
        figures.add(f"{name}: {way}, MPI_Finalize takes more", more, "s", 0.1)
