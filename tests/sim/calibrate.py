#!/usr/bin/python3
"""refrain calibrate under SMPI: the parameters of the platform are found again. And what it refuses.

    calibrate.py --refrain build/release/refrain

Exit status: 0, 1, or 77 where there is no SMPI.
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

GOOD, USAGE, SKIPPED = 0, 2, 77
# What SMPI is told: latency (each link's, of two) and bandwidth, overheads in s and s per byte, the limit, factors.
LATENCY_S, BANDWIDTH = 10e-6, 1e9
SEND, RECEIVE = (1.5e-6, 2e-10), (2.5e-6, 2e-10)
LIMIT = 20000
LAT_FACTOR, BW_FACTOR = 1.25, 0.8
SETTINGS = ("smpi/simulate-computation:no", "network/TCP-gamma:1e9", "network/crosstraffic:0",
            "smpi/send-is-detached-thresh:%d" % LIMIT, "smpi/async-small-thresh:%d" % LIMIT,
            "smpi/os:0:%g:%g" % SEND, "smpi/ois:0:%g:%g" % SEND, "smpi/or:0:%g:%g" % RECEIVE,
            "smpi/bw-factor:0:%g" % BW_FACTOR, "smpi/lat-factor:0:%g" % LAT_FACTOR)
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, text=True)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Calibrate(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-calibrate-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def near(self, found, wanted, what, share=0.05):
        self.assertLessEqual(abs(found["value"] - wanted), share * wanted, "%s: %s, not %g" % (what, found, wanted))

    def test_a_platform_is_found_again(self):
        machine = self.path("m.toml")
        wrapper = [options.refrain, "calibrate", "--repeats", "3", "--max-bytes", "1M", "-o", machine, "--plot",
                   self.path("m.svg"), "--raw", self.path("raw.jsonl"), "--format", "json"]
        done = smpi.run(smpi.command_line(2, ["calibrate"], wrapper, self.temporary.name, SETTINGS,
                                          ("%gBps" % BANDWIDTH, "%gs" % LATENCY_S)), 300)
        self.assertEqual(done.status, GOOD, done.output)
        found = json.loads(done.output[done.output.index("{"):])["distances"][0]
        self.assertEqual(found["distance"], "switch")
        self.assertEqual(found["eager_limit"], LIMIT - 1)  # SMPI: messages below the threshold
        latency = 2 * LATENCY_S * LAT_FACTOR * 1e9
        per_byte = 1e9 / (BANDWIDTH * BW_FACTOR)
        for row in found["ranges"]:
            self.near(row["o_send"], SEND[0] * 1e9, "o_send")
            self.near(row["G"], per_byte, "G")
            self.near(row["L"], latency, "L")
            # SMPI charges smpi/or to receivers of detached messages only: above, the senders' bytes are half of both.
            is_eager = row["up_to"] is not None and row["up_to"] < LIMIT
            self.near(row["cpu_per_byte"], SEND[1] * 1e9 / (1 if is_eager else 2), "cpu_per_byte")
            if is_eager:
                self.near(row["o_recv"], RECEIVE[0] * 1e9, "o_recv")
            else:
                self.assertLess(row["o_recv"]["value"], 0.05 * RECEIVE[0] * 1e9)
        # Nobody asks in SMPI: what waits begins when both ends are there. And all goes on beside computations.
        self.assertLess(found["ranges"][-1]["handshake"]["value"], 0.02 * latency)
        self.assertGreater(found["overlap"]["value"], 0.95)
        self.assertIn("<svg", text_of(self.path("m.svg"))[:100])
        # The samples that were kept give the same file.
        again = refrain("calibrate", self.path("raw.jsonl"), "-o", self.path("again.toml"))
        self.assertEqual((again.returncode, again.stderr), (GOOD, ""))
        self.assertEqual(text_of(machine), text_of(self.path("again.toml")))
        # As two starts they give the same values, and say so.
        twice = refrain("calibrate", self.path("raw.jsonl"), self.path("raw.jsonl"), "-o", self.path("twice.toml"),
                        "--format", "json")
        self.assertEqual((twice.returncode, twice.stderr), (GOOD, ""))
        joined = json.loads(twice.stdout)["distances"][0]
        self.assertEqual((joined["starts"], joined["samples"]), (2, 2 * found["samples"]))
        for one, both in zip(found["ranges"], joined["ranges"]):
            self.assertAlmostEqual(one["o_send"]["value"], both["o_send"]["value"], places=6)
        # With a start whose cores are three times as far, it warns, here and in the file.
        with open(self.path("raw.jsonl"), encoding="utf-8") as near, \
                open(self.path("far.jsonl"), "w", encoding="utf-8") as far:
            for line in map(json.loads, near):
                far.write(json.dumps({**line, "ns": [3 * ns for ns in line["ns"]]} if "ns" in line else line) + "\n")
        uneven = refrain("calibrate", self.path("raw.jsonl"), self.path("far.jsonl"), "-o", self.path("uneven.toml"),
                         "--format", "json")
        self.assertEqual((uneven.returncode, len(uneven.stderr.splitlines())), (GOOD, 1), uneven.stderr)
        self.assertIn("in round 1 of start 2: the ranks were not always equally far", uneven.stderr)
        self.assertIn("not always equally far", text_of(self.path("uneven.toml")))
        said = json.loads(uneven.stdout)["distances"][0]
        self.assertEqual((joined["is_uneven"], said["is_uneven"]), (False, True))
        (near,), (far,) = said["shortest_ns"]
        self.assertAlmostEqual(far, 3 * near, places=3)
        # And simulate takes it.
        heat = os.path.join(HERE, "..", "corpus", "heat-1.5-exact.rfn")
        said = refrain("simulate", heat, "--machine", machine)
        self.assertEqual((said.returncode, said.stderr), (GOOD, ""))
        self.assertEqual([name for name in os.listdir(self.temporary.name) if name.endswith(".samples")], [])

    def test_refusals(self):
        with open(self.path("raw.jsonl"), "w", encoding="utf-8") as out:
            out.write('{"refrain_samples":1,"distance":"core"}\n{"test":"send","bytes":8,"ns":[1]}\n')

        def refused(part, *words):
            done = refrain("calibrate", *words)
            self.assertEqual((done.returncode, len(done.stderr.splitlines()), done.stdout), (USAGE, 1, ""), done.stderr)
            self.assertIn(part, done.stderr)
            self.assertFalse(os.path.exists(self.path("m.toml")))

        refused("mpiexec -n 2", "-o", self.path("m.toml"))
        refused("'pingpong'", self.path("raw.jsonl"), "-o", self.path("m.toml"))
        refused("already exists", self.path("raw.jsonl"), "-o", self.path("raw.jsonl"))
        refused("two files", self.path("raw.jsonl"), "-o", self.path("m.toml"), "--plot", self.path("./m.toml"))
        with open(self.path("other.jsonl"), "w", encoding="utf-8") as out:
            out.write('{"refrain_samples":1,"distance":"core","mpi":"X"}\n{"test":"send","bytes":8,"ns":[1]}\n')
        refused("another MPI", self.path("raw.jsonl"), self.path("other.jsonl"), "-o", self.path("m.toml"))
        refused("--raw", self.path("raw.jsonl"), "-o", self.path("m.toml"), "--raw", self.path("x"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    options, rest = parser.parse_known_args()
    options.refrain = os.path.abspath(options.refrain)
    if not mpirun.launcher("smpi"):
        print("SMPI is not installed")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0]] + rest)
