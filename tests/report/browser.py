#!/usr/bin/python3
"""refrain report in headless Chromium: browser.cjs opens the pages that this makes. Exit status 77: no browser.

    browser.py --refrain ... --maker ... --corpus ... --modules build/release/web/node_modules [--keep FOLDER]
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common

HERE = pathlib.Path(__file__).resolve().parent


def skip(why):
    print("skip ", why)
    sys.exit(77)


def panels(page):
    """Made up: 20 iterations on 32 ranks, number 7 slow on rank 5; their behaviours; work of the recorder."""
    begin, end = page["timeline"]["begin_ns"], page["timeline"]["end_ns"]
    step = (end - begin) // 20
    long = [step // 2 + (step // 4 if i == 7 else i) for i in range(20)]
    spread = {"mean": sum(long) / 20, "median": long[10], "min": min(long), "max": max(long), "sum": sum(long)}
    page["iterations"] = {"source": "loops", "loops": [
        {"name": "main_loop_1", "label": "MPI_Waitall halo.c:14", "first": 0, "count": 20, "iterations": 20,
         "ranks": 32, "begin_ns": begin, "end_ns": end, "duration_ns": spread, "mpi_ns": spread,
         "waiting_ns": spread, "bytes": spread, "slowest": 7, "outliers": [7],
         "trend": {"ns_per_iteration": 1.0, "share": 0.25, "fit": 0.02, "is_clear": False}}]}
    page["behaviours"] = {"method": "avgWave:0.2", "source": "loops", "rows": [
        {"name": name, "part": "main_loop_1", "loop": 0, "calls": 9, "segments": n, "ranks": ranks, "first_rank": first,
         "duration_ns": {"mean": step // 2, "min": step // 3, "max": step, "sum": n * step // 2},
         "mpi_share": 0.25, "error_ns": 1, "label": "MPI_Waitall halo.c:14"}
        for name, n, ranks, first in (("A", 639, 32, 0), ("B", 1, 1, 5))]}
    cells = [(rank, i) for rank in range(32) for i in range(20)]
    return {"iterations.number": list(range(20)), "iterations.begin": [begin + i * step for i in range(20)],
            "iterations.end": [begin + i * step + long[i] for i in range(20)], "iterations.duration": long,
            "iterations.mean": [ns * 3 // 4 for ns in long], "iterations.mpi": [ns * 8 for ns in long],
            "iterations.waiting": [ns * 4 for ns in long], "iterations.bytes": [4096] * 20,
            "iterations.slowest_rank": [5 if i == 7 else 0 for i in range(20)],
            "own.row": [0], "own.begin": [begin], "own.length": [(end - begin) // 2],
            "behaviours.rank": [c[0] for c in cells], "behaviours.thread": [0] * 640,
            "behaviours.start": [begin + c[1] * step for c in cells], "behaviours.length": [long[c[1]] for c in cells],
            "behaviours.row": [int(c == (5, 7)) for c in cells], "behaviours.iteration": [c[1] for c in cells]}


def pages(folder):
    """Makes the pages; the file that says what each must show."""
    def make(name, *words):
        path = os.path.join(folder, name + ".rfn")
        subprocess.run([common.options.maker, *map(str, words), path], check=True, timeout=100)
        return path

    traces = {"exact": os.path.join(common.options.corpus, "heat-1.2-exact.rfn"),
              "stats": os.path.join(common.options.corpus, "heat-1.2.rfn"),
              "grid": make("grid", "halo", 8, 8, 60, "exact"),
              "large": make("large", "halo", 64, 64, 10, "exact"),
              "long": make("long", "halo", 8, 8, 2000, "none"),
              "workers": make("workers", "workers", 16, 70000, "exact"),
              "hostile": make("hostile", "hostile"),
              "few": make("few", "halo", 4, 8, 20, "exact"),
              "line": make("line", "halo", 1, 32, 3, "exact"),
              "column": make("column", "halo", 32, 1, 3, "exact")}
    out = {}
    for name, trace in traces.items():
        page = os.path.join(folder, name + ".html")
        done = common.refrain("report", trace, "-o", page)
        if done.returncode not in (common.GOOD, common.INCOMPLETE):
            sys.exit("refrain report %s: %s" % (trace, done.stderr.decode()))
        out[name] = {"page": page}
        for verb in ("profile", "matrix", "waits", "info"):
            text = common.refrain(verb, trace, "--format", "json").stdout
            out[name][verb] = json.loads(text) if text else None
        for verb in ("profile", "waits"):
            out[name][verb + "_text"] = common.refrain(verb, trace, "--top", "0").stdout.decode()
        lines = common.refrain("dump", trace, "--format", "jsonl", "--rank", "1", "--first", "200").stdout
        out[name]["dump"] = [json.loads(line) for line in lines.splitlines()]
        lines = common.refrain("dump", trace, "--rank", "1", "--first", "200").stdout.decode()
        out[name]["lines"] = lines.splitlines()
    index = os.path.join(folder, "all")
    common.refrain("report", traces["stats"], traces["exact"], "-o", index)
    out["index"] = {"page": os.path.join(index, "index.html")}
    pair = os.path.join(folder, "pair")
    common.refrain("report", traces["few"], traces["line"], "-o", pair)
    out["pair"] = {"page": os.path.join(pair, "index.html")}
    out["panels"] = {"page": os.path.join(folder, "panels.html")}
    shutil.copy(out["few"]["page"], out["panels"]["page"])
    common.change_page(out["panels"]["page"], panels)
    return out


def main():
    parser = argparse.ArgumentParser()
    for word in ("--refrain", "--maker", "--corpus", "--modules"):
        parser.add_argument(word, required=True)
    parser.add_argument("--keep", help="folder for screenshots")
    parser.add_argument("--only", default="", help="pattern of the names of the tests to run")
    common.options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or shutil.which("node") is None:
        skip("chromium or node is not installed")
    if not os.path.isdir(os.path.join(common.options.modules, "playwright-core")) or not common.has_pages():
        skip("the build has no npm packages")
    with tempfile.TemporaryDirectory(prefix="refrain-browser-") as folder:
        expected = os.path.join(folder, "expected.json")
        with open(expected, "w", encoding="utf-8") as file:
            json.dump(pages(folder), file)
        keep = common.options.keep or ""
        if keep:
            os.makedirs(keep, exist_ok=True)
        environment = dict(os.environ, NODE_PATH=common.options.modules)
        command = ["node", str(HERE / "browser.cjs"), chromium, expected, os.path.join(folder, "profile"), keep,
                   common.options.only]
        return subprocess.run(command, env=environment, timeout=1500, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
