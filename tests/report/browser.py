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
    return out


def main():
    parser = argparse.ArgumentParser()
    for word in ("--refrain", "--maker", "--corpus", "--modules"):
        parser.add_argument(word, required=True)
    parser.add_argument("--keep", help="folder for screenshots")
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
        command = ["node", str(HERE / "browser.cjs"), chromium, expected, os.path.join(folder, "profile"), keep]
        return subprocess.run(command, env=environment, timeout=550, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
