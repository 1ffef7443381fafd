#!/usr/bin/python3
"""refrain iterations: number, length, waiting, bytes and behaviours of iterations that are known by construction.

    iterations.py --refrain build/refrain --programs build/tests/iterations --libraries build/src/tracer [test ...]

steps.c does what it is told; under SMPI, where work takes simulated time. Exit status: 77 where SMPI is missing.
"""
import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

SKIPPED, RANKS, UNSUPPORTED, USAGE = 77, 4, 5, 2
NETWORK = ("100GBps", "50ns")
SLACK_NS = 60_000  # what the network and the simulated calls of an iteration take, at most
options = None


def refrain(*words, status=0):
    done = subprocess.run([options.refrain, *map(str, words)], capture_output=True, timeout=120, check=False)
    assert done.returncode == status, "%s: %d, %s" % (" ".join(map(str, words)), done.returncode, done.stderr.decode())
    return done.stdout.decode() if status == 0 else done.stderr.decode()


def record(kind, iterations, base_us, extra=(), timing="exact", ranks=RANKS):
    trace = os.path.join(options.work, "%s-%d.rfn" % (kind, len(os.listdir(options.work))))
    program = [os.path.join(options.programs, "steps"), kind, iterations, base_us] + ["%d:%d:%d" % e for e in extra]
    wrapper = ["/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries, options.refrain, "record",
               "--timing", timing, "-o", trace, "--"]
    outcome = mpirun.run_command(smpi.command_line(ranks, list(map(str, program)), wrapper, network=NETWORK), 120,
                                 dict(os.environ))
    assert outcome.status == 0, outcome.stderr.decode()[-500:]
    return trace


def answer(trace, *words):
    return json.loads(refrain("iterations", trace, "--format", "json", *words))


