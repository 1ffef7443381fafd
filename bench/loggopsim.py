"""LogGOPSim beside `refrain simulate`, on the same communication.

    loggopsim.py [--out DIR] [--loggopsim DIR] [--runs N] [TRACE ...]

TRACE: those that are there; without one the waves of `bench simulate` on 16, 64 and 256 ranks. Each is converted by
`refrain convert --to goal`, which txt2bin makes a binary of. Both tools have L = 1500, o = 300, g = 1 and G = 1 ns and
no rendezvous, Refrain the algorithms that the conversion takes for collectives, and no links that are shared. (A byte
less of G is in LogGOPSim's L and g, whose numbers are whole.)

LogGOPSim and txt2bin are looked for in PATH, or in --loggopsim; without them nothing is measured, and a line says so.
What LogGOPSim is compiled with makes a factor of ten and more: its Makefile asks for no optimisation.

Seconds are of the whole command, the best of --runs in turns: of the processor, and of the clock (`refrain simulate`
reads the trace on a second core). Operations are the sends, receives and computations of the GOAL file, so both have
as many. `difference`: of the predicted times, Refrain's to LogGOPSim's. A
receiver's processor is busy for all of a message's bytes there, where the model has the network's interface; messages
of few bytes differ little. Writes DIR/loggopsim.json.
"""

import argparse
import json
import pathlib
import re
import resource
import shutil
import sys
import time

import common

MACHINE = """version = 1
name = "flat"
[distance.switch]
eager_limit = 2000000000
[[distance.switch.range]]
L = 1500
o_send = 300
o_recv = 300
g = 1
G = 1
[collectives]
preset = "mpich"
"""
ALGORITHMS = {"Barrier": "dissemination", "Bcast": "binomial", "Reduce": "binomial", "Allreduce": "binomial",
              "Allgather": "bruck", "Alltoall": "linear"}
WORDS = ["-L", "1501", "-o", "300", "-g", "1", "-G", "1", "-O", "0", "-S", "2000000000"]
RANKS = (16, 64, 256)


def timed(command):
    """(what it prints, seconds of the processor, seconds of the clock)"""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    text = common.run(command)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return text, after.ru_utime - before.ru_utime, end - begin


def waves(folder):
    program = common.ROOT / "build/release/bench/simulate_scale"
    for ranks in RANKS:
        trace = folder / f"waves_{ranks}.rfn"
        common.run([program, "--keep", trace, "--out", folder / "waves.csv", ranks])
        yield trace


def measure(trace, machine, tools, runs, folder):
    goal, binary = folder / f"{trace.stem}.goal", folder / f"{trace.stem}.bin"
    said = json.loads(common.run([common.REFRAIN, "convert", trace, "--to", "goal", "-o", goal, "--force", "--format",
                                  "json"]))
    common.run([tools["txt2bin"], "-i", goal, "-o", binary])
    with open(goal, encoding="ascii") as lines:
        operations = sum(line.startswith("l") and ": " in line for line in lines)
    theirs, ours = [], []
    for _ in range(runs):
        theirs.append(timed([tools["LogGOPSim"], "-b", "-f", binary, *WORDS]))
        ours.append(timed([common.REFRAIN, "simulate", trace, "--machine", machine, "--contention", "none",
                           "--format", "json"]))
    ends = [int(ns) for ns in re.findall(r"\bhost \d+: (\d+)", theirs[0][0], re.IGNORECASE)]
    if not ends:
        common.fail(f"{trace}: no time in what LogGOPSim prints:\n{theirs[0][0][-600:]}")
    their_s, our_s = (min(run[1] for run in of) for of in (theirs, ours))
    their_wall_s, our_wall_s = (min(run[2] for run in of) for of in (theirs, ours))
    their_ns, our_ns = max(ends), json.loads(ours[0][0])["predicted_ns"]
    goal.unlink(), binary.unlink()
    return {"trace": trace.name, "operations": operations, "not_held": said["not_held"], "loggopsim_s": their_s,
            "refrain_s": our_s, "loggopsim_per_s": operations / max(their_s, 1e-3),
            "refrain_per_s": operations / max(our_s, 1e-3), "ratio": their_s / max(our_s, 1e-3),
            "loggopsim_wall_s": their_wall_s, "refrain_wall_s": our_wall_s,
            "wall_ratio": their_wall_s / max(our_wall_s, 1e-3),
            "loggopsim_ns": their_ns, "refrain_ns": our_ns, "difference": our_ns / their_ns - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--loggopsim", help="the folder of LogGOPSim and txt2bin")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("traces", nargs="*", metavar="TRACE", type=pathlib.Path)
    arguments = parser.parse_args()
    tools = {name: shutil.which(name, path=arguments.loggopsim) for name in ("LogGOPSim", "txt2bin")}
    if None in tools.values():
        print("LogGOPSim: not here")
        return 0
    folder = pathlib.Path(arguments.out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    machine = folder / "loggopsim.toml"
    machine.write_text(MACHINE + "".join(f'[[collectives.rule]]\ncall = "MPI_{call}"\nalgorithm = "{algorithm}"\n'
                                         for call, algorithm in ALGORITHMS.items()), encoding="ascii")
    rows = []
    for trace in arguments.traces or waves(folder):
        common.progress(trace.name)
        rows.append(measure(trace, machine, tools, arguments.runs, folder))
    common.progress("")
    (folder / "loggopsim.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    common.print_table(["trace", "operations", "LogGOPSim_s", "refrain_s", "LogGOPSim_per_s", "refrain_per_s", "ratio",
                        "wall_ratio", "difference"],
                       [[r["trace"], r["operations"], f"{r['loggopsim_s']:.3f}", f"{r['refrain_s']:.3f}",
                         f"{r['loggopsim_per_s']:.0f}", f"{r['refrain_per_s']:.0f}", f"{r['ratio']:.2f}",
                         f"{r['wall_ratio']:.2f}", f"{r['difference']:.4f}"] for r in rows])
    print(f"written: {folder / 'loggopsim.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
