#!/usr/bin/python3
"""The Python package says what the command line says.

    python_test.py --refrain build/refrain --package build/python --traces tests/corpus
"""
import argparse
import ast
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
options = None
refrain = None


def command_line(*words):
    done = subprocess.run([options.refrain, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def as_dumped(value):
    """A value of Python as `dump` has it: bytes are the only ones that differ."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, list):
        return [as_dumped(v) for v in value]
    if isinstance(value, dict):
        return {k: as_dumped(v) for k, v in value.items()}
    return value


def first_trace():
    """Of a program whose ranks send messages to each other."""
    return sorted(glob.glob(os.path.join(options.traces, "heat-*.rfn")))[0]


class Package(unittest.TestCase):
    def each_trace(self):
        paths = sorted(glob.glob(os.path.join(options.traces, "*.rfn")))
        self.assertGreater(len(paths), 3)
        for path in paths:
            yield path, refrain.open(path)

    def test_calls_are_those_of_dump(self):
        for path, trace in self.each_trace():
            for rank in range(trace.ranks):
                dumped = [json.loads(l) for l in command_line("dump", "--rank", str(rank), "--format", "jsonl",
                                                              path)[1].splitlines()]
                mine = [call for thread in trace.threads(rank) for call in trace.calls(rank, thread)]
                self.assertEqual(len(mine), len(dumped))
                for call, line in zip(mine, dumped):
                    self.assertEqual((call.rank, call.thread, call.seq, call.name),
                                     (line["rank"], line["thread"], line["seq"], line["call"]))
                    self.assertEqual(as_dumped(call.args), line["args"], call)
                    if trace.has_times:
                        self.assertEqual((call.begin_ns, call.end_ns), (line["begin_ns"], line["end_ns"]))
                    else:
                        self.assertIsNone(call.begin_ns)

    def test_posix_calls_are_those_of_the_command_line(self):
        found = 0
        for path, trace in self.each_trace():
            status, text, _ = command_line("profile", "--posix", "--format", "json", path)
            if status != 0:
                with self.assertRaisesRegex(refrain.Error, "--posix on"):
                    trace.posix()
                continue
            found += 1
            posix = trace.posix()
            self.assertEqual(posix.data, json.loads(text))
            self.assertEqual(list(posix.functions["function"]), [f["function"] for f in posix.data["functions"]])
            self.assertEqual(int(sum(posix.ranks["calls"])), posix.data["calls"])
            self.assertEqual(len(posix.ranks), sum(f["ranks"] for f in posix.data["functions"]))
        self.assertGreater(found, 0)

    def test_answers_are_those_of_the_command_line(self):
        for path, trace in self.each_trace():
            profile = json.loads(command_line("profile", "--format", "json", path)[1])
            self.assertEqual(trace.profile().data, profile)
            self.assertEqual(list(trace.profile().functions["call"]), [f["call"] for f in profile["functions"]])
            info = json.loads(command_line("info", "--format", "json", path)[1])
            self.assertEqual(trace.info, info)
            pairs = json.loads(command_line("matrix", "--format", "json", path)[1])["pairs"]
            dense = trace.matrix()
            self.assertEqual(dense["bytes"].shape, (trace.ranks, trace.ranks))
            self.assertEqual(int(dense["bytes"].sum()), sum(p["bytes"] for p in pairs))
            for p in pairs:
                self.assertEqual(dense["messages"][p["source"], p["dest"]], p["messages"])
            self.assertEqual(len(trace.matrix(dense=False)), len(pairs))
            status, text, _ = command_line("waits", "--format", "json", path)
            if trace.has_times:
                self.assertEqual(trace.waits().data, json.loads(text))
                total = sum(p["own_seconds"] for p in trace.waits().data["patterns"])
                self.assertAlmostEqual(total, trace.waits().data["patterns"][0]["seconds"], places=6)
            else:
                self.assertNotEqual(status, 0)

    def test_clusters_are_those_of_info(self):
        clustered = 0
        for path, trace in self.each_trace():
            said = json.loads(command_line("info", "--format", "json", path)[1])
            self.assertEqual(trace.clusters, said.get("clusters", {}).get("list", []))
            leads = [c["lead"] for c in trace.clusters] or list(range(trace.ranks))
            self.assertEqual(sorted({trace.lead_of(r) for r in range(trace.ranks)}), leads)
            clustered += len(trace.clusters) > 0
        self.assertGreater(clustered, 0)

    def test_grammar_is_the_sequence(self):
        for _, trace in self.each_trace():
            for rank in range(trace.ranks):
                grammar = trace.grammar(rank)
                numbers = [call.signature.id for call in trace.calls(rank)]
                self.assertEqual(len(grammar), len(numbers))
                self.assertEqual(list(grammar.expand()), numbers)
                counted = {s.id: n for s, n in trace.signatures(rank)}
                self.assertEqual(counted, {i: numbers.count(i) for i in set(numbers)})

    def test_timeline_and_windows(self):
        seen = 0
        for _, trace in self.each_trace():
            if not trace.has_times:
                with self.assertRaisesRegex(refrain.Error, "no times of single calls"):
                    trace.timeline()
                continue
            seen += 1
            timeline = trace.timeline()
            self.assertEqual(len(timeline), trace.call_count)
            calls = [c for r in range(trace.ranks) for t in trace.threads(r) for c in trace.calls(r, t)]
            self.assertEqual([c.begin_ns for c in calls], timeline["begin_ns"].tolist())
            self.assertEqual([c.name for c in calls], [timeline.functions[i] for i in timeline["call"].tolist()])
            middle = int(timeline["end_ns"].max()) // 2
            late = trace.timeline(rank=1, from_ns=middle)
            mine = timeline["rank"] == 1
            self.assertEqual(len(late), int((timeline["end_ns"][mine] >= middle).sum()))
            window = list(trace.calls(1, from_ns=middle, to_ns=middle + middle // 4))
            self.assertTrue(all(c.end_ns >= middle and c.begin_ns <= middle + middle // 4 for c in window))
        self.assertGreater(seen, 1)

    def test_what_a_call_moves_adds_up_to_the_profile(self):
        for path, trace in self.each_trace():
            calls = [c for r in range(trace.ranks) for t in trace.threads(r) for c in trace.calls(r, t)]
            for row in json.loads(command_line("profile", "--format", "json", path)[1])["functions"]:
                mine = [c for c in calls if c.name == row["call"]]
                self.assertEqual(sum(c.bytes or 0 for c in mine if not c.failed), row["bytes"], row["call"])
            pairs = {}
            for call in calls:
                if call.name in ("MPI_Send", "MPI_Isend", "MPI_Ssend") and call.peer is not None:
                    pairs[call.rank, call.peer] = pairs.get((call.rank, call.peer), 0) + call.bytes
                if call.name == "MPI_Irecv" and isinstance(call.args["source"], int):
                    self.assertEqual(call.peer, call.args["source"])  # all in MPI_COMM_WORLD
            matrix = trace.matrix()["bytes"]
            self.assertEqual({k: v for k, v in pairs.items() if v > 0},
                             {(i, j): int(matrix[i, j]) for i, j in numpy.argwhere(matrix).tolist()})

    def test_call_paths_are_those_of_dump(self):
        path = sorted(glob.glob(os.path.join(options.traces, "*.rfn")))[-1]
        lines = [json.loads(l) for l in command_line("dump", "--rank", "0", "--call-paths", "--format", "jsonl",
                                                     path)[1].splitlines()]
        for call, line in zip(refrain.open(path).calls(0), lines):
            self.assertEqual(call.call_path, [(s["in_function"], s["site"]) for s in line["call_path"]])

    def test_calls_of_all_ranks_in_time(self):
        for path, trace in self.each_trace():
            if not trace.has_times:
                with self.assertRaisesRegex(refrain.Error, "no times"):
                    trace.calls_in_time()
                self.assertIsNone(next(trace.calls(0)).duration_ns)
                continue
            calls = list(trace.calls_in_time())
            self.assertEqual(len(calls), trace.call_count)
            self.assertEqual([c.end_ns for c in calls], sorted(c.end_ns for c in calls))
            self.assertEqual(calls[0].duration_ns, calls[0].end_ns - calls[0].begin_ns)

    def test_single_waits_are_those_of_explain(self):
        for path, trace in self.each_trace():
            if not trace.has_times:
                continue
            text = command_line("waits", "--explain", "all", "--top", "7", "--format", "json", path)[1]
            theirs = json.loads(text).get("explained", [])  # not there where nobody waits
            mine = trace.wait_list("all", most=7)
            self.assertEqual([(r["rank"], r["seq"], r["seconds"]) for r in mine],
                             [(r["rank"], r["seq"], r["seconds"]) for r in theirs])
            with self.assertRaisesRegex(refrain.Error, "no pattern 'nonsense'"):
                trace.wait_list("nonsense")

    def test_call_paths_of_waits_begin_outside(self):
        trace = refrain.open(os.path.join(options.traces, "heat-1.2-exact.rfn"))
        calls = {c.seq: c for c in trace.calls(0)}
        for row in trace.wait_list(rank=0, most=20):
            self.assertEqual(row["path"], " > ".join(site for _, site in calls[row["seq"]].call_path))
        severities = trace.waits().severities
        self.assertLessEqual(set(trace.wait_list()["path"]), set(severities["path"]))

    def test_wrong_arguments_are_named(self):
        trace = refrain.open(os.path.join(options.traces, "heat-1.2-exact.rfn"))
        for rank in (-1, -5, trace.ranks, 1 << 70):
            for ask in (trace.calls, trace.threads, trace.signatures, trace.grammar, trace.timeline, trace.lead_of,
                        lambda rank: trace.wait_list(rank=rank)):
                with self.assertRaisesRegex(refrain.Error, "there is no rank"):
                    ask(rank)
        late_first = {"from_ns": 20, "to_ns": 10}
        for ask in (lambda **w: trace.calls(0, **w), trace.calls_in_time, trace.profile, trace.matrix, trace.waits,
                    trace.wait_list, trace.timeline):
            with self.assertRaisesRegex(refrain.Error, "from_ns is later than to_ns"):
                list(ask(**late_first))
            with self.assertRaisesRegex(refrain.Error, "from_ns is a number from 0 on, not -5"):
                list(ask(from_ns=-5))
            with self.assertRaisesRegex(TypeError, "to_ns is a whole number, not 1.5"):
                list(ask(to_ns=1.5))
        self.assertEqual(len(trace.timeline(to_ns=1 << 70)), trace.call_count)
        with self.assertRaisesRegex(TypeError, "two Traces, not str"):
            refrain.diff(trace, "run.rfn")
        with self.assertRaisesRegex(refrain.Error, "of kind p2p, rma or all"):
            trace.matrix([])

    def test_first_and_a_time_hold_both(self):
        trace = refrain.open(os.path.join(options.traces, "heat-1.2-exact.rfn"))
        calls = list(trace.calls(1))
        first, from_ns = len(calls) // 2, calls[len(calls) // 3].end_ns
        found = [c.seq for c in trace.calls(1, first=first, last=first + 10, from_ns=from_ns)]
        self.assertEqual(found, list(range(first, first + 10)))
        self.assertEqual(list(trace.calls(1, first=5, from_ns=max(c.end_ns for c in calls) + 1)), [])

    def test_names_of_files_are_any_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in (b"caf\xc3\xa9.rfn", b"caf\xe9.rfn"):
                path = os.path.join(os.fsencode(folder), name)
                shutil.copy(os.path.join(options.traces, "heat-1.2-exact.rfn"), path)
                for form in (path, os.fsdecode(path)):
                    trace = refrain.open(form)
                    self.assertEqual(trace.path, os.fsdecode(path))
                    self.assertIn("calls of", repr(trace))
                    with self.assertRaisesRegex(refrain.Error, "there is no rank"):
                        trace.calls(99)
                os.truncate(path, 100)
                with self.assertRaises(refrain.Error):
                    refrain.open(path)
            with self.assertRaises(ValueError):
                refrain.open(os.path.join(folder, "a\0b"))

    def test_the_types_that_are_told_are_those_there(self):
        with open(os.path.join(options.package, "refrain", "__init__.pyi"), encoding="utf-8") as file:
            told = {node.name: node for node in ast.parse(file.read()).body if hasattr(node, "name")}
        self.assertLessEqual(set(refrain.__all__) - {"Table"}, set(told))
        for name in refrain.__all__:
            if not isinstance(told.get(name), ast.ClassDef):
                continue
            members = {getattr(m, "name", None) or m.target.id for m in told[name].body if not isinstance(m, ast.Expr)}
            self.assertLessEqual({m for m in vars(getattr(refrain, name)) if not m.startswith("_")}, members, name)

    def test_diff_is_that_of_the_command_line(self):
        paths = [os.path.join(options.traces, name) for name in ("heat-1.2.rfn", "heat-1.2-exact.rfn")]
        theirs = json.loads(command_line("diff", *paths, "--format", "json")[1])
        mine = refrain.diff(refrain.open(paths[0]), refrain.open(paths[1]))
        self.assertEqual(mine.data, theirs)
        self.assertEqual(len(mine.calls), len(theirs["calls"]))

    def test_tables_for_notebooks(self):
        table = refrain.Table.from_rows([{"name": "<b>", "n": i} for i in range(60)])
        self.assertEqual(list(table.head(3)["n"]), [0, 1, 2])
        self.assertEqual(len(table.head()), 5)
        self.assertEqual(len(table.head(100)), 60)
        text = table._repr_html_()
        self.assertIn("<td>&lt;b&gt;</td>", text)
        self.assertIn("50 of 60 rows", text)
        self.assertEqual(text.count("<tr>"), 51)

    def test_examples_with_pandas_and_matplotlib(self):
        for module in ("pandas", "matplotlib"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(module + " is not there")
        with tempfile.TemporaryDirectory() as folder:
            picture = os.path.join(folder, "picture.png")
            done = subprocess.run([sys.executable, os.path.join(ROOT, "examples/python/plot.py"),
                                   os.path.join(options.traces, "heat-1.2-exact.rfn"), picture],
                                  env={**os.environ, "PYTHONPATH": options.package, "MPLBACKEND": "Agg"}, timeout=120)
            self.assertEqual(done.returncode, 0)
            self.assertGreater(os.path.getsize(picture), 1000)

    def test_example_of_the_documents(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("pandas is not there")
        with open(os.path.join(ROOT, "docs", "api.md"), encoding="utf-8") as file:
            example = file.read().split("```python\n")[1].split("```")[0]
        self.assertIn("to_pandas()", example)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("run.rfn", "good.rfn"):
                shutil.copy(os.path.join(options.traces, "heat-1.2-exact.rfn"), os.path.join(folder, name))
            done = subprocess.run([sys.executable, "-c", example], cwd=folder, capture_output=True, timeout=120,
                                  env={**os.environ, "PYTHONPATH": options.package}, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        self.assertIn(b"MPI_PROC_NULL 48 heat", done.stdout)

    def test_calls_outlive_their_trace(self):
        path = first_trace()
        kept = list(refrain.open(path).calls(0))
        signature = kept[3].signature
        self.assertIs(signature, next(c for c in kept if c.signature.id == signature.id).signature)
        self.assertIn(kept[3].name, repr(kept[3]) + repr(signature))
        self.assertEqual([c.seq for c in refrain.open(path).calls(0, first=2, last=5)], [2, 3, 4])

    def test_errors_have_the_words_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("nothing.rfn", None), ("empty.rfn", b""), ("text.rfn", b"hello" * 100)):
                path = os.path.join(folder, name)
                if content is not None:
                    with open(path, "wb") as file:
                        file.write(content)
                with self.assertRaises(refrain.Error) as caught:
                    refrain.open(path)
                self.assertEqual("refrain: %s\n" % caught.exception, command_line("info", path)[2])
        trace = refrain.open(first_trace())
        for ask in (lambda: trace.calls(99), lambda: trace.calls(-1), lambda: trace.calls(0, thread=7),
                    lambda: trace.grammar(0, 7), lambda: trace.matrix("no")):
            with self.assertRaises(refrain.Error):
                ask()

    def test_tables_have_all_rows(self):
        for path in sorted(glob.glob(os.path.join(options.traces, "*.rfn"))):
            profile = refrain.open(path).profile()
            for table in (profile.functions, profile.sites, profile.groups):
                self.assertEqual(int(table["count"].sum()), profile.data["all"]["count"])
                self.assertAlmostEqual(int(table["time_ns"].sum()), profile.data["all"]["time_ns"], delta=len(table))

    def test_windows(self):
        for path in sorted(glob.glob(os.path.join(options.traces, "*.rfn"))):
            trace = refrain.open(path)
            if not trace.has_times:
                for ask in (trace.profile, trace.matrix, trace.waits):
                    with self.assertRaisesRegex(refrain.Error, "no times of single calls"):
                        ask(from_ns=1)
                continue
            middle = int(trace.timeline()["end_ns"].max()) // 2
            windows = ({"to_ns": middle}, {"from_ns": middle})
            parts = [trace.profile(**w) for w in windows]
            self.assertEqual(sum(p.data["all"]["count"] for p in parts), trace.call_count)
            self.assertEqual(sum(trace.matrix(**w)["messages"].sum() for w in windows),
                             trace.matrix()["messages"].sum())
            waiting = [sum(trace.waits(**w).ranks["waiting_seconds"]) for w in windows]
            self.assertAlmostEqual(sum(waiting), sum(trace.waits().ranks["waiting_seconds"]), delta=1e-6)

    def test_iterations(self):
        for path in sorted(glob.glob(os.path.join(options.traces, "*.rfn"))):
            trace = refrain.open(path)
            if not trace.has_times:
                with self.assertRaisesRegex(refrain.Error, "no times of single calls"):
                    trace.iterations()
                continue
            found = trace.iterations(behaviours=True)
            said = json.loads(command_line("iterations", "--behaviours", "--format", "json", path)[1])
            self.assertEqual(found.data, said)
            self.assertEqual(len(found.rows), sum(loop["iterations"] for loop in said["loops"]))
            self.assertEqual(len(found.behaviours), len(said["behaviours"]["rows"]))
            with self.assertRaises(refrain.Error):
                trace.iterations(segments="no")

    def test_a_matrix_of_very_many_ranks_is_refused(self):
        trace = refrain.open(first_trace())
        with unittest.mock.patch.object(refrain, "_MOST_DENSE", trace.ranks - 1):
            with self.assertRaisesRegex(refrain.Error, "dense=False"):
                trace.matrix()
            self.assertGreater(len(trace.matrix(dense=False)), 0)

    def test_tables(self):
        table = refrain.open(first_trace()).profile().functions
        self.assertEqual(table[0]["call"], table["call"][0])
        self.assertEqual(len(table[:2]), 2)
        self.assertEqual(len(list(table)), len(table))
        self.assertIn("MPI_", repr(table))
        with self.assertRaises(IndexError):
            table[len(table)]
        if importlib.util.find_spec("pandas"):
            frame = table.to_pandas()
            self.assertEqual(list(frame["count"]), table["count"].tolist())

    def test_example(self):
        path = os.path.join(options.traces, "heat-1.2-exact.rfn")
        done = subprocess.run([sys.executable, os.path.join(ROOT, "examples/python/explore.py"), path],
                              env={**os.environ, "PYTHONPATH": options.package}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for word in (b"MPI_Waitall", b"partners of a rank: ", b"R0 -> ", b"parallel efficiency"):
            self.assertIn(word, done.stdout)


class Install(unittest.TestCase):
    def test_pip_installs_without_a_network(self):
        if not options.install:
            self.skipTest("not asked for")
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "source")
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build", ".git", "*.rfn"))
            shutil.copytree(os.path.join(ROOT, "python/build"), os.path.join(copy, "python/build"))
            target = os.path.join(folder, "site")
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet",
                                   "--target", target, copy],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900,
                                  env={**os.environ, "REFRAIN_BUILD": options.install,
                                       "PIP_ROOT_USER_ACTION": "ignore",
                                       "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
            self.assertEqual(done.returncode, 0, done.stdout.decode()[-2000:])
            path = os.path.join(options.traces, "heat-1.2-exact.rfn")
            said = subprocess.run([sys.executable, "-c", "import refrain; print(refrain.__file__, refrain.open(%r))"
                                   % path], env={**os.environ, "PYTHONPATH": target}, stdout=subprocess.PIPE,
                                  check=True, timeout=60, cwd="/")
            self.assertIn("500 calls of 4 ranks", said.stdout.decode())
            self.assertIn(target, said.stdout.decode())


def main():
    global options, refrain
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--package", required=True, help="folder that holds refrain/")
    parser.add_argument("--traces", required=True)
    parser.add_argument("--install", metavar="BUILD", help="pip install ., too, with the module of this build folder")
    options, rest = parser.parse_known_args()
    for name in ("refrain", "package", "traces"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    if importlib.util.find_spec("numpy") is None:
        print("skip  numpy is not installed")
        return 77
    sys.path.insert(0, options.package)
    import refrain as package
    refrain = package
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
