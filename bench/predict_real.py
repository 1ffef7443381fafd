"""How near `refrain predict` comes to real runs: two ranks on two cores, MPICH and Open MPI (predict.py --real).

The network is what `mpiexec -n 2 refrain calibrate` measures, computation what each rank takes alone (`refrain solo
--times`, the median of five runs), from message logs of one recorded run; the simulator knows nothing else. Where the
arrays of the ranks are larger than their caches (marked * in the table) both ranks run at once (`--concurrent`), as
they share the memory in the job, too. Measured are five runs without a recorder, from the end of MPI_Init to the begin
of MPI_Finalize (span.c), in turns with the other steps, so that what else the machine does meets all of them. It wants
two cores that nobody else uses.

Error = (measured - predicted) / measured, of the median run; `spread`: from the fastest to the slowest run, in relation
to the median: what a prediction can be expected to reach. Exit status 3 where an error is above 10 %.
Writes DIR/predict_real.json.
"""
import json
import os
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
RANKS, RUNS, MOST_ERROR = 2, 5, 0.10


class Job:
    """Two ranks under an MPI, without the recorder or with it."""

    def __init__(self, mpi, folder):
        self.mpi, self.folder = mpi, folder
        self.span = folder / f"span-{mpi}.so"
        self.compile(common.ROOT / "bench/span.c", self.span, "-shared", "-fPIC")

    def compile(self, source, binary, *flags):
        common.run([f"mpicc.{self.mpi}", "-std=c11", "-O2", "-g", *flags, "-o", binary, source, "-lm"])

    def run(self, command, preload=(), env=None):
        line = mpirun.command_line(self.mpi, RANKS, [str(word) for word in command], preload, env)
        environment = {**os.environ, **mpirun.job_environment(self.mpi)}
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                              timeout=common.kRunTimeoutSeconds, check=False)
        if done.returncode != 0:
            common.fail(f"{' '.join(line)}: exit status {done.returncode}\n{done.stderr[-600:]}")

    def seconds(self, command):
        file = self.folder / "span.txt"
        self.run(command, [str(self.span)], {"SPAN_FILE": str(file)})
        return float(file.read_text())

    def calibrate(self):
        machine = self.folder / f"{self.mpi}.toml"
        self.run([common.REFRAIN, "calibrate", "--force", "-o", machine])
        return machine


def vectors_of_ranks(trace, command, file, at_once, turn):
    """One run of both ranks at once in each turn; or, in the first turns, all runs of one rank alone."""
    if at_once:
        common.run([common.REFRAIN, "solo", trace, "--rank", 0, "--concurrent", "--times", file, "--", *command])
    elif turn < RANKS:
        common.run([common.REFRAIN, "solo", trace, "--rank", turn, "--repeat", RUNS, "--times", file, "--", *command])


def predict(job, machine, name, words, at_once):
    binary = job.folder / f"{name}.{job.mpi}.real"
    job.compile(common.ROOT / f"bench/programs/{name}.c", binary)
    command, runs = [binary, *words], []
    trace, vectors = job.folder / "real.rfn", job.folder / "real.rfv"
    vectors.unlink(missing_ok=True)
    job.seconds(command)  # the files are in memory
    # With times, so that ranks that run at once wait for each other as they did.
    times = ["--timing", "exact"] if at_once else []
    job.run([common.REFRAIN, "record", "--quiet", "--messages", "all", *times, "-o", trace, "--", *command])
    for turn in range(RUNS):
        runs.append(job.seconds(command))
        vectors_of_ranks(trace, command, vectors, at_once, turn)
    said = json.loads(common.run([common.REFRAIN, "predict", trace, "--machine", machine, "--times", vectors,
                                  "--format", "json"]))
    measured, predicted = statistics.median(runs), said["predicted_ns"] * 1e-9
    low, high = (ns * 1e-9 for ns in said["interval_ns"])
    computed = sum(row["comp_ns"] for row in said["ranks"]) / len(said["ranks"])
    return {"mpi": job.mpi, "program": name + ("*" if at_once else ""), "measured_s": measured,
            "predicted_s": predicted,
            "error": (measured - predicted) / measured, "spread": (max(runs) - min(runs)) / measured,
            "low_s": low, "high_s": high, "inside": sum(low <= t <= high for t in runs), "runs_s": runs,
            "computing": computed / said["predicted_ns"], "calls": said["calls"]}


def run(arguments, folder):
    names = [name for name, _, _ in PROGRAMS]
    if arguments.only not in (None, *names):
        common.fail(f"--only: there is no program {arguments.only} among {', '.join(names)}")
    result, path = [], folder / "predict_real.json"
    for mpi in ("mpich", "openmpi"):
        if mpirun.launcher(mpi) is None:
            print(f"{mpi}: not here")
            continue
        job = Job(mpi, folder)
        machine = job.calibrate()
        for name, words, at_once in PROGRAMS:
            if arguments.only in (None, name):
                common.progress(f"{mpi}: {name}")
                result.append(predict(job, machine, name, words, at_once))
                path.write_text(json.dumps(result, indent=1), encoding="utf-8")
    common.progress("")
    common.print_table(["program", "MPI", "measured_s", "predicted_s", "error", "spread", "low_s", "high_s", "inside",
                        "computing", "calls"],
                       [[r["program"], r["mpi"], f"{r['measured_s']:.4f}", f"{r['predicted_s']:.4f}",
                         f"{r['error']:.3f}", f"{r['spread']:.3f}", f"{r['low_s']:.4f}", f"{r['high_s']:.4f}",
                         f"{r['inside']}/{RUNS}", f"{r['computing']:.2f}", r["calls"]] for r in result])
    print(f"written: {path}")
    return 3 if any(abs(r["error"]) > MOST_ERROR for r in result) else 0
