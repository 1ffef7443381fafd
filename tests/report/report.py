#!/usr/bin/python3
"""refrain report without a browser: what is in the page, how large it is, and what is refused.

    report.py --refrain build/release/refrain --maker build/release/tests/report/report_trace --corpus tests/corpus
"""
import argparse
import json
import os
import re
import resource
import signal
import subprocess
import sys
import unittest

import common
from common import FAILED, GOOD, INCOMPLETE, USAGE, Folder, read_page, refrain

kMostBytes = 3_000_000


def needs_pages(test):
    def run(self):
        if not PAGES:
            self.skipTest("the build has no npm: pages cannot be made")
        test(self)
    run.__name__ = test.__name__
    return run


class Data(Folder):
    def test_says_what_the_other_verbs_say(self):
        trace = self.corpus("heat-1.2-exact.rfn")
        done = refrain("report", trace, "--format", "json")
        self.assertEqual(done.returncode, GOOD, done.stderr)
        page = json.loads(done.stdout)
        self.assertEqual(page["profile"], self.json_of("profile", trace))
        self.assertEqual(page["info"], self.json_of("info", trace))
        matrix, columns = self.json_of("matrix", trace), page["columns"]
        self.assertEqual(page["matrix"]["messages"], matrix["messages"])
        pairs = [dict(zip(("source", "dest", "messages", "bytes"), row)) for row in
                 zip(*(columns["matrix." + name] for name in ("source", "dest", "messages", "bytes")))]
        self.assertEqual([p for p in pairs if p["messages"] > 0], matrix["pairs"])
        self.same_waits(self.json_of("waits", trace), page)

    def same_waits(self, waits, page):
        names = [p["name"] for p in page["waits"]["patterns"]]
        columns = page["columns"]
        own = {}
        for pattern, ns in zip(columns["waits.pattern"], columns["waits.ns"]):
            own[names[pattern]] = own.get(names[pattern], 0) + ns
        expected = {p["pattern"]: round(p["own_seconds"] * 1e9) for p in waits["patterns"] if p["own_seconds"] > 0}
        self.assertEqual(own, expected)
        self.assertTrue(own)
        self.assertEqual(page["verdict"]["efficiency"]["parallel"], waits["efficiency"]["parallel"])
        ranks = [round(r["waiting_seconds"] * 1e9) for r in waits["ranks"]]
        self.assertEqual(columns["waits.rank_waiting"], ranks)

    def test_times_of_every_call_are_those_of_dump(self):
        trace = self.corpus("heat-1.2-exact.rfn")
        columns = json.loads(refrain("report", trace, "--format", "json").stdout)["columns"]
        lines = [json.loads(line) for line in refrain("dump", trace, "--format", "jsonl").stdout.splitlines()]
        dumped = [(line["seq"], line["begin_ns"], line["end_ns"] - line["begin_ns"]) for line in lines]
        self.assertEqual(list(zip(columns["anchor.seq"], columns["anchor.begin"], columns["anchor.length"])), dumped)

    def test_messages_from_anybody_have_their_ends(self):
        for how in ("exact", "none"):
            trace = self.make("workers", 5, 300, how)
            page = json.loads(refrain("report", trace, "--format", "json").stdout)
            self.assertEqual((page["messages"]["uncounted"], page["messages"]["listed"]), (300, 300))
            calls = [json.loads(line) for line in refrain("dump", trace, "--format", "jsonl").stdout.splitlines()]
            calls = {(c["rank"], c["seq"]): c for c in calls}
            columns, posted, sent, seen = page["columns"], {}, {}, set()
            names = ("to", "to_seq", "from", "from_seq", "done", "done_seq")
            for row in zip(*(columns["message." + name] for name in names)):
                posted[row[0]] = posted.get(row[0], 0) + row[1]
                sent[row[2]] = sent.get(row[2], 0) + row[3]
                seen.add((row[2], sent[row[2]]))
                self.assertEqual((row[0], row[4], row[5]), (0, 0, 1))
                self.assertEqual(calls[0, posted[0]]["call"], "MPI_Irecv")
                self.assertEqual(calls[0, posted[0] + 1]["args"]["status"], {"source": row[2], "tag": 5})
                self.assertEqual(calls[row[2], sent[row[2]]]["call"], "MPI_Send")
            self.assertEqual(len(seen), 300)
            self.assertEqual(columns["open.rank"] + columns["open.source"] + columns["open.tag"], [0, -1, 5])

    def test_more_messages_than_the_page_lists(self):
        trace = self.make("workers", 16, 70_000, "exact")
        page = json.loads(refrain("report", trace, "--format", "json").stdout)
        self.assertEqual(page["messages"]["uncounted"], 70_000)
        self.assertLessEqual(page["messages"]["listed"], 60_000)
        self.assertGreater(page["messages"]["listed"], 30_000)
        # Those that were waited for longest are there, and some of every part of the run.
        posted = [sum(page["columns"]["message.to_seq"][:i + 1]) for i in range(0, page["messages"]["listed"], 100)]
        self.assertLess(max(b - a for a, b in zip(posted, posted[1:])), 2 * 1000)

    def test_waiting_over_time_adds_up(self):
        page = json.loads(refrain("report", self.corpus("heat-1.2-exact.rfn"), "--format", "json").stdout)
        shares, timeline = page["columns"]["waits.share"], page["timeline"]
        self.assertEqual(len(shares), page["messages"]["wait_rows"] * page["messages"]["wait_columns"])
        width = (timeline["end_ns"] - timeline["begin_ns"]) / page["messages"]["wait_columns"]
        waiting = sum(page["columns"]["waits.rank_waiting"])
        self.assertLess(abs(sum(shares) / 255 * width - waiting), 0.03 * waiting)

    def test_density_adds_up(self):
        trace = self.make("halo", 4, 4, 50, "exact")
        page = json.loads(refrain("report", trace, "--format", "json").stdout)
        density, columns = page["density"], page["columns"]
        for i, name in enumerate(density["functions"]):
            row = next(r for r in page["profile"]["functions"] if r["call"] == name)
            part = slice(i * density["cells"], (i + 1) * density["cells"])
            self.assertEqual(sum(columns["density.calls"][part]), row["count"], name)
            self.assertEqual(sum(columns["density.bytes"][part]), row["bytes"], name)
            # The profile's times are those of statistics, which are stored with a small error.
            self.assertAlmostEqual(sum(columns["density.ns"][part]) / max(row["time_ns"], 1), 1, delta=0.02, msg=name)
        self.assertEqual(page["grid"]["dims"], [4, 4])
        self.assertEqual(columns["grid.rank"], list(range(16)))

    def test_without_times_it_says_so(self):
        page = json.loads(refrain("report", self.corpus("heat-1.2.rfn"), "--format", "json").stdout)
        self.assertFalse(page["timeline"]["has_times"])
        self.assertIsNone(page["waits"])
        self.assertIn("--timing exact", page["no_waits"])
        self.assertEqual(page["verdict"]["efficiency"]["source"], "totals")
        self.assertEqual(page["columns"]["anchor.seq"], [])


