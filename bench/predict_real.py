"""How near `refrain predict` comes to real runs: ranks with a core each, MPICH and Open MPI (predict.py --real).

How far the cores are from each other is looked at before and after each start and each run (core_distance.c): under a
virtual machine it changes by a factor of five, for minutes. A step during which it changed is done again; the network
is what starts measured that had the same distance as the runs.

The network is what `mpiexec -n 2 refrain calibrate` measures in five starts, computation what each rank takes alone
(`refrain solo --times`, the median of five runs), from message logs of one recorded run; the simulator knows nothing
else. Where the arrays of the ranks are larger than their caches (marked * in the table) both ranks run at once
(`--concurrent`), as they share the memory in the job, too. Measured are five runs without a recorder, from the end of
MPI_Init to the begin of MPI_Finalize (span.c), in turns with the other steps, so that what else the machine does meets
all of them. It wants as many cores as ranks (--real-ranks, 2), and nobody else on them.

A prediction for a machine that the run was not recorded on: `--record-into DIR` on the one, where ranks may share
cores, then `--recorded DIR` on the other, with the same compilers.

Error = (measured - predicted) / measured, of the median run; `spread`: from the fastest to the slowest run, in relation
to the median: what a prediction can be expected to reach. Exit status 3 where an error is above 10 %.
Writes DIR/predict_real.json.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys

import common

sys.path.insert(0, str(common.ROOT / "tests/support"))
import mpirun  # noqa: E402

# Source, arguments for half a second or more, whether the arrays are larger than the caches.
PROGRAMS = [("cg", (25, 40000), True), ("mg", (60, 64), True), ("multigrid", (200, 32), False),
            ("adi", (400, 24), False), ("jacobi2d", (3000, 512), True), ("unstructured", (800, 40000), True),
            ("kernel", (20000, 20000, 4096), False), ("halo2d", (300000,), False)]
RUNS, MOST_ERROR = 5, 0.10
kCalibratedRanks = 2
kAlike = 1.5  # one distance, from the least to the most
kMostTries = 4 * RUNS


def are_alike(a, b):
    return max(a, b) <= kAlike * min(a, b)


class Job:
    """Ranks under an MPI, without the recorder or with it."""

    def __init__(self, mpi, ranks, folder):
        self.mpi, self.ranks, self.folder = mpi, ranks, folder
        self.span = folder / f"span-{mpi}.so"
        self.compile(common.ROOT / "bench/span.c", self.span, "-shared", "-fPIC")
        self.distance = folder / "core_distance"
        common.run(["cc", "-std=c11", "-O2", "-o", self.distance, common.ROOT / "bench/core_distance.c", "-lpthread"])
        self.machines = []  # [(distance of the cores, machine file)]

    def compile(self, source, binary, *flags):
        common.run([f"mpicc.{self.mpi}", "-std=c11", "-O2", "-g", *flags, "-o", binary, source, "-lm"])

    def run(self, command, preload=(), env=None, ranks=None):
        line = mpirun.command_line(self.mpi, ranks or self.ranks, [str(word) for word in command], preload, env)
        environment = {**os.environ, **mpirun.job_environment(self.mpi)}
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                              timeout=common.kRunTimeoutSeconds, check=False)
        if done.returncode != 0:
            common.fail(f"{' '.join(line)}: exit status {done.returncode}\n{done.stderr[-600:]}")

    def seconds(self, command):
        file = self.folder / "span.txt"
        self.run(command, [str(self.span)], {"SPAN_FILE": str(file)})
        return float(file.read_text())

    def core_distance(self):
        return float(common.run([self.distance])) or 1.0  # one core: always the same

    def gather(self, step, wanted=None):
        """What `step(number)` gives, RUNS times at one distance of the cores (`wanted`, or the first that has as many),
        and that distance; what came most often where none has."""
        groups = []
        for number in range(kMostTries):
            before = self.core_distance()
            result = step(number)
            after = self.core_distance()
            if not are_alike(before, after):
                continue
            group = next((group for group in groups if are_alike(group[0], after)), None)
            if group is None:
                groups.append(group := (after, []))
            group[1].append(result)
            if len(group[1]) == RUNS and (wanted is None or are_alike(wanted, after)):
                return group
        if not groups:
            common.fail(f"the distance of the cores changed in each of {kMostTries} steps")
        return max(groups, key=lambda group: (wanted is not None and are_alike(wanted, group[0]), len(group[1])))

    def machine_at(self, distance):
        """Several starts, as a program's own differs from any one of them."""
        known = next((machine for at, machine in self.machines if are_alike(at, distance)), None)
        if known is not None:
            return known
        machine = self.folder / f"{self.mpi}.{len(self.machines)}.toml"

        def start(number):
            raw = self.folder / f"{self.mpi}.{len(self.machines)}.{number}.jsonl"
            self.run([common.REFRAIN, "calibrate", "--force", "--raw", raw, "-o", machine], ranks=kCalibratedRanks)
            return raw

        at, starts = self.gather(start, distance)
        common.run([common.REFRAIN, "calibrate", *starts, "--force", "-o", machine])
        self.machines.append((at, machine))
        return machine

    def program(self, name, words):
        binary = self.folder / f"{name}.{self.mpi}.real"
        self.compile(common.ROOT / f"bench/programs/{name}.c", binary)
        return [binary, *words]

    def record(self, command, at_once, trace, preload=()):
        # With times, so that ranks that run at once wait for each other as they did.
        times = ["--timing", "exact"] if at_once else []
        recorded = [common.REFRAIN, "record", "--quiet", "--messages", "all", *times, "-o", trace, "--", *command]
        self.run(recorded, preload)


