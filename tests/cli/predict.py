#!/usr/bin/python3
"""refrain predict: intervals, sweeps, times of ranks that ran alone, and what it refuses. Needs no MPI.

    predict.py --refrain build/release/refrain
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

GOOD, FAILED, USAGE = 0, 1, 2
HEAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus", "heat-1.5-exact.rfn")
MACHINE = """version = 1
[distance.switch]
eager_limit = 65536
[[distance.switch.range]]
L = %s
o_send = 100
o_recv = 100
g = 50
G = 0.5
"""
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, text=True)


class Predict(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-predict-")
        self.addCleanup(self.temporary.cleanup)
        self.exact = self.write("exact.toml", MACHINE % "100000")
        self.wide = self.write("wide.toml", MACHINE % "{ value = 100000, low = 50000, high = 150000 }")

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def predict(self, machine, *words):
        done = refrain("predict", HEAT, "--machine", machine, "--format", "json", *words)
        self.assertEqual((done.returncode, done.stderr), (GOOD, ""))
        return json.loads(done.stdout)

    def simulate(self, machine):
        done = refrain("simulate", HEAT, "--machine", self.write("s.toml", machine), "--format", "json")
        self.assertEqual(done.returncode, GOOD)
        return json.loads(done.stdout)["predicted_ns"]

    def test_the_interval_is_that_of_the_parameters(self):
        sure = self.predict(self.exact)
        # That of the recorded computation alone, a fifth of the time, which scatters by tenths here.
        low, high = sure["interval_ns"]
        self.assertTrue(low <= sure["predicted_ns"] <= high and low < high)
        self.assertLess(high - low, 0.05 * sure["predicted_ns"])
        said = self.predict(self.wide)
        self.assertEqual(said["predicted_ns"], sure["predicted_ns"])
        low, high = said["interval_ns"]
        self.assertEqual(len(said["draws_ns"]), 30)
        self.assertEqual(said["draws_ns"], sorted(said["draws_ns"]))
        self.assertTrue(low < said["predicted_ns"] < high)
        # 90 % of a parameter lies within 0.84 of the half width of its 95 %; results rise with L. 30 draws reach a
        # little further now and then.
        self.assertGreater(low, self.simulate(MACHINE % "40000"))
        self.assertLess(high, self.simulate(MACHINE % "160000"))
        self.assertLess(low, self.simulate(MACHINE % "80000"))
        self.assertGreater(high, self.simulate(MACHINE % "120000"))
        again = self.predict(self.wide, "--threads", "1")
        for one in (said, again):
            del one["seconds"], one["events_per_s"]
        self.assertEqual(said, again)
        self.assertIsNone(self.predict(self.wide, "--draws", "0")["interval_ns"])

    def test_a_sweep_is_a_simulation_of_another_machine(self):
        said = self.predict(self.exact, "--sweep", "latency=0.5..2:3,compute=1..2:2", "--draws", "0", "--svg",
                            self.path("t.svg"))
        self.assertEqual([(p["part"], p["factor"]) for p in said["sweep"]],
                         [("latency", 0.5), ("latency", 1), ("latency", 2), ("compute", 1), ("compute", 2)])
        times = [p["predicted_ns"] for p in said["sweep"]]
        self.assertEqual(times[0], self.simulate(MACHINE % "50000"))
        self.assertEqual((times[1], times[3]), (said["predicted_ns"], said["predicted_ns"]))
        self.assertEqual(times[2], self.simulate(MACHINE % "200000"))
        self.assertLess(times[4], times[3])
        with open(self.path("t.svg"), encoding="utf-8") as picture:
            text = picture.read()
        # The longest bar is the first.
        self.assertTrue(text.startswith("<svg") and text.index(">latency<") < text.index(">compute<"), text)

    def test_no_change_has_no_minus(self):
        done = refrain("predict", HEAT, "--machine", self.exact, "--draws", "0", "--sweep", "latency=0.999999..1:2")
        self.assertEqual(done.stdout.count("+0.0%"), 2, done.stdout)

    def test_the_error_has_a_sign(self):
        said = self.predict(self.exact, "--draws", "0", "--measured", "1")
        self.assertAlmostEqual(said["error_percent"], 100 * (1 - said["predicted_ns"] * 1e-9), places=6)

    def test_refusals(self):
        def refused(status, part, *words):
            done = refrain("predict", HEAT, "--machine", self.exact, *words)
            found = (done.returncode, len(done.stderr.splitlines()), done.stdout)
            self.assertEqual(found, (status, 1, ""), done.stderr)
            self.assertIn(part, done.stderr)

        refused(USAGE, "moon", "--sweep", "moon=2")
        refused(USAGE, "--sweep", "--sweep", "")
        refused(USAGE, "--sweep", "--svg", self.path("x.svg"))
        refused(USAGE, "already exists", "--sweep", "latency=2", "--svg", self.exact)
        refused(FAILED, "none.rfv", "--times", self.path("none.rfv"))
        refused(FAILED, "exact.toml", "--times", self.exact)
        refused(USAGE, "--times", "--plan", self.exact)
        refused(USAGE, "three", HEAT, "--ranks", "8")
        refused(USAGE, "as many ranks as another", HEAT, HEAT, "--ranks", "8")
        refused(USAGE, "--regression", HEAT)
        refused(USAGE, "--regression", "--ranks", "8")

    def test_regression(self):
        # Runs on one number of ranks tell nothing of others, but of an input variable.
        def regression(*words):
            return refrain("predict", "--regression", HEAT, HEAT, HEAT, *words)
        done = regression("--ranks", "8")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (USAGE, "", 1), done.stderr)
        self.assertIn("3 runs", done.stderr)
        self.assertIn("over 1 run has", refrain("predict", "--regression", HEAT, "--ranks", "8").stderr)
        for words, part in (((), "--ranks"), (("--ranks", "8", "--input", "zzz=3"), "has no zzz"),
                            (("--ranks", "8", "--input", "n=1,2:3"), "2 values for 3 runs")):
            done = regression(*words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
            self.assertIn(part, done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    options, rest = parser.parse_known_args()
    options.refrain = os.path.abspath(options.refrain)
    unittest.main(argv=[sys.argv[0]] + rest)
