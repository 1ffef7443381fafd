#!/usr/bin/env python3
"""How near `refrain simulate` and `refrain predict` come to runs on other machines: PHANTOM (2010), tables 3 and 4.

usage: predict.py [--out DIR] [--only PROGRAM] [--ranks 64,128,256] [--shares 0.1,0.3,0.5] [--machines fat_tree,torus]
                  [--seeds 5] [--others] [--tables | --real [--real-ranks N] [--record-into DIR | --recorded DIR]]

The eight programs of `bench groups`, whose work takes 5 % more or less from piece to piece, run under SimGrid's SMPI.
Each is recorded once, with exact times, on a crossbar with a faster network. What is predicted is the machine that
tests/support/machines.py describes to SMPI and to us: a fat tree, a torus, with links that messages share. There the
program runs once for each seed of its noise, without a recorder; work is made so long that the program without work
takes the given share of that. The simulator knows the machine file, whose parameters have intervals of 95 % of 5 %,
and no more. `wait`: what ranks are in MPI for on that machine, in relation, with the waiting.

Error = (measured - predicted) / measured, of the mean of the seeds; `inside`: how many of the seeds' runs are in the
interval of 90 %; `half_width`: of that, in relation. With --others also `--contention none` and SimGrid's replay of
`refrain convert --to ti`, which drops some calls. BT and SP run on squares: 144 stands for 128. LogGOPSim is
compared by loggopsim.py, as it knows neither shared links nor these collectives.

Exit status 3 where the mean of all errors is above 3 %, one is above 6 %, or half an interval above 8 %.
Writes DIR/predict.csv and DIR/predict.json.
"""

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time

import common

sys.path.insert(0, str(common.ROOT / "tests/support"))
import machines  # noqa: E402
import smpi  # noqa: E402

import groups  # noqa: E402

NOISE = 0.05
SPREAD = 0.05
MOST_MEAN, MOST_ERROR, MOST_WIDTH = 0.03, 0.06, 0.08
SQUARES = {128: 144}
TARGET = {"link_latency_ns": 1000, "bandwidth": 1e9, "overheads": (400, 600), "spread": SPREAD}
RECORDED_ON = {"link_latency_ns": 300, "bandwidth": 4e9, "overheads": (200, 300)}
# SMPI's algorithms, and the same ones of ours.
COLLECTIVES = {"allreduce": ("rdb", "recursive_doubling"), "bcast": ("binomial_tree", "binomial"),
               "reduce": ("binomial", "binomial"), "barrier": ("ompi_bruck", "dissemination")}
HEADER = ["program", "ranks", "machine", "share", "wait", "measured_s", "predicted_s", "error", "low_s", "high_s",
          "half_width", "inside", "calls", "record_s", "simulate_s"]
OTHERS = ["no_contention_error", "ti_error", "ti_dropped", "ti_wall_s"]