def vectors_of_ranks(job, trace, command, file, at_once, turn):
    """All runs of all ranks at once in the middle; or, of some ranks in each turn, all runs of one rank alone."""
    ranks = range(turn, job.ranks, RUNS)
    if at_once:
        ranks = [0] if turn == RUNS // 2 else []
    for rank in ranks:
        common.run([common.REFRAIN, "solo", trace, "--rank", rank, "--repeat", RUNS, "--times", file,
                    *(["--concurrent"] if at_once else []), "--", *command])


def predict(job, name, words, at_once, recorded):
    command = job.program(name, words)
    vectors = job.folder / f"{name}.{job.mpi}.rfv"
    vectors.unlink(missing_ok=True)
    job.seconds(command)  # the files are in memory
    trace = job.folder / f"{name}.{job.mpi}.rfn"
    if recorded is None:
        job.record(command, at_once, trace)
    else:
        trace = recorded / trace.name

    def turn(number):
        seconds = job.seconds(command)
        if number < RUNS:
            vectors_of_ranks(job, trace, command, vectors, at_once, number)
        return seconds

    distance, runs = job.gather(turn)
    machine = job.machine_at(distance)
    said = json.loads(common.run([common.REFRAIN, "predict", trace, "--machine", machine, "--times", vectors,
                                  "--format", "json"]))
    measured, predicted = statistics.median(runs), said["predicted_ns"] * 1e-9
    low, high = (ns * 1e-9 for ns in said["interval_ns"])
    computed = sum(row["comp_ns"] for row in said["ranks"]) / len(said["ranks"])
    return {"mpi": job.mpi, "program": name + ("*" if at_once else ""), "measured_s": measured,
            "predicted_s": predicted,
            "error": (measured - predicted) / measured, "core_distance_ns": distance,
            "spread": (max(runs) - min(runs)) / measured,
            "low_s": low, "high_s": high, "inside": sum(low <= t <= high for t in runs), "runs_s": runs,
            "computing": computed / said["predicted_ns"], "calls": said["calls"]}


def record_into(job, place, only):
    """Ranks may share cores here: those that wait give theirs away."""
    place.mkdir(parents=True, exist_ok=True)
    shim = common.compile_yield_shim(job.folder)
    for name, words, at_once in PROGRAMS:
        if only in (None, name):
            common.progress(f"{job.mpi}: {name}")
            job.record(job.program(name, words), at_once, place / f"{name}.{job.mpi}.rfn", [str(shim)])


def show(result, path):
    common.print_table(["program", "MPI", "measured_s", "predicted_s", "error", "spread", "low_s", "high_s", "inside",
                        "computing", "calls", "core_ns"],
                       [[r["program"], r["mpi"], f"{r['measured_s']:.4f}", f"{r['predicted_s']:.4f}",
                         f"{r['error']:.3f}", f"{r['spread']:.3f}", f"{r['low_s']:.4f}", f"{r['high_s']:.4f}",
                         f"{r['inside']}/{RUNS}", f"{r['computing']:.2f}", r["calls"],
                         f"{r['core_distance_ns']:.0f}"] for r in result])
    print(f"written: {path}")


def run(arguments, folder):
    names = [name for name, _, _ in PROGRAMS]
    if arguments.only not in (None, *names):
        common.fail(f"--only: there is no program {arguments.only} among {', '.join(names)}")
    recorded = arguments.recorded and pathlib.Path(arguments.recorded).resolve()
    result, path = [], folder / "predict_real.json"
    for mpi in (arguments.real_mpi,) if arguments.real_mpi else ("mpich", "openmpi"):
        if mpirun.launcher(mpi) is None:
            print(f"{mpi}: not here")
            continue
        job = Job(mpi, arguments.real_ranks, folder)
        if arguments.record_into:
            record_into(job, pathlib.Path(arguments.record_into).resolve(), arguments.only)
            continue
        for name, words, at_once in PROGRAMS:
            if arguments.only in (None, name):
                common.progress(f"{mpi}: {name}")
                result.append(predict(job, name, words, at_once, recorded))
                path.write_text(json.dumps(result, indent=1), encoding="utf-8")
    common.progress("")
    if arguments.record_into:
        return 0
    show(result, path)
    return 3 if any(abs(r["error"]) > MOST_ERROR for r in result) else 0