class Memory(Folder):
    def test_does_not_grow_with_ranks_times_signatures(self):
        # Each of 2000 workers is in a signature of the master's.
        trace = self.make("workers", 2000, 20_000, "exact")
        for words in (("waits", trace), ("report", trace, "--format", "json")):
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                child = subprocess.Popen([common.options.refrain, *words], stdout=nowhere)
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, GOOD)
            self.assertLess(used.ru_maxrss / 1000, 250, words)  # MB


class Page(Folder):
    @needs_pages
    def test_is_one_small_file(self):
        for words in (("halo", 8, 8, 200, "exact"), ("halo", 64, 64, 3, "exact"), ("halo", 64, 64, 100, "none")):
            size = os.path.getsize(self.page(self.make(*words)))
            self.assertLess(size, kMostBytes, words)

    @needs_pages
    def test_has_the_data_of_the_json(self):
        trace = self.corpus("heat-1.2-exact.rfn")
        page, columns = read_page(self.page(trace))
        data = json.loads(refrain("report", trace, "--format", "json").stdout)
        self.assertEqual(data.pop("columns"), columns)
        page.pop("columns")
        self.assertEqual(data, page)

    @needs_pages
    def test_names_are_only_text(self):
        out = self.page(self.make("hostile"), INCOMPLETE)
        with open(out, encoding="utf-8") as file:
            text = file.read()
        # Outside of the bundled program and the packed data nothing of the trace is left.
        outside = re.sub(r"<script>.*?</script>", "", text, count=1, flags=re.S)
        self.assertNotIn("onerror", outside)
        self.assertNotIn("<img", outside)
        self.assertEqual(len(re.findall(r"<script", text)), 2)
        page, _ = read_page(out)
        self.assertIn("<img src=x onerror=alert(1)>", page["info"]["command"])
        self.assertNotRegex(re.sub(r"<script.*?</script>", "", text, flags=re.S), r"https?:|url\(|@import|src=")

    @needs_pages
    def test_several_traces_make_a_folder(self):
        folder = self.path("all")
        traces = [self.corpus(n) for n in ("heat-1.2.rfn", "heat-1.2-exact.rfn")]
        other = self.path("heat-1.2.rfn")
        with open(other, "wb") as to, open(traces[1], "rb") as source:
            to.write(source.read())
        done = refrain("report", *traces, other, "-o", folder)
        self.assertEqual(done.returncode, GOOD, done.stderr)
        names = ["heat-1.2.html", "heat-1.2-exact.html", "heat-1.2-2.html"]
        self.assertEqual(sorted(os.listdir(folder)), sorted(names + ["index.html"]))
        index, _ = read_page(os.path.join(folder, "index.html"))
        self.assertEqual([t["file"] for t in index["traces"]], names)
        self.assertEqual(index["traces"][0]["calls"], self.json_of("info", traces[0])["calls"])
        self.refused(USAGE, "--force", "report", *traces, "-o", folder)

    @needs_pages
    def test_an_output_that_is_there(self):
        out = self.path("x.html")
        with open(out, "w", encoding="utf-8") as file:
            file.write("mine")
        trace = self.corpus("heat-1.2.rfn")
        self.refused(USAGE, "--force", "report", trace, "-o", out)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(refrain("report", trace, "-o", out, "--force").returncode, GOOD)
        self.refused(USAGE, "is a file", "report", trace, trace, "-o", out)

    @needs_pages
    def test_no_half_file(self):
        trace = self.corpus("heat-1.2.rfn")
        self.refused(FAILED, "no/such", "report", trace, "-o", self.path("no/such/x.html"))
        # A disk that fills while the page is written.
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        done = subprocess.run([common.options.refrain, "report", trace, "-o", self.path("full.html")], timeout=100,
                              preexec_fn=small, capture_output=True, check=False)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (FAILED, 1), done.stderr)
        self.assertEqual(os.listdir(self.temporary.name), [])
        bad = self.path("bad.rfn")
        with open(bad, "wb") as to, open(trace, "rb") as source:
            to.write(source.read()[:-7])
        self.refused(FAILED, "bad.rfn", "report", bad, "-o", self.path("bad.html"))
        self.assertNotIn("bad.html", os.listdir(self.temporary.name))

    def test_one_rank_and_odd_shapes(self):
        for words in (("halo", 1, 1, 1, "exact"), ("halo", 1, 7, 3, "none"), ("halo", 1, 1, 0, "exact")):
            done = refrain("report", self.make(*words), "--format", "json")
            self.assertEqual(done.returncode, GOOD, done.stderr)
            self.assertGreater(json.loads(done.stdout)["timeline"]["end_ns"], 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for word in ("--refrain", "--maker", "--corpus"):
        parser.add_argument(word, required=True)
    common.options, rest = parser.parse_known_args()
    PAGES = common.has_pages()
    unittest.main(argv=[sys.argv[0]] + rest)
