#!/usr/bin/python3
"""SMPI's truth for `refrain simulate`: collectives, algorithm by algorithm, and patterns of messages on topologies.

    smpi.py --refrain build/release/refrain --libraries build/release/src/tracer [--all] [--only WORD] [--jobs N]

A small program (truth.c) is recorded under SMPI, on a platform that a machine file describes as well; the simulation of
its trace is compared with the time that SMPI has simulated. SMPI is told which algorithm a collective takes
(smpi/COLLECTIVE:NAME), the simulator by a rule of the machine file. tests/sim/calibrate.py finds the parameters of a
platform again.

Without --all: a few cases of each table. Exit status: 0, 1, or 77 where there is no SMPI.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import machines  # noqa: E402
import mpirun  # noqa: E402
import smpi  # noqa: E402

SKIPPED = 77
SEGMENTATION_FAULT, ABORTED = 139, 134  # exit status of smpirun
PLACES = 64
MOST_COLLECTIVE, MOST_PATTERN = 0.03, 0.05
MOST_MEMORY = 256 << 20  # of all ranks' buffers; what is above is left out
RANKS = (4, 7, 8, 16, 32, 33, 64)
SIZES = (8, 1024, 32768, 1 << 20)
# MPI's name: ours: SMPI's name, and further settings. Where SMPI has several of the kind, the one that sends the same
# messages. It has one scan only, which is none of ours.
COLLECTIVES = {
    "barrier": {"dissemination": ("ompi_bruck",), "recursive_doubling": ("ompi_recursivedoubling",)},
    "bcast": {"binomial": ("binomial_tree",), "linear": ("flattree",), "chain": ("NTSL",),
              "scatter_allgather": ("scatter_LR_allgather",)},
    "reduce": {"binomial": ("binomial",), "linear": ("ompi_basic_linear",), "chain": ("NTSL",),
               "rabenseifner": ("scatter_gather",)},
    "allreduce": {"recursive_doubling": ("rdb",), "rabenseifner": ("rab_rdb",), "ring": ("lr",),
                  "binomial": ("redbcast", "smpi/reduce:binomial", "smpi/bcast:binomial_tree")},
    "gather": {"binomial": ("ompi_binomial",), "linear": ("ompi_basic_linear",)},
    "scatter": {"in_order_binomial": ("ompi_binomial",), "linear": ("ompi_basic_linear",)},
    "allgather": {"ring": ("NTSLR",), "recursive_doubling": ("rdb",), "bruck": ("bruck",),
                  "linear": ("spreading_simple",)},
    "alltoall": {"bruck": ("bruck",), "pairwise": ("ring",), "linear": ("basic_linear",)},
    "reduce_scatter": {"recursive_halving": ("ompi_basic_recursivehalving",), "ring": ("ompi_ring",),
                       "pairwise": ("mpich_pair",)},
}
SAMPLE = {(7, 1024)}
TOPOLOGIES = ("crossbar", "fat_tree", "torus", "dragonfly")
PATTERNS = ("shift:1", "shift:5", "shift:32", "transpose", "bit_reversal", "beside_own")
PATTERN_SAMPLE = ("bit_reversal", "beside_own")
options = None


class Died(Exception):
    """SMPI did, whatever it ran."""


class Case:
    def __init__(self, what, size, ranks, topology="crossbar", ours=None, theirs=()):
        self.what, self.size, self.ranks = what, size, ranks
        self.machine = machines.Machine(topology, PLACES)
        self.ours, self.theirs = ours, theirs
        self.most = MOST_COLLECTIVE if ours else MOST_PATTERN
        self.error = self.truth_s = self.found_s = None

    def __str__(self):
        how = "%s (%s)" % (self.ours, self.theirs[0]) if self.ours else self.machine.kind
        return "%s, %s, %d ranks, %d B" % (self.what, how, self.ranks, self.size)

    def rule(self):
        if not self.ours:
            return ""
        return '[[collectives.rule]]\ncall = "MPI_%s"\nalgorithm = "%s"\n' % (self.what.capitalize(), self.ours)

    def settings(self):
        chosen = ("smpi/%s:%s" % (self.what, self.theirs[0]),) + self.theirs[1:] if self.ours else ()
        return self.machine.settings() + chosen

    def times_of(self, line):
        done = smpi.run(line, 300, dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
        took = [float(row.split()[1]) for row in done.output.splitlines() if row.startswith("took ")]
        if done.status in (SEGMENTATION_FAULT, ABORTED):
            raise Died("%s: SMPI ended with exit status %d" % (self, done.status))
        if done.status != 0 or len(took) != self.ranks:
            raise RuntimeError("%s: exit %d: %s" % (self, done.status, done.output[-600:]))
        return took

    def run(self):
        with tempfile.TemporaryDirectory(prefix="refrain-truth-") as folder:
            platform, hosts, machine = self.machine.write(folder, self.rule())
            trace = os.path.join(folder, "run.rfn")
            recorder = [options.refrain, "record", "--quiet", "--timing", "exact", "-o", trace]
            program = [options.program, self.what, str(self.size), "1"]
            line = machines.smpirun(platform, hosts, self.ranks, self.settings(), recorder)
            # Without a recorder, all ranks leave MPI_Init at the same time, as in the simulation.
            try:
                took = self.times_of(machines.smpirun(platform, hosts, self.ranks, self.settings()) + program)
            except Died:
                return self
            self.times_of(line + program)
            said = subprocess.run([options.refrain, "simulate", trace, "--machine", machine, "--format", "json"],
                                  capture_output=True, text=True, timeout=300)
            if said.returncode != 0:
                raise RuntimeError("%s: simulate: exit %d: %s" % (self, said.returncode, said.stderr))
            found = json.loads(said.stdout)
        if found["not_lowered"]:
            raise RuntimeError("%s: not lowered: %s" % (self, found["not_lowered"]))
        self.truth_s, self.found_s = max(took), found["predicted_ns"] * 1e-9
        self.error = self.found_s / self.truth_s - 1 if self.truth_s > 0 else float(self.found_s > 0)
        return self


def case_of(what, ours, theirs, ranks, size):
    """None: both have other algorithms there."""
    is_power = ranks & (ranks - 1) == 0
    if (what, ours) == ("allgather", "recursive_doubling") and not is_power:
        return None  # a ring of ours
    if (what, ours) == ("bcast", "scatter_allgather") and is_power and size < 512 << 10:
        theirs = ("scatter_rdb_allgather",)
    if (what, ours) == ("allreduce", "ring"):
        size = (size + ranks - 1) // ranks * ranks  # SMPI reduces a rest by itself
    return Case(what, size, ranks, ours=ours, theirs=theirs)


def collective_cases():
    for what, algorithms in COLLECTIVES.items():
        for ours, theirs in algorithms.items():
            for ranks in RANKS:
                for size in SIZES if what != "barrier" else (0,):
                    buffers = ranks * size * (ranks if what not in ("bcast", "reduce", "allreduce") else 2) * 2
                    is_in_sample = (ranks, size) in SAMPLE or (what == "barrier" and ranks == 7)
                    case = case_of(what, ours, theirs, ranks, size)
                    if case is not None and buffers <= MOST_MEMORY and (options.all or is_in_sample):
                        yield case


def pattern_cases():
    for topology in TOPOLOGIES:
        for pattern in PATTERNS:
            for size in (8, 1024, 1 << 20):
                if options.all or (size == 1 << 20 and pattern in PATTERN_SAMPLE):
                    yield Case(pattern, size, 64, topology)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--all", action="store_true", help="every case")
    parser.add_argument("--only", default="", help="cases whose name has this")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    global options
    options = parser.parse_args()
    if not mpirun.launcher("smpi"):
        print("SMPI is not installed")
        return SKIPPED
    options.refrain, options.libraries = os.path.abspath(options.refrain), os.path.abspath(options.libraries)
    with tempfile.TemporaryDirectory(prefix="refrain-truth-") as folder:
        options.program = os.path.join(folder, "truth")
        subprocess.run(["smpicc", "-std=c11", "-O1", "-o", options.program, os.path.join(HERE, "truth.c")], check=True)
        cases = [case for case in (*collective_cases(), *pattern_cases()) if options.only in str(case)]
        wrong = skipped = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for case in pool.map(Case.run, cases):
                if case.error is None:  # SimGrid 4 in a fat tree; 3.32 where a reduction has fewer bytes than ranks
                    print("skip  %s: SMPI itself dies of it, without a recorder" % case, flush=True)
                    skipped += 1
                    continue
                is_wrong = abs(case.error) > case.most
                wrong += is_wrong
                print("%s%s: SMPI %.9f s, simulated %.9f s, %+.2f %%" % (
                    "WRONG " if is_wrong else "", case, case.truth_s, case.found_s, 100 * case.error), flush=True)
    print("%d cases, %d wrong, %d skipped" % (len(cases), wrong, skipped))
    return 1 if wrong or len(cases) == skipped else 0


if __name__ == "__main__":
    sys.exit(main())
