#!/usr/bin/python3
"""refrain cluster on programs whose kinds of ranks are known, under SMPI; and every verb on what it writes.

    clusters.py --refrain build/release/refrain --programs DIR --libraries build/release/src/tracer
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import smpi  # noqa: E402

GOOD, USAGE, UNSUPPORTED = 0, 2, 5
RANKS = 20  # 5 x 4
SIZES_OF_NINE = [1, 1, 1, 1, 2, 2, 3, 3, 6]
options = None
folder = None
recorded = {}


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


def record(what, ranks=RANKS, timing="exact"):
    """A trace of the program; each is recorded once."""
    key = (what, ranks, timing)
    if key not in recorded:
        trace = os.path.join(folder, "%s-%d-%s.rfn" % key)
        wrapper = [options.refrain, "record", "--quiet", "--timing", timing, "-o", trace]
        environment = dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries)
        line = smpi.command_line(ranks, [os.path.join(options.programs, "kinds"), what], wrapper, folder)
        done = smpi.run(line, 100, environment)
        if done.status != 0 or not os.path.exists(trace):
            raise AssertionError("%s: exit status %d: %s" % (what, done.status, done.output[-400:]))
        recorded[key] = trace
    return recorded[key]


class Clusters(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-clusters-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def good(self, *words):
        done = refrain(*words)
        self.assertEqual(done.returncode, GOOD, "%s: %r" % (" ".join(words), done.stderr))
        return done.stdout.decode()

    def cluster(self, trace, *words, name="c.rfn"):
        said = self.good("cluster", trace, "-o", self.path(name), "--force", "--format", "json", *words)
        self.assertEqual(self.good("check", self.path(name)).count("broken"), 0)
        return json.loads(said)

    def refused(self, status, part, *words):
        done = refrain(*words)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, "%s: %r" % (" ".join(words), text))
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertIn(part, text)

    def dump(self, trace, rank):
        return [json.loads(line) for line in
                self.good("dump", "--format", "jsonl", "--rank", str(rank), trace).splitlines()]

    def sizes(self, said):
        return sorted(c["ranks"] for c in said["clusters"])

    def test_stencils_have_nine_kinds(self):
        for what in ("stencil", "null"):
            for words in ((), ("--steps", "2"), ("--distance", "euclidean"), ("--assign", "tree"), ("--k", "kinds"),
                          ("--method", "reference"), ("--method", "two-signature"), ("--method", "hierarchical")):
                said = self.cluster(record(what), *words)
                self.assertEqual(said["cluster_count"], 9, (what, words))
                self.assertEqual(self.sizes(said), SIZES_OF_NINE, (what, words))
                self.assertEqual(said["structures"], 9)
                self.assertTrue(said["replayable"])
                for kind in said["matching"].values():
                    self.assertEqual(kind["share"], 1)
        places = sorted(c["place"] for c in said["clusters"])
        self.assertEqual(places[3], "interior of 5 x 4")
        text = self.good("cluster", record("null"), "-o", self.path("text.rfn"))
        self.assertIn("place in 5 x 4", text)
        self.assertIn("  interior  ", text)
        self.assertIn("SRC 100.00 %", text)

    def test_master_and_workers_are_two(self):
        said = self.cluster(record("workers"), "--k", "kinds")
        self.assertEqual(self.sizes(said), [1, RANKS - 1])
        self.assertEqual(said["clusters"][0]["members"], ["<0 0>"])

    def test_tags_alone_make_clusters_of_one_structure(self):
        said = self.cluster(record("tags"), "--k", "2")
        self.assertEqual(said["structures"], 1)
        self.assertEqual(self.sizes(said), [RANKS // 2, RANKS // 2])
        self.assertIn("tag", said["features"])
        for c in said["clusters"]:
            self.assertEqual(c["radius"]["tag"], 0)
        self.assertEqual(sorted(c["members"] for c in said["clusters"]), [["<1 0 10 2>"], ["<1 1 10 2>"]])
        one = self.cluster(record("tags"), "--k", "1")
        self.assertGreater(one["clusters"][0]["radius"]["tag"], 900)

    def test_loops_of_other_length_are_other_structures(self):
        said = self.cluster(record("loops"), "--k", "1")
        self.assertEqual(said["raised_from"], 1)
        self.assertEqual(self.sizes(said), [RANKS // 2, RANKS // 2])
        mixed = self.cluster(record("loops"), "--k", "1", "--mix")
        self.assertEqual(self.sizes(mixed), [RANKS])
        self.assertFalse(mixed["replayable"])
        self.assertIn("10 ranks", mixed["why_not"])

    def test_members_keep_calls_and_show_times_of_leads(self):
        full = record("stencil")
        said = self.cluster(full)
        lead_of = {}
        for line in self.good("dump", "--format", "jsonl", self.path("c.rfn")).splitlines():
            call = json.loads(line)
            lead_of.setdefault(call["rank"], call.get("lead", call["rank"]))
        self.assertEqual(collections.Counter(lead_of.values()),
                         collections.Counter({c["lead"]: c["ranks"] for c in said["clusters"]}))
        for rank in (0, 6, 9, 19):
            mine, its = self.dump(full, rank), self.dump(self.path("c.rfn"), rank)
            of_lead = self.dump(full, lead_of[rank])
            self.assertEqual([(c["call"], c["args"]) for c in mine], [(c["call"], c["args"]) for c in its])
            self.assertEqual([(c["begin_ns"], c["end_ns"]) for c in its],
                             [(c["begin_ns"], c["end_ns"]) for c in of_lead])

    def test_sums_stay_exact_and_say_so(self):
        full = record("stencil")
        said = self.cluster(full)
        before = json.loads(self.good("profile", "--format", "json", full))
        after = json.loads(self.good("profile", "--format", "json", self.path("c.rfn")))
        self.assertEqual(before["functions"], after["functions"])
        self.assertEqual(before["ranks"], after["ranks"])
        self.assertNotIn("stood_for", before)
        self.assertAlmostEqual(after["stood_for"], (RANKS - 9) / RANKS)
        self.assertEqual(after["error"], {"calls": 0, "bytes": 0, "times": 0, "ranks": "radius"})
        self.assertEqual(sum(c["calls"] for c in said["clusters"]), before["all"]["count"])
        self.assertEqual(sum(c["bytes"] for c in said["clusters"]), before["all"]["bytes"])
        for cluster in said["clusters"]:
            self.assertEqual(cluster["in_mpi_ns"] > 0, True)
        pairs = [json.loads(self.good("matrix", "--format", "json", t)) for t in (full, self.path("c.rfn"))]
        self.assertEqual(pairs[0]["pairs"], pairs[1]["pairs"])
        self.assertEqual(pairs[1]["error"]["bytes"], 0)
        waits = json.loads(self.good("waits", "--format", "json", self.path("c.rfn")))
        self.assertEqual(waits["error"]["times"], "unknown")
        window = json.loads(self.good("profile", "--format", "json", "--from-ns", "1ms", self.path("c.rfn")))
        self.assertEqual(window["error"]["times"], "unknown")

    def test_every_verb_reads_it(self):
        full, c = record("stencil"), self.path("c.rfn")
        self.cluster(full)
        info = json.loads(self.good("info", "--format", "json", c))
        self.assertEqual(len(info["clusters"]["list"]), 9)
        self.assertEqual(info["clusters"]["stood_for_ranks"], RANKS - 9)
        self.assertEqual([loss["reason"] for loss in info["losses"]], ["stood_for"])
        self.assertIn("9 leads", self.good("info", c))
        self.assertIn("of rank", self.good("dump", "--rank", "9", c))
        self.assertIn("sums are exact", self.good("profile", c))
        self.assertIn("times those of leads", self.good("waits", c))
        self.assertIn("clusters", self.good("stats", c))
        self.assertIn("clusters", self.good("dump", "--bytes", c))
        self.good("iterations", c)
        self.good("report", c, "-o", self.path("c.html"))
        for form in ("perfetto", "csv", "ti"):
            self.good("convert", c, "--to", form, "-o", self.path("out-" + form))
        self.assertIn("another rank stands for", self.good("diff", full, c))

    def test_auto_takes_as_few_as_keep_the_error(self):
        full = record("stencil")
        loose, tight = self.cluster(full, "--k", "auto:0.5"), self.cluster(full, "--k", "auto:0.001")
        self.assertEqual(loose["cluster_count"], 9)
        self.assertGreater(tight["cluster_count"], loose["cluster_count"])
        for said, bound in ((loose, 0.5), (tight, 0.001)):
            self.assertLess(said["error"]["predicted"], bound)
            self.assertLessEqual(said["error"]["checked"], said["error"]["predicted"])
        again = self.cluster(full, "--k", "auto:0.5")
        self.assertEqual(loose, again)
        info = json.loads(self.good("info", "--format", "json", self.path("c.rfn")))
        self.assertLess(info["clusters"]["stood_for_ranks"], RANKS - 9 + 1)

    def test_the_papers_way(self):
        said = self.cluster(record("stencil"), "--paper", "--k", "9")
        self.assertEqual((said["endpoints"], said["assign"], said["mixed"]), ("lead", "tree", True))
        lead = self.cluster(record("stencil"), "--endpoints", "lead")
        self.assertTrue(lead["replayable"])
        for kind in lead["matching"].values():
            self.assertEqual(kind["share"], 1)
        few = self.cluster(record("stencil"), "--paper", "--k", "3")
        self.assertFalse(few["replayable"])
        self.assertLess(few["matching"]["DEST"]["share"], 1)

    def test_without_times_of_calls_and_with_bins_and_segments(self):
        for timing in ("stats", "bins:0.1", "segments:avgWave"):
            said = self.cluster(record("stencil", timing=timing))
            self.assertEqual(self.sizes(said), SIZES_OF_NINE)
            self.good("dump", "--rank", "9", self.path("c.rfn"))
            self.good("report", self.path("c.rfn"), "-o", self.path("%s.html" % timing.split(":")[0]))

    def test_bad_input_is_one_line(self):
        full, out = record("stencil"), self.path("out.rfn")
        for k in ("0", "21", "-1", "x", "auto:0", "auto:1", "auto:", "auto:nan", "kinds:3", "1.5"):
            self.refused(USAGE, "K is" if k == "21" else "--k", "cluster", full, "-o", out, "--k=" + k)
            self.assertFalse(os.path.exists(out))
        self.refused(USAGE, "--method", "cluster", full, "-o", out, "--method", "guess")
        self.cluster(full)
        self.refused(USAGE, "already", "cluster", self.path("c.rfn"), "-o", out)
        self.refused(USAGE, "--force", "cluster", full, "-o", self.path("c.rfn"))
        self.assertFalse(os.path.exists(out))
        self.refused(1, "No such", "cluster", self.path("nothing.rfn"), "-o", out)

    def test_an_old_reader_says_newer_format(self):
        self.cluster(record("stencil"))
        with open(self.path("c.rfn"), "rb") as file:
            data = bytearray(file.read())
        self.assertEqual(data[10] & 4, 4)
        data[11] |= 0x40  # what this reader is to a file of a later version: a feature that it does not know
        with open(self.path("new.rfn"), "wb") as file:
            file.write(data)
        self.refused(UNSUPPORTED, "newer format", "info", self.path("new.rfn"))


def main():
    global options, folder
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--programs", "--libraries"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="refrain-kinds-") as folder:
        program = unittest.main(argv=[sys.argv[0]] + rest, exit=False)
    sys.exit(0 if program.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
