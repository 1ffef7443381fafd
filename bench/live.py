#!/usr/bin/env python3
"""Jobs that are watched while they run: what it costs them, what it takes, and how fast it tells.

usage: live.py [--out DIR] [--only PART] [--repeats N] [--ranks 4096]

  feeder      calls a second of a core that a stream is made of and received as; entries a second of the blackboard
  board       entries a second of the blackboard beside the same graphs on oneTBB (libtbb-dev), in turn
  program     CPU and wall time of programs that are watched in each way (live_programs.py)
  bytes       of the stream of a regular rank, beside how long it ran
  page        from a call that returns until the page has it, and from a deadlock until its circle is named
  memory      of `live analyze --from` a run of many ranks under SimGrid's SMPI

Writes DIR/live.json: for each figure its value, its target, and whether it is met. On a shared machine times scatter:
those of `program` are medians of runs in turn. The exit status does not depend on the targets.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import common
import live_programs

sys.path.insert(0, str(common.ROOT / "tests/support"))
import regular  # noqa: E402
import smpi  # noqa: E402

# Program, arguments, ranks.
REGULAR = [("cg", [80], 4), ("halo2d", [15000], 4)]
kPatienceSeconds = 60
PARTS = ("feeder", "board", "program", "bytes", "page", "memory")


class Figures:
    """Every figure as it comes: printed, and kept for the file."""

    def __init__(self):
        self.all = []

    def add(self, name, value, unit, target=None, at_least=False):
        met = None if target is None else (value >= target if at_least else value <= target)
        self.all.append({"figure": name, "value": value, "unit": unit, "target": target,
                         "at": "least" if at_least else "most", "met": met})
        wanted = "" if target is None else \
            f"  ({'at least' if at_least else 'at most'} {target:g}: {'met' if met else 'missed'})"
        print(f"{name:58} {value:14.6g} {unit}{wanted}", flush=True)


class Service:
    """`live serve` of a folder of jobs, for the time of a `with`."""

    def __init__(self, folder, interval="1s"):
        self.jobs = pathlib.Path(folder) / "jobs"
        self.jobs.mkdir(mode=0o700)
        self.out = pathlib.Path(folder) / "live"
        self.interval = interval

    def __enter__(self):
        self.process = subprocess.Popen(
            [common.REFRAIN, "live", "serve", "--dir", self.jobs, "-o", self.out, "--interval", self.interval],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line.strip())
        if found is None:
            common.fail(f"live serve: {line.strip()}")
        self.port, self.token = int(found.group(1)), found.group(2)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=kPatienceSeconds)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.token})
        body = connection.getresponse().read()
        connection.close()
        return json.loads(body)

    def only_job(self):
        jobs = self.get("/look.json").get("jobs", [])
        return jobs[0] if len(jobs) == 1 else None

    def until(self, is_so, what):
        """Seconds until the job is so, and the job then."""
        begin = time.monotonic()
        while time.monotonic() - begin < kPatienceSeconds:
            job = self.only_job()
            if job is not None and is_so(job):
                return time.monotonic() - begin, job
            time.sleep(0.01)
        return common.fail(f"{what}: not in {kPatienceSeconds} s")


def job_line(ranks, trace, command, words=(), shim=None):
    preload = ["-genv", "LD_PRELOAD", str(shim)] if shim else []
    return ["mpiexec.mpich", "-n", str(ranks), *preload, common.REFRAIN, "record", "-o", trace, *words, "--", *command]


def measure_feeder(figures, folder, _):
    bench = common.REFRAIN.resolve().parent / "bench/live_bench"
    if not bench.exists():
        common.fail(f"there is no {bench}: ./dev bench live builds it")
    report = json.loads(common.run([bench, "--benchmark_format=json"]))
    for run in report["benchmarks"]:
        name = run["name"]
        target = 1e7 if name == "Feed/regular:1" else None
        figures.add(name + ", a second of a core", run["items_per_second"], "/s", target, at_least=True)
        if "stream_bytes" in run:
            figures.add(name + ", stream of 10^6 calls", run["stream_bytes"], "bytes")


def measure_board(figures, folder, _):
    bench = common.REFRAIN.resolve().parent / "bench/board_tbb"
    if not bench.exists():
        print("oneTBB (libtbb-dev) is not installed: the blackboard is not compared with it")
        return
    for line in common.run([bench]).splitlines():
        graph, workers, board, tbb, values, wall, cpu = line.split()
        name = f"{graph}, {workers} workers"
        figures.add(name + ": entries of the blackboard", float(board), "/s")
        figures.add(name + ": of oneTBB, the same entries", float(tbb), "/s")
        figures.add(name + ": of oneTBB, bare numbers", float(values), "/s")
        figures.add(name + ": blackboard / oneTBB, wall time", float(wall), "x", 0.8, at_least=True)
        figures.add(name + ": blackboard / oneTBB, CPU time", float(cpu), "x", 0.8, at_least=True)


def measure_bytes(figures, folder, _):
    """A regular program: what a rank's stream takes when its job is over."""
    shim = common.compile_yield_shim(folder)
    for name, words, ranks in REGULAR:
        command = [common.compile_program(name, folder), *map(str, words)]
        with tempfile.TemporaryDirectory(dir=folder) as place, Service(place) as service:
            common.run(job_line(ranks, f"{place}/a.rfn", command, ["--live-dir", service.jobs], shim),
                       common.MPICH_ENVIRONMENT)
            _, job = service.until(lambda j: j["state"] == "finished", f"{name} has ended")
        a_rank, seconds = job["stream_bytes"] / ranks, job["running_s"]
        figures.add(f"{name}, {ranks} ranks: seconds", seconds, "s")
        figures.add(f"{name}, {ranks} ranks: stream of a rank", a_rank, "bytes", 4096 + 1024 * seconds)


