#!/usr/bin/python3
"""refrain predict a.rfn b.rfn c.rfn --ranks P: a run on P ranks that never was, beside one that was.

    other_ranks.py --refrain build/release/refrain --libraries build/release/src/tracer

A program is recorded under SMPI on three numbers of ranks, and once on a fourth. What follows from the three has as
many calls on each rank as the fourth, and takes as long on the same machine. A program whose messages follow no rule
is refused with status 5. Exit status: 0, 1, or 77 where there is no SMPI.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

USAGE, UNSUPPORTED, SKIPPED = 2, 5, 77
MOST_ERROR = 0.01
MACHINE = """version = 1
[distance.switch]
eager_limit = 65536
[[distance.switch.range]]
L = 2000
o_send = 300
o_recv = 400
g = 100
G = 0.5
"""
# Neighbours around a square grid, a reduction, a transpose, and work that grows with the side of the grid.
PROGRAM = r"""
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static int odd(int ranks) { return ranks == 16 ? 100 : ranks == 64 ? 317 : 318; }
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int me, ranks, side = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (side * side < ranks) ++side;
  const int is_odd = argc > 1, bytes = is_odd ? odd(ranks) : 48000 / side; /* whole for 4, 6, 8, 10, 12 */
  char *in = calloc(4, 65536), *out = calloc(4, 65536);
  const int row = me / side, column = me % side;
  const int to[4] = {row * side + (column + 1) % side, row * side + (column + side - 1) % side,
                     (row + 1) % side * side + column, (row + side - 1) % side * side + column};
  for (int i = 0; i < 5 * side; ++i) {
    MPI_Request requests[8];
    for (int k = 0; k < 4; ++k) MPI_Irecv(in + k * 65536, bytes, MPI_CHAR, to[k], k ^ 1, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < 4; ++k) MPI_Isend(out, bytes, MPI_CHAR, to[k], k, MPI_COMM_WORLD, &requests[4 + k]);
    const struct timespec t = {0, 100000L * side};
    nanosleep(&t, NULL);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, out, 8, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
  }
  if (me == 0) MPI_Send(in, bytes, MPI_CHAR, ranks - 1, 9, MPI_COMM_WORLD);
  if (me == ranks - 1) MPI_Recv(in, bytes, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
"""
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), capture_output=True, text=True, timeout=300)


class OtherRanks(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-ranks-")
        self.addCleanup(self.temporary.cleanup)
        with open(self.path("p.c"), "w", encoding="utf-8") as out:
            out.write(PROGRAM)
        with open(self.path("m.toml"), "w", encoding="utf-8") as out:
            out.write(MACHINE)
        subprocess.run(["smpicc", "-std=c11", "-O1", "-o", self.path("p"), self.path("p.c")], check=True)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def record(self, ranks, *words):
        trace = self.path("%d%s.rfn" % (ranks, "".join(words)))
        line = smpi.command_line(ranks, [self.path("p"), *words],
                                 [options.refrain, "record", "--quiet", "--gaps", "-o", trace], self.temporary.name)
        done = smpi.run(line, 300, dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
        self.assertEqual(done.status, 0, done.output)
        return trace

    def predict(self, *words):
        return refrain("predict", *words, "--machine", self.path("m.toml"), "--draws", "0", "--format", "json")

    def test_a_run_that_was_not_recorded(self):
        small = [self.record(ranks) for ranks in (16, 36, 64)]
        for ranks in (100, 144):
            done = self.predict(*small, "--ranks", str(ranks))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = json.loads(done.stdout)
            wanted = json.loads(refrain("simulate", self.record(ranks), "--machine", self.path("m.toml"), "--format",
                                        "json").stdout)
            self.assertEqual(found["compute_from"], "gaps")
            self.assertEqual([row["calls"] for row in found["ranks"]], [row["calls"] for row in wanted["ranks"]])
            self.assertEqual(found["messages"], wanted["messages"])
            error = found["predicted_ns"] / wanted["predicted_ns"] - 1
            print("%d ranks: %d ns, recorded there %d ns, %+.3f %%" % (
                ranks, found["predicted_ns"], wanted["predicted_ns"], 100 * error))
            self.assertLess(abs(error), MOST_ERROR)
        none = self.predict(*small, "--ranks", "90")  # no square
        self.assertEqual((none.returncode, none.stdout), (UNSUPPORTED, ""))
        self.assertEqual(self.predict(*small[:2], "--ranks", "100").returncode, USAGE)
        self.assertEqual(self.predict(small[0], small[1], small[1], "--ranks", "100").returncode, USAGE)

    def test_what_does_not_follow_is_named(self):
        done = self.predict(*[self.record(ranks, "odd") for ranks in (16, 36, 64)], "--ranks", "100")
        self.assertEqual((done.returncode, done.stdout), (UNSUPPORTED, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("(MPI_Irecv) is 100, 318 and 317, with 16, 36 and 64 ranks", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    options, rest = parser.parse_known_args()
    options.refrain, options.libraries = os.path.abspath(options.refrain), os.path.abspath(options.libraries)
    if not mpirun.launcher("smpi"):
        print("SMPI is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0]] + rest)
