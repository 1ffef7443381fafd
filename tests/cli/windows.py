#!/usr/bin/python3
"""--from-ns and --to-ns of profile, matrix and waits.

    windows.py --refrain build/refrain --corpus tests/corpus

Laws: windows that divide the run add up to the run; a window that holds the whole run changes nothing. Reference: the
calls that `dump` prints, cut by hand.
"""
import argparse
import json
import os
import random
import subprocess
import unittest

GOOD, USAGE, UNSUPPORTED = 0, 2, 5
TIMED = ("heat-1.2-exact", "heat-1.2-bins", "heat-1.2-segments")
# The statistics of a trace are of the times before they were rounded, put on one clock or reduced.
OF_STATISTICS = {"heat-1.2-exact": 0.001, "heat-1.2-bins": 0.05, "heat-1.2-segments": 0.05}
options = None


def refrain(*words, status=GOOD):
    done = subprocess.run([options.refrain, *map(str, words)], capture_output=True, timeout=120, check=False)
    assert done.returncode == status, "%s: %d, %s" % (" ".join(map(str, words)), done.returncode, done.stderr.decode())
    return done.stdout.decode() if status == GOOD else done.stderr.decode()


def ask(verb, trace, window=(None, None), *words):
    limits = []
    if window[0] is not None:
        limits += ["--from-ns", window[0]]
    if window[1] is not None:
        limits += ["--to-ns", window[1]]
    return json.loads(refrain(verb, trace, "--format", "json", *limits, *words))


def path_of(name):
    return os.path.join(options.corpus, name + ".rfn")


