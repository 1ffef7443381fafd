"""How long replays of full and of clustered traces take, beside the program: for `cluster.py --replay --real`.

Few ranks on a real MPI (MPICH), as many as there are cores for where times are to mean something. Each row is the
mean of `runs` runs with its deviation. ACC = 1 - |t - t'| / t of replays of the full trace (t) and of the clustered
one (t'). The program (`program_s`, between MPI_Init and MPI_Finalize) stands beside the replay of the full trace.
Recording with and without `--cluster`, and what `refrain cluster` takes, are apart: seconds of the whole command,
start of the ranks included.
"""

import json
import statistics
import subprocess
import time

import common

kHeader = ["program", "ranks", "way", "clusters", "runs", "program_s", "full_s", "full_dev", "clustered_s",
           "clustered_dev", "acc", "against_program", "record_s", "record_cluster_s", "cluster_s"]


def timed(action):
    began = time.monotonic()
    said = action()
    return said, time.monotonic() - began


def between_init_and_finalize(trace):
    """Seconds on rank 0: what a replay makes again."""
    lines = common.run([common.REFRAIN, "dump", "--rank", "0", "--format", "jsonl", trace]).splitlines()
    calls = [json.loads(line) for line in lines if '"MPI_Init' in line or '"MPI_Finalize"' in line]
    begins = [call["end_ns"] for call in calls if call["call"] in ("MPI_Init", "MPI_Init_thread")]
    return ([call["begin_ns"] for call in calls if call["call"] == "MPI_Finalize"][-1] - begins[0]) / 1e9


class Replays:
    """One program on so many ranks."""

    def __init__(self, program, times, ranks, runs, compute, folder):
        self.ranks, self.runs, self.compute, self.folder = ranks, runs, compute, folder
        self.shim = [common.compile_yield_shim(folder)]
        self.command = [str(program.compile("mpicc.mpich", folder)), *program.words(times)]
        self.full = folder / f"{program.stem}-{ranks}-full.rfn"
        self.program_s, self.record_s = self.record(self.full, [])

    def record(self, trace, words):
        """Seconds between MPI_Init and MPI_Finalize, and of the whole command; means."""
        inside, whole = [], []
        for _ in range(self.runs):
            _, seconds = timed(lambda: common.mpiexec(
                self.ranks, [common.REFRAIN, "record", "--quiet", "--timing", "exact", "-o", trace, *words, "--",
                             *self.command], self.shim))
            whole.append(seconds)
            inside.append(between_init_and_finalize(trace))
        return statistics.mean(inside), statistics.mean(whole)

    def replay(self, trace):
        """Mean and deviation of the seconds of a replay."""
        times = []
        for _ in range(self.runs):
            said = common.mpiexec(self.ranks, [common.REFRAIN, "replay", "--compute", self.compute, "--format", "json",
                                               trace], self.shim)
            times.append(json.loads(said)["replay_s"])
        return statistics.mean(times), statistics.stdev(times) if len(times) > 1 else 0

    def cluster(self, words):
        """The clustered trace, and how long it took; None where it is refused or cannot be replayed."""
        out = self.full.with_name("replayed.rfn")
        done, seconds = timed(lambda: subprocess.run(
            [str(common.REFRAIN), "cluster", str(self.full), "-o", str(out), "--force", "--format", "json", *words],
            capture_output=True, text=True, timeout=common.kRunTimeoutSeconds, check=False))
        said = json.loads(done.stdout) if done.returncode == 0 else {}
        return (out, said, seconds) if said.get("replayable") else (None, said, seconds)


def rows(program, times, ranks, runs, compute, ways, folder):
    """A row for each way: its name, the words of `refrain cluster`, those of `refrain record` or None."""
    common.progress(f"{program.name}, {ranks} ranks: program and full replay")
    all_of = Replays(program, times, ranks, runs, compute, folder)
    full, deviation = all_of.replay(all_of.full)
    against = 1 - abs(full - all_of.program_s) / all_of.program_s
    for way, words, while_recording in ways:
        common.progress(f"{program.name}, {ranks} ranks: {way}")
        trace, said, cluster_s = all_of.cluster(words)
        if trace is None:
            continue
        clustered, clustered_deviation = all_of.replay(trace)
        record_cluster_s = ""
        if while_recording is not None:
            record_cluster_s = f"{all_of.record(folder / 'recorded.rfn', while_recording)[1]:.3f}"
        yield [program.name, ranks, way, said["cluster_count"], runs, f"{all_of.program_s:.4f}", f"{full:.4f}",
               f"{deviation:.4f}", f"{clustered:.4f}", f"{clustered_deviation:.4f}",
               f"{1 - abs(full - clustered) / full:.4f}", f"{against:.4f}", f"{all_of.record_s:.3f}", record_cluster_s,
               f"{cluster_s:.3f}"]
