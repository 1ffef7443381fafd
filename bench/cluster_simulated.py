"""Replays of full and of clustered traces in simulated time, beside the program: for `cluster.py --replay`.

All of it runs under SimGrid's SMPI with exact times of single calls, so that no number but `wall_s` depends on the
machine that simulates. Programs are compiled with work between their messages (bench/programs/work.h): 25 ns a cell,
longer or shorter by up to `noise` from piece to piece.

ACC = 1 - |t - t'| / t of replays of the full trace (t) and of the clustered one (t'). `program_s` is the program
without a recorder, whose ranks would exchange what their traces refer to, and `replay_error` = t / program_s - 1.
`ti_error` is the same of `smpirun -replay` of `refrain convert --to ti`, which drops calls of some functions
(`ti_dropped`). `proxy_s` is the program that `refrain proxy` makes of the full trace, and `proxy_error` the same of it:
its work is the mean of all ranks and rounds, times a factor of each rank.
"""

import json
import os
import re
import subprocess
import sys
import time

import common

sys.path.insert(0, str(common.ROOT / "tests/support"))
import smpi  # noqa: E402

kWorkNs = 25
kHeader = ["program", "ranks", "way", "clusters", "program_s", "replay_s", "replay_error", "clustered_s", "acc",
           "calls", "replay_wall_s", "ti_error", "ti_dropped", "ti_wall_s", "proxy_s", "proxy_error"]


class Simulation:
    """One program on so many ranks."""

    def __init__(self, program, times, ranks, noise, libraries, folder):
        self.ranks, self.folder = ranks, folder
        self.environment = dict(os.environ, REFRAIN_LIBRARY_PATH=str(libraries))
        self.full = folder / f"{program.stem}-{ranks}-worked.rfn"
        binary = program.compile("smpicc", folder, (f"-DWORK_NS={kWorkNs}", f"-DWORK_NOISE={noise}"), "-worked")
        command = [binary, *program.words(times)]
        self.program_s = self.simulated(command)[0]
        self.run(command, ["record", "--quiet", "--timing", "exact", "-o", self.full])

    def simulated(self, command, extra=()):
        """Simulated seconds, and the seconds that this took."""
        text, seconds = self.run(command, extra=[*extra, "--cfg=smpi/display-timing:yes", "--log=root.thresh:warning",
                                                 "--log=smpi_utils.thresh:info"])
        found = re.search(r"Simulated time: ([0-9.e+-]+)", text)
        if found is None:
            common.fail(f"smpirun does not tell the simulated time: {text[-400:]}")
        return float(found.group(1)), seconds

    def run(self, command, verb=(), extra=()):
        """Its output, and the seconds that the simulation took."""
        wrapper = [str(word) for word in (common.REFRAIN, *verb)] if verb else ()
        line = smpi.command_line(self.ranks, [str(word) for word in command], wrapper, str(self.folder))
        if extra:
            line = [word for word in line if not word.startswith("--log=")]
            line[1:1] = extra
        done = smpi.run(line, common.kRunTimeoutSeconds, self.environment)
        if done.status != 0:
            common.fail(f"{' '.join(line)}: exit status {done.status}\n{done.output[-600:]}")
        return done.output, done.seconds

    def replay(self, trace):
        """What the replay says of itself, and the seconds that its simulation took."""
        text, seconds = self.run([trace], ["replay", "--compute", "sleep", "--format", "json"])
        return json.loads(text[text.index("{"):text.rindex("}") + 1]), seconds

    def replay_ti(self):
        """Simulated seconds, seconds that this took, and dropped calls, of SimGrid's own replay."""
        out = self.folder / "replayed.ti"
        said = json.loads(common.run([common.REFRAIN, "convert", self.full, "--to", "ti", "-o", out, "--force",
                                      "--format", "json"]))
        seconds, wall = self.simulated([], ["-replay", str(out / "trace.txt")])
        return seconds, wall, sum(row["count"] for row in said["not_held"])

    def proxy(self):
        """Simulated seconds of the program that is made of the full trace; nothing where that is refused."""
        source, binary = self.folder / "replayed.proxy", self.folder / "replayed-proxy"
        done = subprocess.run([str(common.REFRAIN), "proxy", str(self.full), "-o", str(source), "--force"],
                              capture_output=True, text=True, timeout=common.kRunTimeoutSeconds, check=False)
        if done.returncode != 0:
            print(f"{self.full.name}: {done.stderr.strip()}", file=sys.stderr)
            return None
        common.run(["smpicxx", "-std=c++20", "-O1", "-o", binary, source / "main.cc"])
        return self.simulated([binary, "--compute", "sleep"])[0]

    def cluster(self, words):
        """The clustered trace and how many clusters it has; None where it is refused or cannot be replayed."""
        out = self.full.with_name("replayed.rfn")
        done = subprocess.run([str(common.REFRAIN), "cluster", str(self.full), "-o", str(out), "--force", "--format",
                               "json", *words], capture_output=True, text=True, timeout=common.kRunTimeoutSeconds,
                              check=False)
        if done.returncode != 0:
            print(f"{self.full.name} {' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
            return None, 0
        said = json.loads(done.stdout)
        return (out if said["replayable"] else None), said["cluster_count"]


def rows(program, times, ranks, noise, ways, libraries, folder):
    """A row for each way: its name, and the words of `refrain cluster`."""
    common.progress(f"{program.name}, {ranks} ranks: program and full replay")
    began = time.monotonic()
    simulation = Simulation(program, times, ranks, noise, libraries, folder)
    full, wall = simulation.replay(simulation.full)
    program_s, replay_s = simulation.program_s, full["replay_s"]
    common.progress(f"{program.name}, {ranks} ranks: ti")
    ti_s, ti_wall, dropped = simulation.replay_ti()
    common.progress(f"{program.name}, {ranks} ranks: proxy")
    proxy_s = simulation.proxy()
    of_proxy = ["-", "-"] if proxy_s is None else [f"{proxy_s:.6f}", f"{proxy_s / program_s - 1:.5f}"]
    for way, words in ways:
        common.progress(f"{program.name}, {ranks} ranks: {way}, {time.monotonic() - began:.0f} s")
        trace, clusters = simulation.cluster(words)
        if trace is None:
            continue
        clustered_s = simulation.replay(trace)[0]["replay_s"]
        yield [program.name, ranks, way, clusters, f"{program_s:.6f}", f"{replay_s:.6f}",
               f"{replay_s / program_s - 1:.5f}", f"{clustered_s:.6f}",
               f"{1 - abs(replay_s - clustered_s) / replay_s:.5f}", full["calls"], f"{wall:.2f}",
               f"{ti_s / program_s - 1:.5f}", dropped, f"{ti_wall:.2f}", *of_proxy]


def complaints(found):
    """What must be, and is not: ACC of 98 %, and a replay within 1 % of the program."""
    for program, ranks, way, _, _, _, error, _, acc, *_ in found:
        if abs(float(error)) > 0.01:
            yield f"{program}, {ranks} ranks: the replay is off by {float(error):.2%}"
        if float(acc) < 0.98 and way != "lead":
            yield f"{program}, {ranks} ranks, {way}: ACC {float(acc):.2%}"
