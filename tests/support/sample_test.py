#!/usr/bin/python3
"""The samples of the normal run: every program on every MPI, every way to run one somewhere; delays."""
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "delays")]
import delays  # noqa: E402
import sample  # noqa: E402

MPIS = (("mpich", "first"), ("openmpi", "other"))
MADE_UP = [{"name": "a", "group": "g", "ranks": [2, 5]}, {"name": "b", "group": "g", "ranks": [3]},
           {"name": "a", "group": "g", "ranks": [2, 4], "args": ["x"]}]


def real():
    with open(os.path.join(HERE, "..", "programs", "manifest.json"), encoding="utf-8") as file:
        return json.load(file)["programs"]


def run_by(entries, mpi):
    return [e for e in entries if mpi in e.get("mpi", [mpi])]


class Sample(unittest.TestCase):
    def test_a_made_up_one(self):
        a, b, x = MADE_UP
        self.assertEqual(sample.cases(MADE_UP, "first"), [(a, 2), (b, 3), (x, 2)])
        self.assertEqual(sample.cases(MADE_UP, "other"), [(a, 5), (b, 3)])
        self.assertEqual(sample.cases(MADE_UP, "other", rest=True), [(a, 2), (x, 2), (x, 4)])
        self.assertEqual(sample.cases(MADE_UP), [(a, 2), (a, 5), (b, 3), (x, 2), (x, 4)])

    def test_sample_and_rest_are_all(self):
        for mpi, part in MPIS:
            entries = run_by(real(), mpi)
            both = sample.cases(entries, part) + sample.cases(entries, part, rest=True)
            everything = sample.cases(entries)
            self.assertEqual(len(both), len(everything))
            self.assertTrue(all(case in everything for case in both))

    def test_every_program_runs_on_every_mpi(self):
        for mpi, part in MPIS:
            entries = run_by(real(), mpi)
            self.assertEqual({e["name"] for e, _ in sample.cases(entries, part)}, {e["name"] for e in entries})

    def test_every_way_to_run_one_is_there(self):
        taken = [e for mpi, part in MPIS for e, _ in sample.cases(run_by(real(), mpi), part)]
        for entry in real():
            if "openmpi" in entry.get("mpi", ["openmpi"]) or "mpich" in entry.get("mpi", ["mpich"]):
                self.assertTrue(entry in taken, entry)

    def test_several_numbers_of_ranks(self):
        taken = {}
        for mpi, part in MPIS:
            for entry, ranks in sample.cases(run_by(real(), mpi), part):
                taken.setdefault(entry["name"], set()).add(ranks)
        first = {e["name"]: e for e in reversed(real())}
        for entry in first.values():
            if "mpi" not in entry and len(entry["ranks"]) > 1:
                self.assertGreater(len(taken[entry["name"]]), 1, entry["name"])

    def test_every_pattern_of_delays_with_two_causes_and_every_cause(self):
        can = set(delays.PATTERNS) - set(delays.NOT_UNDER["smpi"])
        taken = [(p, c) for p in can for c in delays.CAUSES if p not in delays.WITHOUT.get(c, ()) and
                 delays.is_in_short("smpi", p, c)]
        self.assertEqual({c for _, c in taken}, set(delays.CAUSES))
        for pattern in can:
            self.assertEqual(sum(p == pattern for p, _ in taken), 2, pattern)


if __name__ == "__main__":
    unittest.main()