class Windows(unittest.TestCase):
    def traces(self):
        for name in TIMED:
            calls = [json.loads(line) for line in refrain("dump", "--format", "jsonl", path_of(name)).splitlines()]
            yield name, path_of(name), calls, max(c["end_ns"] for c in calls)

    def tilings(self, end):
        dice = random.Random(7)
        for parts in (2, 5):
            cuts = sorted(dice.randrange(1, end) for _ in range(parts - 1))
            yield list(zip([0] + cuts, cuts + [None]))

    def test_a_profile_is_what_the_calls_say(self):
        for _, trace, calls, end in self.traces():
            for low, high in ((0, end // 3), (end // 3, end // 2), (end // 2, end + 1), (end - 10, end + 1)):
                expected = {}
                for c in calls:
                    part = max(0, min(c["end_ns"], high) - max(c["begin_ns"], low))
                    begins = low <= c["begin_ns"] < high
                    if part or begins:
                        row = expected.setdefault(c["call"], [0, 0, 0])
                        row[0] += begins
                        row[1] += 1
                        row[2] += part
                found = ask("profile", trace, (low, high))
                rows = {r["call"]: [r["count"], r["parts"], r["time_ns"]] for r in found["functions"]}
                self.assertEqual(rows, expected)
                self.assertEqual(found["window"], {"from_ns": low, "to_ns": high})
                self.assertEqual(sum(r["in_mpi_ns"] for r in found["ranks"]), sum(v[2] for v in expected.values()))
                for r in found["ranks"]:
                    mine = [c for c in calls if c["rank"] == r["rank"]]
                    first, last = min(c["begin_ns"] for c in mine), max(c["end_ns"] for c in mine)
                    whole = max(0, min(last, high) - max(first, low))
                    self.assertEqual(r["in_mpi_ns"] + r["outside_ns"], whole)

    def test_profiles_of_windows_add_up(self):
        for name, trace, calls, end in self.traces():
            whole = ask("profile", trace)
            for tiling in self.tilings(end):
                parts = [ask("profile", trace, window) for window in tiling]
                for key in ("count", "bytes", "messages", "failed"):
                    self.assertEqual(sum(p["all"][key] for p in parts), whole["all"][key], key)
                sites = {(r["site"], r["call"]): r["count"] for r in whole["sites"]}
                for p in parts:
                    for r in p["sites"]:
                        sites[r["site"], r["call"]] -= r["count"]
                self.assertEqual(set(sites.values()), {0})
                time = sum(p["all"]["time_ns"] for p in parts)
                self.assertEqual(time, sum(c["end_ns"] - c["begin_ns"] for c in calls))
                self.assertAlmostEqual(time / whole["all"]["time_ns"], 1, delta=OF_STATISTICS[name])

    def test_matrices_of_windows_add_up(self):
        for _, trace, _, end in self.traces():
            whole = {(p["source"], p["dest"]): [p["messages"], p["bytes"]] for p in ask("matrix", trace)["pairs"]}
            for tiling in self.tilings(end):
                sums = {}
                for window in tiling:
                    for p in ask("matrix", trace, window)["pairs"]:
                        cell = sums.setdefault((p["source"], p["dest"]), [0, 0])
                        cell[0] += p["messages"]
                        cell[1] += p["bytes"]
                self.assertEqual(sums, whole)

    def waits_of(self, answer):
        """What adds up, by name."""
        out = {"critical": answer["critical_path"]["seconds"], "runtime": answer["efficiency"]["runtime_seconds"],
               "ideal": answer["efficiency"]["ideal_runtime_seconds"], "waits": answer["counts"]["waits"],
               "calls": answer["counts"]["calls"], "useful": answer["efficiency"]["useful_mean_seconds"]}
        for p in answer["patterns"]:
            out[p["pattern"]] = p["seconds"]
            out[p["pattern"], "count"] = p["count"]
        for r in answer["ranks"]:
            for key in ("seconds", "useful_seconds", "waiting_seconds"):
                out[r["rank"], key] = r[key]
        out["delays"] = sum(d["seconds"] for d in answer["delays"])
        for d in answer["delays"]:
            key = ("delay", d["pattern"], d["rank"], json.dumps(d["from"]), json.dumps(d["to"]), d["kind"])
            out[key] = d["seconds"]
        return out

    def test_waits_of_windows_add_up(self):
        for _, trace, _, end in self.traces():
            whole = self.waits_of(ask("waits", trace))
            self.assertGreater(whole["all"], 0)
            for tiling in self.tilings(end):
                sums = {}
                for window in tiling:
                    for key, value in self.waits_of(ask("waits", trace, window)).items():
                        sums[key] = sums.get(key, 0) + value
                for key in set(sums) | set(whole):
                    self.assertAlmostEqual(sums.get(key, 0), whole.get(key, 0), delta=1e-6, msg=str((trace, key)))

    def test_the_whole_run_is_a_window(self):
        for _, trace, _, end in self.traces():
            for verb in ("profile", "matrix", "waits"):
                whole = ask(verb, trace)
                for window in ((0, None), (None, end + 1), (0, end + 10 ** 12)):
                    found = ask(verb, trace, window)
                    for extra in ("window", "untimed", "untimed_calls"):
                        found.pop(extra, None)
                    tables = [found.get(k, []) for k in ("functions", "sites", "call_paths", "groups")]
                    for row in sum(tables, [found["all"]] if "all" in found else []):
                        row.pop("parts", None)
                    self.assertEqual(found, whole, (verb, window))

    def test_outside_of_the_run_is_nothing(self):
        for _, trace, _, end in self.traces():
            beyond = (end + 10, end + 20)
            self.assertEqual(ask("profile", trace, beyond)["all"]["count"], 0)
            self.assertEqual(ask("matrix", trace, beyond)["messages"], 0)
            found = self.waits_of(ask("waits", trace, beyond))
            self.assertEqual(set(found.values()), {0})
            for verb in ("profile", "matrix", "waits"):
                self.assertNotEqual(refrain(verb, trace, "--from-ns", beyond[0]), "")

    def test_the_text_names_the_window(self):
        trace = path_of(TIMED[0])
        for words in (("profile",), ("profile", "--by", "site"), ("matrix",), ("waits",)):
            said = refrain(*words, trace, "--from-ns", 300_000_000, "--to-ns", 400_000_000)
            self.assertIn("from 300 ms to 400 ms: times as far as they lie in it", said)

    def test_calls_from_a_number_and_a_time_on(self):
        trace = path_of(TIMED[0])
        lines = refrain("dump", trace, "--rank", 1, "--format", "jsonl").splitlines()
        calls = [json.loads(line) for line in lines]
        in_time = next(i for i, c in enumerate(calls) if c["end_ns"] >= calls[100]["end_ns"])
        for first in (0, in_time + 50):
            said = refrain("dump", trace, "--rank", 1, "--format", "jsonl", "--from", first,
                           "--from-ns", calls[100]["end_ns"])
            self.assertEqual(said.splitlines(), lines[max(first, in_time):])
        beyond = max(c["end_ns"] for c in calls) + 1
        self.assertEqual(refrain("dump", trace, "--rank", 1, "--from", 5, "--from-ns", beyond), "")

    def test_bad_windows(self):
        said = refrain("dump", path_of(TIMED[0]), "--from-ns", 20, "--to-ns", 10, status=USAGE)
        self.assertIn("--from-ns is later than --to-ns", said)
        for verb in ("profile", "matrix", "waits"):
            said = refrain(verb, path_of(TIMED[0]), "--from-ns", 20, "--to-ns", 10, status=USAGE)
            self.assertIn("window is empty", said)
            self.assertEqual(said.count("\n"), 1)
            said = refrain(verb, path_of("heat-1.2"), "--from-ns", 20, status=UNSUPPORTED)
            self.assertIn("--timing exact", said)
            self.assertEqual(said.count("\n"), 1)
            refrain(verb, path_of(TIMED[0]), "--from-ns", "-5", status=USAGE)
            refrain(verb, path_of(TIMED[0]), "--to-ns", "soon", status=USAGE)
        for words in (["dump"], ["convert", "--to", "csv", "-o", "no-such-folder"]):
            said = refrain(*words, path_of("heat-1.2"), "--from-ns", 20, status=UNSUPPORTED)
            self.assertIn("--timing exact", said)
            self.assertEqual(said.count("\n"), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--corpus", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=["windows.py"] + rest)
