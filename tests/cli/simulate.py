#!/usr/bin/python3
"""refrain simulate: what it says and writes, and what it refuses. Needs no MPI.

    simulate.py --refrain build/release/refrain
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

GOOD, FAILED, USAGE, INCOMPLETE, UNSUPPORTED = 0, 1, 2, 4, 5
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus")
HEAT = os.path.join(CORPUS, "heat-1.5-exact.rfn")
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


def machine_text(latency=1000, overhead=100, per_byte=0.5, gap=50, more=""):
    return """version = 1
name = "made up"
[distance.switch]
eager_limit = 65536
[[distance.switch.range]]
L = %s
o_send = %s
o_recv = %s
g = %s
G = %s
%s""" % (latency, overhead, overhead, gap, per_byte, more)


class Simulate(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-simulate-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def machine(self, text, name="m.toml"):
        with open(self.path(name), "w") as out:
            out.write(text)
        return self.path(name)

    def simulate(self, trace, machine, *words):
        done = refrain("simulate", trace, "--machine", self.machine(machine), "--format", "json", *words)
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
        return json.loads(done.stdout)

    def refused(self, status, part, *words):
        done = refrain("simulate", *words)
        text = done.stderr.decode()
        self.assertEqual((done.returncode, len(text.splitlines()), done.stdout), (status, 1, b""), text)
        self.assertIn(part, text)

    def test_parts_of_the_longest_rank_are_the_prediction(self):
        said = self.simulate(HEAT, machine_text())
        times = [r["comp_ns"] + r["comm_ns"] + r["sync_ns"] for r in said["ranks"]]
        self.assertEqual(len(times), 4)
        self.assertEqual(max(times), said["predicted_ns"])
        self.assertEqual((said["not_lowered"], said["compute_from"], said["contention"]), ([], "exact", "none"))
        again = self.simulate(HEAT, machine_text())
        for one in (said, again):
            del one["seconds"], one["events_per_s"]
        self.assertEqual(said, again)

    def test_without_a_network_only_computation_and_waiting_are_left(self):
        said = self.simulate(HEAT, machine_text(0, 0, 0, 0))
        self.assertEqual([r["comm_ns"] for r in said["ranks"]], [0] * 4)
        slow = self.simulate(HEAT, machine_text(10 ** 6))
        self.assertEqual([r["comp_ns"] for r in slow["ranks"]], [r["comp_ns"] for r in said["ranks"]])
        # Fifty iterations have an exchange each, at least.
        self.assertGreater(slow["predicted_ns"], said["predicted_ns"] + 10 * 10 ** 6)

    def test_a_faster_node_computes_faster(self):
        plain = self.simulate(HEAT, machine_text())
        fast = self.simulate(HEAT, machine_text(more="[[node_kind]]\nfirst = 0\ncount = 2\nspeed = 4.0\n"))
        for rank, (a, b) in enumerate(zip(plain["ranks"], fast["ranks"])):
            self.assertAlmostEqual(a["comp_ns"] / b["comp_ns"], 4 if rank < 2 else 1, delta=0.01)

    def test_links_are_shared(self):
        more = '[topology]\nkind = "fat_tree"\ndown = [2, 2]\nup = [1, 1]\nlink_bandwidth = 1e7\n'
        fair = self.simulate(HEAT, machine_text(more=more))
        none = self.simulate(HEAT, machine_text(more=more), "--contention", "none")
        self.assertGreater(fair["predicted_ns"], none["predicted_ns"])
        self.assertEqual((fair["contention"], none["contention"], none["links"]), ("fair", "none", []))
        for link in fair["links"]:
            # No link has taken more than its bandwidth.
            self.assertLessEqual(link["bytes"], link["busy_ns"] * 0.01 + 1)

    def test_the_predicted_trace_has_the_predicted_times(self):
        out = self.path("predicted.rfn")
        said = self.simulate(HEAT, machine_text(), "-o", out)
        self.assertEqual(refrain("check", out).returncode, GOOD)
        calls = [json.loads(line) for line in refrain("dump", out, "--format", "jsonl").stdout.splitlines()]
        recorded = [json.loads(line) for line in refrain("dump", HEAT, "--format", "jsonl").stdout.splitlines()]
        self.assertEqual([c["call"] for c in calls], [c["call"] for c in recorded])
        for rank in range(4):
            mine = [c for c in calls if c["rank"] == rank]
            end = 0
            for call in mine:
                self.assertGreaterEqual(call["begin_ns"], end)
                end = call["end_ns"]
            self.assertEqual(end, sum(said["ranks"][rank][p] for p in ("comp_ns", "comm_ns", "sync_ns")))
            inside = sum(c["end_ns"] - c["begin_ns"] for c in mine)
            self.assertLessEqual(end - inside, said["ranks"][rank]["comp_ns"])
        self.assertEqual(refrain("waits", out).returncode, GOOD)
        # On the same machine without computation times of its own it takes as long again.
        self.assertAlmostEqual(self.simulate(out, machine_text())["predicted_ns"], said["predicted_ns"],
                               delta=said["predicted_ns"] * 0.02)
        self.refused(USAGE, "already exists", HEAT, "--machine", self.machine(machine_text()), "-o", out)

    def test_traces_without_times_say_where_computation_is_from(self):
        for name, source in (("heat-1.5", "statistics"), ("heat-1.4-gaps", "gaps"), ("heat-1.5-bins", "bins"),
                             ("heat-1.5-segments", "segments")):
            said = self.simulate(os.path.join(CORPUS, name + ".rfn"), machine_text())
            self.assertEqual(said["compute_from"], source)

    def test_fields_of_plain_simulations(self):
        more = '[topology]\nkind = "fat_tree"\ndown = [2, 2]\nup = [1, 1]\nlink_bandwidth = 1e7\n'
        said = self.simulate(HEAT, machine_text(more=more))
        self.assertEqual(said["matching"], {"mode": "recorded", "changed": 0})
        self.assertEqual((said["interval_ns"], said["skipped_calls"], said["skip_error_ns"], said["not_skipped"]),
                         (None, 0, 0, None))
        for link in said["links"]:
            self.assertAlmostEqual(link["busy"], link["busy_ns"] / said["predicted_ns"], delta=0.001)

    def test_skipping_stays_within_its_error(self):
        # Of HEAT little is left without the recorder's own work, and its iterations differ by more than that.
        even = os.path.join(CORPUS, "heat-1.2-segments.rfn")
        whole = self.simulate(even, machine_text())
        near = self.simulate(even, machine_text(), "--skip", "100%")
        self.assertIsNone(near["not_skipped"])
        self.assertLessEqual(abs(near["predicted_ns"] - whole["predicted_ns"]), near["skip_error_ns"])
        self.assertEqual([r["calls"] for r in near["ranks"]], [r["calls"] for r in whole["ranks"]])
        self.assertEqual(near["calls"], whole["calls"])
        times = [r["comp_ns"] + r["comm_ns"] + r["sync_ns"] for r in near["ranks"]]
        self.assertEqual(max(times), near["predicted_ns"])
        # Recorded times of iterations are never that much alike.
        whole = self.simulate(HEAT, machine_text())
        strict = self.simulate(HEAT, machine_text(), "--skip", "0.000001")
        self.assertIn("differs by", strict["not_skipped"])
        self.assertEqual((strict["predicted_ns"], strict["skipped_calls"]), (whole["predicted_ns"], 0))
        machine = self.machine(machine_text())
        for bad in ("0", "101%", "half", "-1%"):
            self.refused(USAGE, "--skip", HEAT, "--machine", machine, "--skip", bad)
        self.refused(USAGE, "--skip", HEAT, "--machine", machine, "--skip", "1%", "-o", self.path("p.rfn"))

    def test_gaps_are_alike_in_each_iteration(self):
        gaps = os.path.join(CORPUS, "heat-1.4-gaps.rfn")
        whole = self.simulate(gaps, machine_text())
        part = self.simulate(gaps, machine_text(), "--skip", "0.5%")
        self.assertIsNone(part["not_skipped"])
        self.assertEqual((part["predicted_ns"], part["skip_error_ns"]), (whole["predicted_ns"], 0))
        self.assertEqual(part["ranks"], whole["ranks"])

    def test_matching_anew_changes_nothing_without_wildcards(self):
        recorded = self.simulate(HEAT, machine_text())
        anew = self.simulate(HEAT, machine_text(), "--matching", "simulated")
        self.assertEqual(anew["matching"], {"mode": "simulated", "changed": 0})
        self.assertEqual(anew["ranks"], recorded["ranks"])

    def test_text(self):
        done = refrain("simulate", HEAT, "--machine", self.machine(machine_text()))
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
        lines = done.stdout.decode().splitlines()
        self.assertRegex(lines[0], r"^predicted: [\d.]+ \w+ on made up$")
        self.assertEqual(sum(line.split()[:1] == [str(r)] for line in lines for r in range(4)), 4)

    def test_bad_machines(self):
        def refused(text, part):
            self.refused(USAGE, part, HEAT, "--machine", self.machine(text))
        slow = "[[node_kind]]\nfirst = 0\ncount = 100\nspeed = 1e-30\n"
        self.refused(UNSUPPORTED, "more than 60 years", HEAT, "--machine", self.machine(machine_text(more=slow)))
        refused(machine_text(more="[speed]\n"), "m.toml:11:2: unknown key 'speed'")
        refused(machine_text(latency="nan"), "m.toml:6:5: 'L' has to be")
        refused(machine_text(latency=-1), "m.toml:6:5: 'L' has to be")
        refused(machine_text(more='[topology]\nkind = "torus"\ndimensions = [3]\n'),
                "m.toml:11:1: the machine has places for 3 ranks, and the run has 4")
        refused("version = ", "m.toml:1:")
        self.refused(FAILED, "no.toml: cannot read", HEAT, "--machine", self.path("no.toml"))

    def test_what_is_refused(self):
        machine = self.machine(machine_text())
        self.refused(UNSUPPORTED, "--max-calls allows 400", HEAT,
                     "--machine", machine, "--max-calls", "400")
        self.refused(USAGE, "--contention", HEAT, "--machine", machine, "--contention", "some")
        out = self.path("no/such/folder.rfn")
        done = refrain("simulate", HEAT, "--machine", machine, "-o", out)
        self.assertEqual((done.returncode, done.stdout), (FAILED, b""), done.stderr)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--refrain", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