class Truth(unittest.TestCase):
    """What is asked is what was put in."""

    def check(self, loop, iterations, base_us, extra, factor=1, is_marked=False):
        """What a program does before a loop looks like a part of the first iteration: only marks tell its length."""
        self.assertEqual(loop["iterations"], iterations)
        self.assertEqual(loop["ranks"], RANKS)
        self.assertEqual([r["number"] for r in loop["rows"]], list(range(iterations)))
        for i, row in enumerate(loop["rows"]):
            if i == 0 and not is_marked:
                continue
            work = [1000 * (base_us + sum(us for at, rank, us in extra if (at, rank) == (i, r))) for r in range(RANKS)]
            self.assertAlmostEqual(row["duration_ns"], max(work), delta=SLACK_NS * factor, msg=str((i, row)))
            waited = sum(max(work) - w for w in work)
            self.assertAlmostEqual(row["waiting_ns"], waited, delta=RANKS * SLACK_NS * factor, msg=str((i, row)))
            self.assertAlmostEqual(row["sum_ns"] - row["mpi_ns"], sum(work), delta=RANKS * SLACK_NS * factor)
            self.assertEqual(row["threads"], RANKS)
            if max(work) > sorted(work)[-2] + SLACK_NS * factor:
                self.assertEqual(row["slowest_rank"], work.index(max(work)))
        starts = [r["begin_ns"] for r in loop["rows"]]
        self.assertEqual(starts, sorted(starts))
        numbers = [r["duration_ns"] for r in loop["rows"]]
        self.assertEqual(loop["duration_ns"]["max"], max(numbers))
        self.assertAlmostEqual(loop["duration_ns"]["mean"], sum(numbers) / len(numbers), delta=1)

    def test_ranks_that_repeat_other_parts_have_other_iterations(self):
        """Ten steps of one rank are no iteration of another that repeats single steps."""
        trace = record("blocks", 40, 2000)
        found = answer(trace)
        plain = next(l for l in found["loops"] if l["iterations"] == 40)
        for row in plain["rows"][1:]:
            self.assertAlmostEqual(row["duration_ns"], 2_000_000, delta=SLACK_NS, msg=str(row))
        self.assertEqual(plain["outliers"], [])
        for loop in found["loops"]:
            self.assertEqual({row["threads"] for row in loop["rows"]}, {loop["ranks"]}, loop["name"])
        # The text has the longest ones, and what the others take.
        longest = max(found["loops"], key=lambda l: sum(r["duration_ns"] for r in l["rows"]))["name"]
        others = len(found["loops"]) - 1
        self.assertGreater(others, 0)
        text = refrain("iterations", trace, "--top", 1)
        self.assertEqual([l["name"] for l in found["loops"] if "\n%s: " % l["name"] in text], [longest])
        self.assertRegex(text, r"\n  ... and %d more loops, .* in all \(--top 0 shows all\)" % others)
        text = refrain("iterations", trace, "--top", 0)
        self.assertTrue(all("\n%s: " % l["name"] in text for l in found["loops"]))

    def test_halo(self):
        extra = [(7, 2, 9000), (19, 0, 5000), (19, 1, 4000)]
        found = answer(record("halo", 30, 2000, extra))
        self.assertEqual(found["source"], "loops")
        self.assertEqual(len(found["loops"]), 1, [(l["name"], l["iterations"], l["most_in"]) for l in found["loops"]])
        loop = found["loops"][0]
        self.check(loop, 30, 2000, extra)
        self.assertEqual(loop["slowest"], 7)
        self.assertEqual(loop["outliers"], [7, 19])
        self.assertEqual({r["bytes"] for r in loop["rows"]}, {RANKS * (2 * 16 * 8 + 8)})
        self.assertLess(abs(loop["trend"]["share"]), 0.5)

    def test_copies_of_a_call(self):
        """A compiler may copy a call; the loop and its slow stretch are one all the same."""
        extra = [(7, 2, 9000), (19, 0, 5000)]
        trace = record("copies", 30, 2000, extra)
        addresses = {site["offset"] for site in json.loads(refrain("profile", trace, "--format", "json"))["sites"]
                     if site["call"] == "MPI_Allreduce"}
        self.assertEqual(len(addresses), 2)
        found = answer(trace)
        self.assertEqual([(l["iterations"], l["ranks"]) for l in found["loops"]], [(30, RANKS)])
        self.check(found["loops"][0], 30, 2000, extra)
        self.assertEqual(found["loops"][0]["outliers"], [7, 19])
        slow = json.loads(refrain("waits", trace, "--format", "json"))["verdict"][0]
        self.assertEqual((slow["rank"], slow["iterations"], slow["passes"]), (2, 1, 29))
        self.assertAlmostEqual(slow["slow_seconds_each"], 0.011, delta=SLACK_NS / 1e9)

    def test_first_and_last_iteration(self):
        extra = [(0, 1, 6000), (19, 3, 8000)]
        for kind in ("regions", "halo"):
            loop = answer(record(kind, 20, 2000, extra))["loops"][0]
            self.check(loop, 20, 2000, extra, is_marked=kind == "regions")
            # Without marks it is the others who tell: they wait for rank 1 in it.
            self.assertEqual(loop["outliers"], [0, 19])

    def test_trend(self):
        extra = [(i, r, 100 * i) for i in range(1, 40) for r in range(RANKS)]
        loop = answer(record("halo", 40, 2000, extra))["loops"][0]
        self.check(loop, 40, 2000, extra)
        self.assertAlmostEqual(loop["trend"]["ns_per_iteration"], 100_000, delta=3000)
        self.assertGreater(loop["trend"]["fit"], 0.99)
        self.assertTrue(loop["trend"]["is_clear"])
        self.assertEqual(loop["outliers"], [])

    def test_messages_of_another_size_each_time(self):
        loop = answer(record("sizes", 25, 1000))["loops"][0]
        self.check(loop, 25, 1000, [], factor=2)
        self.assertEqual([r["bytes"] for r in loop["rows"]], [RANKS * (2 * 8 * (i + 1) + 8) for i in range(25)])

    def test_polls_that_vary(self):
        extra = [(i, i % RANKS, 700 * (i % 5)) for i in range(20)]
        found = answer(record("polls", 20, 1000, extra))
        self.assertEqual(len(found["loops"]), 1)
        self.assertEqual(found["loops"][0]["iterations"], 20)
        for i, row in list(enumerate(found["loops"][0]["rows"]))[1:]:
            # SMPI lets each test in vain take time, and more each time.
            work = 1_000_000 + 700_000 * (i % 5)
            self.assertGreaterEqual(row["duration_ns"], work)
            self.assertLess(row["duration_ns"], work + 1_500_000)

    def test_an_inner_loop_is_part_of_the_outer_one(self):
        extra = [(3, 1, 3000)]
        found = answer(record("nested", 12, 1000, extra))
        self.assertEqual([l["iterations"] for l in found["loops"]], [12])
        self.check(found["loops"][0], 12, 1000, extra, factor=4)

    def test_a_loop_of_one_call(self):
        found = answer(record("single", 15, 1000))
        self.assertEqual([l["iterations"] for l in found["loops"]], [15])
        self.assertIn("MPI_Barrier", found["loops"][0]["most_in"])

    def test_marks(self):
        extra = [(4, 3, 5000)]
        for kind, name in (("regions", "step"), ("instances", "cycle")):
            trace = record(kind, 15, 2000, extra)
            found = answer(trace)
            self.assertEqual(found["source"], "marks")
            self.assertEqual([l["name"] for l in found["loops"]], [name])
            self.check(found["loops"][0], 15, 2000, extra, is_marked=True)
            loops = answer(trace, "--segments", "loops")
            self.assertEqual(loops["source"], "loops")
            self.assertEqual([l["iterations"] for l in loops["loops"]], [15])

    def test_behaviours(self):
        # Every fifth iteration rank 0 is late, otherwise rank 1; in the last four nobody is.
        extra = [(i, 0 if i % 5 == 0 else 1, 6000 if i % 5 == 0 else 3000) for i in range(36)]
        trace = record("regions", 40, 2000, extra)
        found = answer(trace, "--behaviours")
        behaviours = found["behaviours"]
        name = found["loops"][0]["name"]
        patterns = [p for p in behaviours["patterns"] if p["loop"] == name]
        sets = {frozenset(p["iterations"]): p for p in patterns}
        fifth, even = frozenset(range(0, 36, 5)), frozenset(range(36, 40))
        self.assertEqual(set(sets), {fifth, even, frozenset(range(40)) - fifth - even})
        late = {tuple(part["ranks"]): part["behaviour"] for part in sets[fifth]["parts"]}
        # Its neighbours wait for it in Waitall, rank 2 in Allreduce.
        self.assertEqual(set(late), {(0,), (1, 3), (2,)})
        self.assertEqual(len(sets[even]["parts"]), 1)
        self.assertAlmostEqual(sum(p["share_of_iterations"] for p in patterns), 1)
        self.assertAlmostEqual(sets[fifth]["share_of_iterations"], 0.2)
        rows = {r["name"]: r for r in behaviours["rows"]}
        self.assertAlmostEqual(rows[late[0,]]["mean_ns"], 8_000_000, delta=SLACK_NS)
        self.assertEqual(rows[late[0,]]["segments"], len(fifth))
        # Rows and their segments say the same.
        for r in behaviours["rows"]:
            mine = [s for s in behaviours["segments"] if s["behaviour"] == r["name"]]
            self.assertEqual(len(mine), r["segments"])
            self.assertEqual(len({s["rank"] for s in mine}), r["ranks"])
            self.assertAlmostEqual(sum(s["end_ns"] - s["begin_ns"] for s in mine), r["sum_ns"], delta=1)
        self.assertEqual(sum(1 for s in behaviours["segments"] if s["iteration"] is not None), 40 * RANKS)
        text = refrain("iterations", trace, "--behaviours", "--top", 0)
        self.assertIn("Ranks (down) and iterations (across)", text)
        self.assertIn("20.0 %", text)

    def test_formats(self):
        trace = record("halo", 30, 2000, [(7, 2, 9000)])
        found = answer(trace)["loops"][0]
        rows = list(csv.DictReader(io.StringIO(refrain("iterations", trace, "--format", "csv"))))
        self.assertEqual([int(r["duration_ns"]) for r in rows], [r["duration_ns"] for r in found["rows"]])
        text = refrain("iterations", trace, "--top", 2)
        for part in ("30 iterations on 4 ranks", "slowest: iteration 7", "rank 2", "outliers: 7", "others (28)"):
            self.assertIn(part, text)
        segments = list(csv.DictReader(io.StringIO(refrain("iterations", trace, "--behaviours", "--format", "csv"))))
        self.assertEqual(sum(1 for s in segments if s["iteration"]), 30 * RANKS)

    def test_the_page_has_the_same(self):
        trace = record("halo", 30, 2000, [(7, 2, 9000)])
        found, page = answer(trace, "--behaviours"), json.loads(refrain("report", "--format", "json", trace))
        loop, columns = page["iterations"]["loops"][0], page["columns"]
        self.assertEqual(loop["count"], 30)
        self.assertEqual(columns["iterations.duration"], [r["duration_ns"] for r in found["loops"][0]["rows"]])
        self.assertEqual(columns["iterations.waiting"], [r["waiting_ns"] for r in found["loops"][0]["rows"]])
        self.assertEqual(columns["iterations.number"][loop["slowest"]], 7)
        self.assertEqual(len(columns["behaviours.row"]), len(found["behaviours"]["segments"]))
        self.assertEqual([r["segments"] for r in page["behaviours"]["rows"]],
                         [r["segments"] for r in found["behaviours"]["rows"]])

    def test_errors(self):
        trace = record("halo", 5, 1000, timing="stats")
        said = refrain("iterations", trace, status=UNSUPPORTED)
        self.assertIn("--timing exact", said)
        self.assertEqual(said.count("\n"), 1)
        refrain("iterations", trace, "--method", "nonsense", status=USAGE)
        page = json.loads(refrain("report", "--format", "json", trace))
        self.assertIsNone(page["iterations"])
        self.assertIn("no times", page["no_iterations"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for word in ("refrain", "programs", "libraries"):
        parser.add_argument("--" + word, required=True)
    options, rest = parser.parse_known_args()
    if shutil.which("smpirun") is None:
        print("skip  SimGrid is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="refrain-iterations-") as folder:
        options.work = folder
        unittest.main(argv=["iterations.py"] + rest)
