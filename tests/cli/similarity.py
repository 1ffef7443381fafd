#!/usr/bin/python3
"""refrain similarity: what it says and writes, and what it refuses.

    similarity.py --refrain build/release/refrain --maker build/release/tests/trend_trace
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

GOOD, FAILED, USAGE, UNSUPPORTED = 0, 1, 2, 5
RANKS = 8
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus")
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


class Similarity(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-similarity-")
        self.addCleanup(self.temporary.cleanup)
        # Rank 0 computes longer than all others, which compute alike.
        self.trace = self.make("late_sender")

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def make(self, name, ranks=RANKS, iterations=60, times="exact"):
        path = self.path("%s-%d-%d-%s.rfn" % (name, ranks, iterations, times))
        subprocess.run([options.maker, name, str(ranks), str(iterations), path, times], check=True, timeout=60)
        return path

    def good(self, *words):
        done = refrain("similarity", *words)
        self.assertEqual((done.returncode, done.stderr), (GOOD, b""), words)
        return done.stdout.decode()

    def data(self, *words):
        return json.loads(self.good(*words, "--format", "json"))

    def refused(self, status, part, *words):
        done = refrain("similarity", *words)
        text = done.stderr.decode()
        self.assertEqual((done.returncode, len(text.splitlines()), done.stdout), (status, 1, b""), text)
        self.assertIn(part, text)

    def test_every_rank_is_in_one_group(self):
        for words in ([], ["-k", "0"], ["-k", "1000"], ["--clusters", "3"], ["--by", "sequence"]):
            said = self.data(self.trace, *words)
            self.assertEqual(sorted(r for g in said["groups"] for r in g["ranks"]), list(range(RANKS)))
            for group in said["groups"]:
                self.assertIn(group["representative"], group["ranks"])
                self.assertIn(group["ranks"][0], said["sequences"][group["sequence"]]["ranks"])
                self.assertLessEqual(group["radius_ns"], group["distance_ns"])
                self.assertLess(group["distance_ns"], group["computation_ns"])

    def test_linkage_is_a_tree_and_its_cut(self):
        said = self.data(self.trace, "-k", "20")
        self.assertEqual(said["by"], "linkage")
        for number, sequence in enumerate(said["sequences"]):
            heights = [merge["height_ns"] for merge in sequence["merges"]]
            self.assertEqual(heights, sorted(heights))
            self.assertEqual(len(heights), len(sequence["ranks"]) - 1)
            groups = [g for g in said["groups"] if g["sequence"] == number]
            below = sum(height <= sequence["cut_ns"] for height in heights)
            self.assertEqual(len(groups), len(sequence["ranks"]) - below)
            mean = sequence["computation_ns"] / len(sequence["ranks"])
            self.assertAlmostEqual(sequence["cut_ns"], 0.2 * mean, delta=1)
            self.assertTrue(all(g["radius_ns"] <= sequence["cut_ns"] for g in groups))

    def test_the_same_trace_twice_changes_nothing(self):
        once, twice = self.data(self.trace), self.data(self.trace, self.trace)
        self.assertEqual(once["groups"], twice["groups"])

    def test_files(self):
        plan, picture = self.path("plan.json"), self.path("groups.svg")
        said = self.data(self.trace, "--plan", plan, "--svg", picture)
        with open(plan, encoding="utf-8") as file:
            written = json.load(file)
        self.assertEqual((written["plan"], written["ranks"]), (1, RANKS))
        self.assertEqual([(g["representative"], g["ranks"]) for g in written["groups"]],
                         [(g["representative"], g["ranks"]) for g in said["groups"]])
        root = xml.etree.ElementTree.parse(picture).getroot()
        curves = [e for e in root.iter() if e.tag.endswith("polyline")]
        self.assertEqual(len(curves), len(said["groups"]))
        self.refused(USAGE, "already exists", self.trace, "--plan", plan)
        self.good(self.trace, "--plan", plan, "--force")
        self.refused(FAILED, "the picture", self.trace, "--svg", self.path("no/such/folder.svg"))

    def test_vectors_are_what_was_compared(self):
        path, vectors = self.path("vectors.csv"), {}
        said = self.data(self.trace, "--vectors", path)
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                units = vectors.setdefault(int(row["rank"]), [])
                self.assertEqual(int(row["unit"]), len(units))
                units.append(int(row["ns"]))
        self.assertEqual(sorted(vectors), list(range(RANKS)))
        for sequence in said["sequences"]:
            self.assertTrue(all(len(vectors[rank]) == sequence["calls"] - 1 for rank in sequence["ranks"]))
            self.assertEqual(sum(sum(vectors[rank]) for rank in sequence["ranks"]), sequence["computation_ns"])
        self.refused(USAGE, "already exists", self.trace, "--vectors", path)

    def test_text_names_sequences_and_groups(self):
        text = self.good(self.trace)
        self.assertIn("%d ranks" % RANKS, text.splitlines()[0])
        self.assertIn("representative", text)

    def test_what_is_refused(self):
        self.refused(UNSUPPORTED, "no times of single calls", os.path.join(CORPUS, "heat-1.2.rfn"))
        self.refused(FAILED, "other calls", self.trace, self.make("late_sender", iterations=61))
        self.refused(FAILED, "ranks, not", self.trace, self.make("late_sender", ranks=4))
        self.refused(USAGE, "has 8 ranks", self.trace, "--clusters", "9")
        self.refused(USAGE, "--clusters", self.trace, "--clusters", "0")
        self.refused(USAGE, "--percent", self.trace, "-k", "-1")
        self.refused(USAGE, "--percent", self.trace, "-k", "nan")
        self.refused(USAGE, "do not go together", self.trace, "-k", "5", "--clusters", "2")
        self.refused(FAILED, "no-such.rfn", self.path("no-such.rfn"))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--maker", required=True, help="the program trend_trace")
    options, left = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + left, verbosity=1)


if __name__ == "__main__":
    main()