class Target:
    def __init__(self, kind, ranks, folder, network=None, speed=1.0):
        self.kind, self.ranks, self.folder, self.speed = kind, ranks, folder, speed
        self.machine = machines.Machine(kind, ranks, **(network or TARGET))
        rules = '[collectives]\nnew_communicator = "bcast"\n'  # as SMPI does it
        rules += "".join('[[collectives.rule]]\ncall = "MPI_%s"\nalgorithm = "%s"\n' % (name.capitalize(), ours)
                         for name, (_, ours) in COLLECTIVES.items())
        if speed != 1:  # than where the run was recorded
            rules += "[[node_kind]]\nfirst = 0\ncount = %d\nspeed = %g\n" % (ranks, speed)
        self.platform, self.hosts, self.file = self.machine.write(str(folder), rules)
        self.source = machines.Machine("crossbar", ranks, **RECORDED_ON)
        self.source_platform, self.source_hosts, _ = self.source.write(tempfile.mkdtemp(dir=folder), rules)

    def settings(self, machine):
        return machine.settings() + tuple("smpi/%s:%s" % (name, theirs) for name, (theirs, _) in COLLECTIVES.items())

    def run(self, line):
        done = smpi.run([str(word) for word in line], common.kRunTimeoutSeconds,
                        dict(os.environ, REFRAIN_LIBRARY_PATH=str(common.recorder_library().parent)))
        if done.status != 0:
            common.fail(f"{' '.join(map(str, line))}: exit status {done.status}\n{done.output[-600:]}")
        return done

    def measured(self, command, extra=()):
        """Simulated seconds of the program on the machine, and those that it took."""
        line = machines.smpirun(self.platform, self.hosts, self.ranks, self.settings(self.machine))
        line = [word for word in line if not word.startswith("--log=")]
        line[1:1] = ["--cfg=smpi/display-timing:yes", "--log=root.thresh:warning", "--log=smpi_utils.thresh:info",
                     *extra]
        done = self.run(line + list(command))
        found = re.search(r"Simulated time: ([0-9.e+-]+)", done.output)
        if found is None:
            common.fail(f"smpirun does not tell the simulated time: {done.output[-400:]}")
        return float(found.group(1)), done.seconds

    def record(self, command, trace, is_on_target=False):
        recorder = [str(common.REFRAIN), "record", "--quiet", "--timing", "exact", "-o", str(trace)]
        where = (self.platform, self.hosts) if is_on_target else (self.source_platform, self.source_hosts)
        settings = self.settings(self.machine if is_on_target else self.source)
        return self.run(machines.smpirun(*where, self.ranks, settings, recorder) + list(command)).seconds

    def said(self, verb, trace, *words):
        return json.loads(common.run([common.REFRAIN, verb, trace, "--machine", self.file, "--format", "json", *words]))


def compile_program(name, folder, work_ns, seed):
    source, flags, _, _, _ = groups.PROGRAMS[name]
    binary = folder / f"{name.replace(' ', '_').lower()}-{seed}.predict"
    common.run(["smpicc", "-std=c11", "-O2", f"-DWORK_NS={work_ns}", f"-DWORK_NOISE={NOISE}", f"-DWORK_SEED={seed}u",
                *flags, "-o", binary, common.ROOT / f"bench/programs/{source}.c", "-lm"])
    return binary


def work_for(name, share, target, words, folder):
    """Nanoseconds for a piece of work, and the seconds of the program without work, which are about this share."""
    took = [target.measured([compile_program(name, folder, work_ns, 1), *words])[0] for work_ns in (1e-6, 10)]
    per_ns = (took[1] - took[0]) / 10
    return took[0] * (1 - share) / share / per_ns, took[0]


def ti(target, trace, folder):
    out = folder / "predicted.ti"
    said = json.loads(common.run([common.REFRAIN, "convert", trace, "--to", "ti", "-o", out, "--force", "--format",
                                  "json"]))
    seconds, wall = target.measured(["-replay", str(out / "trace.txt")])
    return seconds, sum(row["count"] for row in said["not_held"]), wall


def measure(name, share, target, folder, seeds, others):
    words = groups.PROGRAMS[name][2]
    work_ns, idle_s = work_for(name, share, target, words, folder)
    trace = folder / "predict.rfn"
    record_s = target.record([compile_program(name, folder, work_ns, 0), *words], trace)
    runs = [target.measured([compile_program(name, folder, work_ns, seed), *words])[0] for seed in range(1, seeds + 1)]
    measured = sum(runs) / len(runs)
    began = time.monotonic()
    said = target.said("predict", trace)
    simulate_s = time.monotonic() - began
    if said["not_lowered"]:
        common.fail(f"{name}: not lowered: {said['not_lowered']}")
    predicted = said["predicted_ns"] * 1e-9
    low, high = (ns * 1e-9 for ns in said["interval_ns"])
    computed = sum(row["comp_ns"] for row in said["ranks"]) / len(said["ranks"])
    row = [name, target.ranks, target.kind, f"{idle_s / measured:.3f}",
           f"{1 - computed / said['predicted_ns']:.3f}", f"{measured:.6f}", f"{predicted:.6f}",
           f"{(measured - predicted) / measured:.5f}", f"{low:.6f}", f"{high:.6f}",
           f"{(high - low) / 2 / predicted:.5f}",
           f"{sum(low <= t <= high for t in runs)}/{len(runs)}", said["calls"], f"{record_s:.2f}", f"{simulate_s:.2f}"]
    if others:
        plain = target.said("simulate", trace, "--contention", "none")["predicted_ns"] * 1e-9
        ti_s, dropped, wall = ti(target, trace, folder)
        row += [f"{(measured - plain) / measured:.5f}", f"{(measured - ti_s) / measured:.5f}", dropped, f"{wall:.2f}"]
    trace.unlink()
    return row