def compile_watched(folder):
    binary = folder / "watched"
    common.run(["mpicc.mpich", "-O1", "-g", "-o", binary, common.ROOT / "tests/live/watched.c"])
    return binary


def measure_page(figures, folder, arguments):
    """tests/live/watched.c goes on when it is told to, so when a call returned is known to some milliseconds."""
    shim, binary = common.compile_yield_shim(folder), compile_watched(folder)
    told, named = [], []
    for _ in range(arguments.repeats):
        with tempfile.TemporaryDirectory(dir=folder) as place, Service(place) as service:
            job = subprocess.Popen([str(w) for w in job_line(3, f"{place}/a.rfn", [binary, place, "deadlock"],
                                                             ["--live-dir", service.jobs], shim)],
                                   stderr=subprocess.DEVNULL, env={**os.environ, **common.MPICH_ENVIRONMENT})
            service.until(lambda j: j["found"] == 3 and j["by_rank"]["calls"] == [103] * 3, "the ring")
            pathlib.Path(place, "go1").touch()
            # Rank 0 is in a call from then on: it looks every 20 ms.
            seconds, _ = service.until(lambda j: j["by_rank"]["state"][0] in ("in MPI", "stuck"), "a call begins")
            told.append(seconds)
            pathlib.Path(place, "go2").touch()
            seconds, now = service.until(lambda j: len(j["circle"]) == 3, "the circle is named")
            named.append(seconds)
            job.send_signal(signal.SIGTERM)
            job.wait()
    figures.add("event to page, longest", max(told), "s", 2)
    figures.add("deadlock to its circle, longest", max(named), "s", 3)


def measure_memory(figures, folder, arguments):
    if not common.has_smpi("memory at many ranks is left out"):
        return
    program = next(p for p in regular.PROGRAMS if p.name == "sweep2d")
    binary = folder / f"{program.name}.smpi"
    common.run(["smpicc", "-std=c11", "-O2", "-g", "-o", binary, common.ROOT / f"bench/programs/{program.name}.c"])
    trace = folder / f"live_{arguments.ranks}.rfn"
    command = smpi.command_line(arguments.ranks, [str(binary), str(program.iterations)],
                                [str(common.REFRAIN), "record", "-o", str(trace)], str(folder), program.settings)
    done = smpi.run(command, common.kRunTimeoutSeconds)
    if done.status != 0:
        common.fail(f"{' '.join(command)}: exit status {done.status}\n{done.output}")
    out = folder / "live_memory"
    shutil.rmtree(out, ignore_errors=True)
    begin = time.monotonic()
    process = subprocess.Popen([common.REFRAIN, "live", "analyze", "--from", trace, "--speed", "1e9", "-o", out],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        common.fail(f"live analyze --from {trace}: status {status}")
    figures.add(f"{program.name}, {arguments.ranks} ranks: calls", common.info(trace)["calls"], "")
    figures.add(f"{program.name}, {arguments.ranks} ranks: memory", usage.ru_maxrss / 2**20, "GiB", 2)
    figures.add(f"{program.name}, {arguments.ranks} ranks: until all is written", time.monotonic() - begin, "s")


def main():
    parser = argparse.ArgumentParser(description="Jobs that are watched while they run.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=4096)
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    figures = Figures()
    arguments.service = Service
    measures = {"feeder": measure_feeder, "board": measure_board, "program": live_programs.measure,
                "bytes": measure_bytes, "page": measure_page, "memory": measure_memory}
    for part in PARTS:
        if arguments.only in (None, part):
            measures[part](figures, folder, arguments)
    with open(folder / "live.json", "w", encoding="utf-8") as file:
        json.dump({"cores": os.cpu_count(), "figures": figures.all}, file, indent=1)
        file.write("\n")
    print(f"written: {folder / 'live.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
