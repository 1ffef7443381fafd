#!/usr/bin/python3
"""`refrain convert --to ti`, replayed by SimGrid: it runs to its end, and takes the time that the
program took under SMPI on the same platform.

    replay.py --refrain R --programs build/release/tests/programs/smpi --libraries DIR
"""

import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

import readers  # noqa: E402
import smpi  # noqa: E402
from formats import Converter  # noqa: E402
from readers import check  # noqa: E402

MOST_ERROR = 0.05
# Program, ranks, arguments, whether its time is compared: where it is too short, what the recorder
# sends in MPI_Init, which is in the trace as computation, is more than 5 % of it.
RUNS = (
    ("halo2d", 4, (), True),
    ("halo3d", 8, (), True),
    ("sweep2d", 6, (), True),
    ("transpose", 9, (), True),
    ("ring", 5, (), True),
    ("rows_columns", 6, (), True),
    ("recursive_doubling", 8, (), True),
    ("alltoallv", 4, ("400",), True),
    ("p2p_nonblocking", 3, (), False),
    ("p2p_wildcard", 4, (), False),
    ("p2p_persistent", 3, (), False),
    ("coll_vectors", 3, (), False),
    ("coll_nonblocking", 4, (), False),
    ("comm_group", 4, (), False),
    ("random_mix", 4, (), False),
)


def simulated(line):
    """Seconds of the simulation's clock that a run takes."""
    line = [word for word in line if not word.startswith("--log=")]
    line[1:1] = ["--cfg=smpi/display-timing:yes", "--log=root.thresh:warning",
                 "--log=smpi_utils.thresh:info"]
    run = smpi.run(line, 120)
    said = re.search(r"Simulated time: ([0-9.e+-]+)", run.output)
    check(run.status == 0 and said, "status %d: %s" % (run.status, run.output[-400:]))
    return float(said.group(1))


def replay(folder, ranks):
    line = smpi.command_line(ranks, [])
    line[1:1] = ["-replay", os.path.join(folder, "trace.txt")]
    return simulated(line)


def test(converter, options, program, ranks, arguments, is_timed):
    command = [os.path.abspath(os.path.join(options.programs, program)), *arguments]
    trace = os.path.join(converter.folder, "run.rfn")
    os.environ["REFRAIN_LIBRARY_PATH"] = os.path.abspath(options.libraries)
    os.environ["REFRAIN_TEST_DIR"] = converter.folder
    run = smpi.run(smpi.command_line(ranks, command,
                                     [converter.refrain, "record", "-o", trace, "--timing", "exact"]), 120)
    check(os.path.exists(trace), "no trace: %s" % run.output[-400:])
    converter.check(trace, targets=("ti", "goal"), statuses=(0, 4))
    seconds = replay(converter.output("ti"), ranks)
    if not is_timed:
        return "runs to its end"
    original = simulated(smpi.command_line(ranks, command))
    error = seconds / original - 1
    check(abs(error) <= MOST_ERROR, "%s: %g s, replayed %g s" % (program, original, seconds))
    return "%g s, replayed within %.1f %%" % (original, 100 * abs(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries", required=True)
    options = parser.parse_args()
    if not readers.have("smpirun"):
        print("skip  no smpirun")
        return 77
    failed = 0
    for program, ranks, arguments, is_timed in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            converter = Converter(os.path.abspath(options.refrain), folder)
            try:
                said = test(converter, options, program, ranks, arguments, is_timed)
                print("ok    %s on %d ranks: %s" % (program, ranks, said), flush=True)
            except readers.Wrong as wrong:
                failed += 1
                print("FAIL  %s on %d ranks: %s" % (program, ranks, wrong), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