def complaints(rows):
    errors = [abs(float(row[7])) for row in rows]
    if sum(errors) / len(errors) > MOST_MEAN:
        yield f"the mean error is {sum(errors) / len(errors):.2%}"
    for row, error in zip(rows, errors):
        if error > MOST_ERROR:
            yield f"{row[0]}, {row[1]} ranks, {row[2]}: {error:.2%}"
        if float(row[10]) > MOST_WIDTH:
            yield f"{row[0]}, {row[1]} ranks, {row[2]}: half the interval is {float(row[10]):.2%}"


def summary(rows):
    errors = [abs(float(row[7])) for row in rows]
    inside = [int(row[11].split("/")[0]) for row in rows]
    of = [int(row[11].split("/")[1]) for row in rows]
    print(f"{len(rows)} cases: mean error {sum(errors) / len(errors):.2%}, worst {max(errors):.2%}; "
          f"{sum(inside)} of {sum(of)} runs in the interval ({sum(inside) / sum(of):.0%}); half of it at most "
          f"{max(float(row[10]) for row in rows):.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--refrain", help="instead of ./refrain")
    parser.add_argument("--only", metavar="PROGRAM", help=f"one of {', '.join(sorted(groups.PROGRAMS))}")
    parser.add_argument("--ranks", default="64,128,256", help="also 1024: a minute or more a case, hours for all")
    parser.add_argument("--shares", default="0.1,0.3,0.5")
    parser.add_argument("--machines", default="fat_tree,torus")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--others", action="store_true", help="--contention none and SimGrid's replay beside")
    parser.add_argument("--tables", action="store_true", help="table 3 and figures 10, 12 and 13 (predict_tables.py)")
    parser.add_argument("--real", action="store_true", help="ranks of this machine, both MPIs (predict_real.py)")
    parser.add_argument("--real-ranks", type=int, default=2, metavar="N", help="of --real")
    parser.add_argument("--real-mpi", choices=("mpich", "openmpi"), help="of --real: one of them only")
    parser.add_argument("--record-into", metavar="DIR", help="of --real: only record the programs, for another machine")
    parser.add_argument("--recorded", metavar="DIR", help="of --real: what --record-into wrote elsewhere")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    if arguments.real:
        import predict_real
        return predict_real.run(arguments, folder)
    if arguments.only not in (None, *groups.PROGRAMS):
        parser.error(f"--only: there is no program {arguments.only}")
    if not common.has_smpi("no machines to predict"):
        return 0
    if arguments.tables:
        import predict_tables
        return predict_tables.run(arguments, folder)
    header = HEADER + (OTHERS if arguments.others else [])
    rows = []
    with open(folder / "predict.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for count in (int(n) for n in arguments.ranks.split(",")):
            for kind in arguments.machines.split(","):
                for name, program in groups.PROGRAMS.items():
                    if arguments.only not in (None, name):
                        continue
                    target = Target(kind, SQUARES.get(count, count) if program[4] else count, folder)
                    for share in (float(s) for s in arguments.shares.split(",")):
                        common.progress(f"{name}, {target.ranks} ranks, {kind}, {share:.0%}")
                        rows.append(measure(name, share, target, folder, arguments.seeds, arguments.others))
                        writer.writerow(rows[-1])
                        file.flush()
    common.progress("")
    common.print_table(header, rows)
    summary(rows)
    with open(folder / "predict.json", "w", encoding="utf-8") as file:
        json.dump([dict(zip(header, row)) for row in rows], file, indent=1)
    print(f"written: {folder / 'predict.json'}")
    wrong = list(complaints(rows))
    for line in wrong:
        print(line, file=sys.stderr)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
