#!/usr/bin/python3
"""refrain reduce and refrain evaluate: what they write and say, and what they refuse.

    reduce.py --refrain build/release/refrain --maker build/release/tests/trend_trace
"""
import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

GOOD, FAILED, USAGE, UNSUPPORTED = 0, 1, 2, 5
NINE = ["relDiff", "absDiff", "Manhattan", "Euclidean", "Chebyshev", "iter_k", "iter_avg", "avgWave", "haarWave"]
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-reduce-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def make(self, name, ranks=4, iterations=60, times="exact"):
        path = self.path("%s-%d-%d-%s.rfn" % (name, ranks, iterations, times.replace(":", "_")))
        subprocess.run([options.maker, name, str(ranks), str(iterations), path, times], check=True, timeout=60)
        return path

    def good(self, *words):
        done = refrain(*words)
        self.assertEqual(done.returncode, GOOD, "%s: %r" % (" ".join(words), done.stderr))
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode()

    def refused(self, status, part, *words):
        done = refrain(*words)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, "%s: %r" % (" ".join(words), text))
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertTrue(text.startswith("refrain: "), text)
        self.assertIn(part, text)
        self.assertEqual(done.stdout, b"")


class Reduce(Folder):
    def test_every_verb_works_on_the_result(self):
        full, out = self.make("imbalance_at_barrier"), self.path("out.rfn")
        said = json.loads(self.good("reduce", full, "-o", out, "--method", "avgWave:0.3", "--format", "json"))
        self.assertEqual(said["method"], "avgWave:0.3")
        self.assertEqual(said["bytes_before"], os.path.getsize(full))
        self.assertEqual(said["bytes_after"], os.path.getsize(out))
        self.assertLess(said["bytes_after"], said["bytes_before"])
        self.assertEqual(said["segments"], 4 * 62)
        self.assertLess(said["representatives"], 100)
        self.assertGreater(said["degree_of_matching"], 0.5)
        self.assertGreater(said["approximation_distance_ns"], 0)
        self.assertGreaterEqual(said["largest_distance_ns"], said["approximation_distance_ns"] / 1.04)
        self.assertLessEqual(said["largest_distance_ns"], said["error_ns"] + 1)
        for verb in (["info"], ["dump"], ["check"], ["stats"], ["profile"], ["matrix"], ["waits"],
                     ["dump", "--bytes"], ["dump", "--rank", "1", "--from-ns", "1000000", "--to-ns", "2000000"]):
            self.assertTrue(self.good(verb[0], out, *verb[1:]))
        info = json.loads(self.good("info", out, "--format", "json"))
        self.assertEqual(info["timing"], "segments:avgWave:0.3")
        self.assertEqual(info["segments"]["method"], "avgWave:0.3")
        self.assertEqual(info["segments"]["degree_of_matching"], said["degree_of_matching"])
        self.assertIn("avgWave:0.3", self.good("info", out))
        # The calls are the same, but for their times.
        def calls(path):
            lines = [json.loads(line) for line in self.good("dump", path, "--format", "jsonl").splitlines()]
            return [{k: v for k, v in line.items() if k not in ("begin_ns", "end_ns")} for line in lines]
        self.assertEqual(calls(full), calls(out))

    def test_nothing_forgiven_nothing_lost(self):
        full, out = self.make("late_sender"), self.path("out.rfn")
        said = json.loads(self.good("reduce", full, "-o", out, "--method", "absDiff:0ns", "--across-ranks", "off",
                                    "--format", "json"))
        self.assertEqual(said["largest_distance_ns"], 0)
        self.assertEqual(self.good("dump", full), self.good("dump", out))
        self.assertEqual(self.good("waits", full, "--format", "csv"), self.good("waits", out, "--format", "csv"))

    def test_defaults_and_text(self):
        full, out = self.make("late_broadcast"), self.path("out.rfn")
        text = self.good("reduce", full, "-o", out)
        self.assertIn("auto:0.1", text)
        self.assertIn("retained, after 1 threshold\n", text)
        self.assertIn("90 % of time stamps within", text)
        other = self.path("other.rfn")
        self.good("reduce", full, "-o", other, "--max-error", "0.1")
        with open(out, "rb") as a, open(other, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_a_larger_file_is_remarked(self):
        full, out, seen = self.make("interference"), self.path("out.rfn"), set()
        exact = ["--method", "absDiff:0ns", "--start-step", "1", "--across-ranks", "off"]
        for words in (["--max-error", "0.1"], exact):
            said = json.loads(self.good("reduce", full, "-o", out, *words, "--force", "--format", "json"))
            text = self.good("reduce", full, "-o", out, *words, "--force")
            is_larger = said["bytes_after"] >= said["bytes_before"]
            self.assertEqual("no smaller than the trace that it was made from" in text, is_larger, text)
            seen.add(is_larger)
        self.assertEqual(seen, {True, False})

    def test_auto_is_tightened_where_a_trend_would_be_lost(self):
        full, out = self.make("late_sender", ranks=8, iterations=400), self.path("out.rfn")
        said = json.loads(self.good("reduce", full, "-o", out, "--format", "json"))
        self.assertEqual(said["trends_lost"], "")
        self.assertGreater(said["thresholds_tried"], 1)
        self.assertLess(float(said["method"].split(":")[1]), 0.1)
        self.good("check", out)
        rows = [json.loads(self.good("evaluate", full, *words, "--format", "json"))["methods"][0]
                for words in (["--against", out], ["--method", "auto:0.1", "--scope", "combined"],
                              ["--method", "auto", "--scope", "combined"])]
        self.assertEqual([row["retained"] for row in rows], [True, False, True])
        self.assertEqual(rows[0]["bytes"], rows[2]["bytes"])
        self.assertEqual(rows[2]["method"], said["method"])
        fixed = json.loads(self.good("reduce", full, "-o", out, "--max-error", "0.1", "--force", "--format", "json"))
        self.assertNotIn("thresholds_tried", fixed)
        self.assertEqual(fixed["method"], "auto:0.1")

    def test_starts_to_a_step(self):
        full, sizes = self.make("interference"), []
        for step in ("1", "100", "1000"):
            out = self.path(step + ".rfn")
            said = json.loads(self.good("reduce", full, "-o", out, "--method", "avgWave", "--start-step", step,
                                        "--format", "json"))
            self.assertEqual(said["start_step_ns"], int(step))
            self.assertLessEqual(said["largest_distance_ns"], said["error_ns"] + 1)
            self.good("check", out)
            sizes.append(said["bytes_after"])
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertLess(sizes[2], 0.8 * sizes[0])

    def test_marks(self):
        out = self.path("out.rfn")
        said = json.loads(self.good("reduce", self.make("marked"), "-o", out, "--segments", "marks", "--format",
                                    "json"))
        self.assertEqual(said["contexts"], ["main_0", "step"])
        self.assertEqual(said["segments"], 4 * 61)
        self.assertEqual(said["marks"]["crossed"], 0)
        crossed = self.path("crossed.rfn")
        full = self.make("crossed_marks")
        said = json.loads(self.good("reduce", full, "-o", crossed, "--segments", "marks", "--format", "json"))
        self.assertEqual(said["marks"]["crossed"], 4)
        self.assertEqual(said["marks"]["ends_without_begin"], 4)
        text = self.good("reduce", full, "-o", crossed, "--segments", "marks", "--force")
        self.assertIn("4 regions were ended by the end of a region around them", text)
        self.good("check", crossed)

    def test_ranks_share_representatives(self):
        full = self.make("imbalance_at_barrier", ranks=8)
        kept = {}
        for across in ("off", "groups", "segments"):
            out = self.path(across + ".rfn")
            said = json.loads(self.good("reduce", full, "-o", out, "--method", "Euclidean", "--across-ranks", across,
                                        "--format", "json"))
            self.assertEqual(said["across_ranks"], across)
            kept[across] = said["representatives"]
        self.assertLess(kept["groups"], kept["off"])
        self.assertLess(kept["segments"], kept["off"])

    def test_what_makes_no_sense(self):
        full, out = self.make("late_sender"), self.path("out.rfn")
        for words, part in ((["--method", "median"], "unknown method 'median'"),
                            (["--method", "avgWave:-1"], "makes no sense"),
                            (["--method", "iter_k:2.5"], "whole number"),
                            (["--method", "iter_avg:3"], "no threshold"),
                            (["--method", "relDiff:x"], "makes no sense"),
                            (["--max-error", "2"], "makes no sense"),
                            (["--max-error", "0.1", "--method", "avgWave"], "leave out --method"),
                            (["--segments", "functions"], "--segments"),
                            (["--across-ranks", "some"], "--across-ranks"),
                            (["--memory", "-1"], "--memory"),
                            (["--start-step", "2000000000"], "--start-step"),
                            (["--format", "csv"], "--format")):
            self.refused(USAGE, part, "reduce", full, "-o", out, *words)
        self.refused(USAGE, "--output", "reduce", full)
        self.assertFalse(os.path.exists(out))

    def test_input_without_times(self):
        out = self.path("out.rfn")
        without = self.make("late_sender", times="none")
        self.refused(UNSUPPORTED, "no times of single calls", "reduce", without, "-o", out)
        self.refused(FAILED, "gone.rfn", "reduce", self.path("gone.rfn"), "-o", out)
        self.assertFalse(os.path.exists(out))

    def test_output_that_is_there(self):
        full, out = self.make("late_sender"), self.path("out.rfn")
        self.good("reduce", full, "-o", out)
        with open(out, "rb") as f:
            before = f.read()
        self.refused(USAGE, "--force", "reduce", full, "-o", out, "--method", "iter_k:1")
        with open(out, "rb") as f:
            self.assertEqual(f.read(), before)
        self.good("reduce", full, "-o", out, "--method", "iter_k:1", "--force")
        self.refused(USAGE, "reduced already", "reduce", out, "-o", self.path("twice.rfn"))
        self.refused(FAILED, "no/such", "reduce", full, "-o", self.path("no/such/folder.rfn"))
        # Times with a bound can be reduced further; and a trace may be replaced by its own reduction.
        bins = self.make("late_sender", times="bins:0.02")
        self.good("reduce", bins, "-o", bins, "--force")
        self.good("check", bins)
        self.assertEqual([f for f in os.listdir(self.temporary.name) if not f.endswith(".rfn")], [])

    def test_damage_is_found(self):
        full, out = self.make("late_sender"), self.path("out.rfn")
        self.good("reduce", full, "-o", out)
        with open(out, "rb") as f:
            good = f.read()
        size = len(good)
        for at in range(size - 400, size, 7):
            bad = bytearray(good)
            bad[at] ^= 0x10
            with open(out, "wb") as f:
                f.write(bad)
            done = refrain("check", out)
            self.assertEqual(done.returncode, FAILED, at)
            self.assertIn(refrain("dump", out).returncode, (GOOD, FAILED), at)
            self.assertIn(refrain("waits", out).returncode, (GOOD, FAILED), at)


class Evaluate(Folder):
    def test_all_methods(self):
        full = self.make("imbalance_at_barrier", ranks=8)
        said = json.loads(self.good("evaluate", full, "--format", "json"))
        self.assertEqual(said["full_bytes"], os.path.getsize(full))
        rows = {(m["method"].split(":")[0], m["scope"]): m for m in said["methods"]}
        both = NINE + ["auto"]
        self.assertEqual(sorted(rows), sorted([(m, s) for m in both for s in ("intra", "combined")] +
                                              [(m, "inter") for m in both if not m.startswith("iter")]))
        for m in said["methods"]:
            self.assertAlmostEqual(m["percent"], 100 * m["bytes"] / said["full_bytes"])
            self.assertEqual(m["retained"], m["lost"] == "")
            self.assertEqual(m["negative"], 0)
            self.assertTrue(0 <= m["score"] <= 1)
            self.assertTrue(m["model_bytes"] > 0)
        auto = rows["auto", "combined"]
        self.assertTrue(auto["retained"], auto["lost"])
        self.assertEqual(auto["trends"][0]["pattern"], "wait_at_barrier")
        measures = [t["measure"] for t in auto["trends"]]
        self.assertEqual(sorted(set(measures)), ["computation", "mpi", "wait"])
        self.assertEqual(measures, sorted(measures, key=["wait", "mpi", "computation"].index))
        self.assertIn("computation before MPI_Barrier", [t["name"] for t in auto["trends"]])
        self.assertNotIn("ranks", auto["trends"][0])
        # What is measured is what `reduce` writes.
        out = self.path("out.rfn")
        self.good("reduce", full, "-o", out)
        self.assertEqual(os.path.getsize(out), auto["bytes"])
        against = json.loads(self.good("evaluate", full, "--against", out, "--format", "json"))["methods"]
        self.assertEqual(len(against), 1)
        for key in ("method", "scope", "bytes", "score", "retained", "approximation_distance_ns"):
            self.assertEqual(against[0][key], auto[key], key)

    def test_thresholds_are_those_that_were_used(self):
        full = self.make("imbalance_at_barrier")
        said = json.loads(self.good("evaluate", full, "--method", "avgWave", "--method", "absDiff:5:7", "--format",
                                    "json"))
        rows = [(m["scope"], m["method"], m["threshold"], m["threshold_across_ranks"]) for m in said["methods"]]
        self.assertEqual(rows, [("intra", "avgWave:0.2", 0.2, None), ("intra", "absDiff:5", 5, None),
                                ("inter", "avgWave:0.4", None, 0.4), ("inter", "absDiff:7", None, 7),
                                ("combined", "avgWave:0.2", 0.2, 0.4), ("combined", "absDiff:5:7", 5, 7)])

    def test_trends_by_rank(self):
        full = self.make("imbalance_at_barrier", ranks=4)
        said = json.loads(self.good("evaluate", full, "--method", "auto", "--scope", "intra", "--by-rank", "--format",
                                    "json"))
        for trend in said["methods"][0]["trends"]:
            for key in ("seconds", "rebuilt_seconds"):
                self.assertAlmostEqual(sum(r[key] for r in trend["ranks"]), trend[key], places=8)
        # Rank 2 works half as long again as the others, which wait for it.
        computation = next(t for t in said["methods"][0]["trends"] if t["name"] == "computation before MPI_Barrier")
        by_rank = {r["rank"]: r["seconds"] for r in computation["ranks"]}
        for rank in (0, 1, 3):
            self.assertAlmostEqual(by_rank[2] / by_rank[rank], 1.5, delta=0.05)

    def test_times_with_a_bound(self):
        full, bins = self.make("late_sender"), self.make("late_sender", times="bins:0.05")
        said = json.loads(self.good("evaluate", full, "--against", bins, full, "--format", "json"))["methods"]
        self.assertEqual([m["method"] for m in said], ["bins:0.05", "exact"])
        self.assertEqual(said[0]["bytes"], os.path.getsize(bins))
        self.assertGreater(said[0]["approximation_distance_ns"], 0)
        self.assertEqual(said[1]["approximation_distance_ns"], 0)
        self.assertEqual(said[1]["score"], 1)

    def test_text_and_csv(self):
        full = self.make("dynamic_load_balance", ranks=8, iterations=50)
        words = ["evaluate", full, "--method", "relDiff:1", "--method", "auto:0.05", "--scope", "intra"]
        text = self.good(*words)
        self.assertIn("intra\n", text)
        self.assertNotIn("combined\n", text)
        self.assertRegex(text, r"auto:0\.05 .* retained")
        self.assertNotRegex(text, r"relDiff:1 .* retained")
        rows = list(csv.DictReader(io.StringIO(self.good(*words, "--format", "csv"))))
        self.assertEqual([(r["method"], r["retained"]) for r in rows], [("relDiff:1", "0"), ("auto:0.05", "1")])
        # Nothing is a trend.
        none = list(csv.DictReader(io.StringIO(self.good(*words, "--least-share", "1", "--format", "csv"))))
        self.assertEqual([r["retained"] for r in none], ["1", "1"])
        # With any difference allowed everything is as it was.
        wide = list(csv.DictReader(io.StringIO(self.good(*words, "--tolerance", "1", "--format", "csv"))))
        self.assertGreaterEqual(sum(int(r["retained"]) for r in wide), 1)

    def test_what_is_refused(self):
        full, other = self.make("late_sender"), self.make("late_sender", iterations=61)
        out = self.path("out.rfn")
        self.good("reduce", full, "-o", out)
        self.refused(USAGE, "unknown method", "evaluate", full, "--method", "best")
        self.refused(USAGE, "not the same run", "evaluate", other, "--against", out)
        self.refused(USAGE, "reduced already", "evaluate", out)
        self.refused(USAGE, "leave out --method", "evaluate", full, "--against", out, "--method", "auto")
        self.refused(USAGE, "--scope", "evaluate", full, "--scope", "some")
        self.refused(USAGE, "--tolerance", "evaluate", full, "--tolerance", "7")
        without = self.make("late_sender", times="none")
        self.refused(UNSUPPORTED, "no times of single calls", "evaluate", without)
        self.refused(UNSUPPORTED, "no times of single calls", "evaluate", full, "--against", without)
        self.refused(USAGE, "no bound", "check", out, "--against", full)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--maker", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
