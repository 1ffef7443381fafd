#!/usr/bin/env python3
"""What `refrain report` takes, and how quickly its timeline moves.

usage: report.py [--out DIR] [--refrain PATH] [--maker PATH] [--modules DIR] [--small]
writes DIR/report.csv

Traces are made, not recorded (tests/report/report_trace.cc), with exact times: halo exchanges on a periodic mesh, a
master that takes messages of anybody, and MPI_Scan, whose higher ranks enter first.
For each: seconds of CPU and memory of `refrain waits` and `refrain report`, bytes of the page; and, where Chromium
and the build's npm packages are there, milliseconds from frame to frame of the timeline while it is zoomed and
moved, all rows in sight: half of the frames take less, 95 of 100 take less; and what drawing all of it takes when it
rests. Chromium draws in software here. --small leaves out the large ones.
"""

import argparse
import csv
import os
import pathlib
import shutil
import subprocess
import sys

import common

# Name, and words for the maker. Of a halo: columns and rows of the mesh, iterations; a rank has 10 calls each, about.
TRACES = [("64 ranks, 10^6 calls", "halo 8 8 1740 exact"), ("1024 ranks, 10^6 calls", "halo 32 32 108 exact"),
          ("1000 workers, 10^5 messages", "workers 1001 100000 exact"),
          ("4096 ranks, 10^6 calls", "halo 64 64 27 exact"), ("4096 ranks, 10^7 calls", "halo 64 64 271 exact"),
          ("4095 workers, 10^5 messages", "workers 4096 100000 exact"), ("100000 ranks, 2 scans", "scan 100000 2 0"),
          ("100000 ranks, 2 scans, a tenth not in the last", "scan 100000 2 10")]
SMALL = 3
HEADER = ["trace", "calls", "waits_cpu_s", "waits_mb", "report_cpu_s", "report_mb", "page_bytes",
          "frame_median_ms", "frame_95_ms", "frame_full_ms"]
SCRIPT = pathlib.Path(__file__).resolve().parent / "report_frames.cjs"


def measured(command, output=None):
    """(seconds of CPU, memory in MB) of a command."""
    with open(output or os.devnull, "w", encoding="utf-8") as file:
        child = subprocess.Popen([str(word) for word in command], stdout=file)
        _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        common.fail(f"{' '.join(map(str, command))}: exit status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def frames(page, modules, folder):
    """Milliseconds of a frame while the timeline moves: median, 95 %, and in full; nothing without a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or shutil.which("node") is None or not (modules / "playwright-core").is_dir():
        return ["-", "-", "-"]
    text = subprocess.run(["node", SCRIPT, chromium, page, folder / "profile"], check=True, timeout=300,
                          capture_output=True, text=True, env={**os.environ, "NODE_PATH": str(modules)}).stdout
    return [f"{float(word):.1f}" for word in text.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--refrain")
    parser.add_argument("--maker", default="build/release/tests/report/report_trace", type=pathlib.Path)
    parser.add_argument("--modules", default="build/release/web/node_modules", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    if not arguments.maker.exists():
        common.fail(f"there is no {arguments.maker}: it is built with the tests")
    rows = []
    for name, words in TRACES[:SMALL if arguments.small else None]:
        common.progress(name)
        trace, page = folder / "report.rfn", folder / "report.html"
        common.run([arguments.maker, *words.split(), trace])
        waits = measured([common.REFRAIN, "waits", "--format", "json", trace])
        report = measured([common.REFRAIN, "report", trace, "--force", "-o", page])
        rows.append([name, common.info(trace)["calls"], f"{waits[0]:.1f}", f"{waits[1]:.0f}", f"{report[0]:.1f}",
                     f"{report[1]:.0f}", page.stat().st_size, *frames(page, arguments.modules.resolve(), folder)])
        trace.unlink()
    common.progress("")
    common.print_table(HEADER, rows)
    with open(folder / "report.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
