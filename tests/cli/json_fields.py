#!/usr/bin/python3
"""docs/json.md and the pages of the verbs name every field of JSON output.

    json_fields.py --refrain build/refrain --corpus tests/corpus --docs docs

Needs no MPI. Asks every verb that needs none for JSON, of each trace of the corpus that it takes.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

# Names in them are of the run or of what is compared, not fields.
MAPS = {"may_differ", "radius", "matching", "buffered_bytes"}
MACHINE = "version = 1\nname = \"m\"\n[distance.switch]\neager_limit = 65536\n[[distance.switch.range]]\n" \
          "L = 1500\no_send = 300\no_recv = 350\ng = 100\nG = 0.12\n"
options = None


def fields(value, found):
    if isinstance(value, dict):
        for name, inner in value.items():
            found.add(name)
            if name not in MAPS:
                fields(inner, found)
    elif isinstance(value, list):
        for inner in value:
            fields(inner, found)


def named_in_documents():
    words = set()
    for page in glob.glob(os.path.join(options.docs, "*.md")):
        with open(page, encoding="utf-8") as f:
            text = re.sub(r"^```.*?^```", "", f.read(), flags=re.DOTALL | re.MULTILINE)
            for span in re.findall(r"`([^`]+)`", text):
                words.update(re.findall(r"\w+", span))
    return words


class JsonFields(unittest.TestCase):
    def test_every_field_is_in_the_documents(self):
        traces = sorted(glob.glob(os.path.join(options.corpus, "*.rfn")))
        self.assertGreater(len(traces), 8)
        newest = max(t for t in traces if t.endswith("-exact.rfn"))
        with tempfile.TemporaryDirectory(prefix="refrain-json-") as folder:
            machine = os.path.join(folder, "m.toml")
            with open(machine, "w") as f:
                f.write(MACHINE)
            out = os.path.join(folder, "out")
            commands = [[verb, trace] for verb in ("info", "stats", "check", "profile", "matrix") for trace in traces]
            commands += [["waits", newest], ["waits", newest, "--explain", "all", "--top", "3"],
                         ["iterations", newest, "--behaviours"], ["similarity", newest],
                         ["diff", newest, newest], ["diff", newest, newest, "--fail-if", "bytes>5%"],
                         ["check", newest, "--replays", newest], ["profile", newest, "--to-ns", "1h"],
                         ["reduce", newest, "-o", out + ".rfn"], ["cluster", newest, "-o", out + "2.rfn"],
                         ["cluster", newest, "--k", "auto", "-o", out + "3.rfn"],
                         ["evaluate", newest, "--method", "avgWave", "--by-rank"],
                         ["convert", newest, "--to", "csv", "-o", out + ".csv"], ["proxy", newest, "-o", out],
                         ["replay", newest, "--dry-run"], ["simulate", newest, "--machine", machine],
                         ["predict", newest, "--machine", machine, "--draws", "2"]]
            found, known = {}, named_in_documents()
            for words in commands:
                done = subprocess.run([options.refrain, *words, "--format", "json"], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
                self.assertTrue(done.stdout, (words, done.stderr))
                names = set()
                fields(json.loads(done.stdout), names)
                for name in names - known:
                    found.setdefault(name, words[0])
        self.assertEqual(found, {}, "fields that docs/json.md lacks, and the verb that has them")

    def test_the_parts_of_the_report_are_in_the_documents(self):
        with open(os.path.join(options.docs, "json.md"), encoding="utf-8") as f:
            known = set(re.findall(r"`([\w.]+)(?:\[\])?`", f.read()))
        newest = max(glob.glob(os.path.join(options.corpus, "heat-*-exact.rfn")))
        with tempfile.TemporaryDirectory(prefix="refrain-json-") as folder:
            out = os.path.join(folder, "report.json")
            subprocess.run([options.refrain, "report", newest, "--format", "json", "-o", out], check=True,
                           stdout=subprocess.DEVNULL, timeout=120)
            with open(out, encoding="utf-8") as f:
                parts = json.load(f)
        self.assertEqual(set(parts) - known, set())
        self.assertEqual(set(parts["verdict"]) - known, set())
        columns = {name for name in known if name.startswith(("matrix.", "waits."))}
        self.assertEqual(columns - set(parts["columns"]), set())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--docs", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
