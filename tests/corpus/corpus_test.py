#!/usr/bin/env python3
"""Traces of earlier versions read as they did when they were recorded.

usage: corpus_test.py --refrain build/release/refrain
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def first_difference(expected, found):
    for number, (a, b) in enumerate(zip(expected, found), 1):
        if a != b:
            return f"line {number}: expected {a!r}, found {b!r}"
    return f"expected {len(expected)} lines, found {len(found)}"


def examine(refrain, trace):
    """What is wrong with one trace, or None."""
    status, _, said = output_of(refrain, "check", trace)
    if status != 0:
        return f"check: exit status {status}: {said}"
    status, text, said = output_of(refrain, "dump", "--no-resolve", "--format", "jsonl", trace)
    if status != 0:
        return f"dump: exit status {status}: {said}"
    expected = trace.with_suffix(".jsonl").read_bytes()
    if text != expected:
        return "dump: " + first_difference(expected.splitlines(), text.splitlines())
    status, text, said = output_of(refrain, "info", "--format", "json", trace)
    if status != 0:
        return f"info: exit status {status}: {said}"
    costs = trace.with_suffix(".cost.json")
    expected = json.loads(costs.read_text()) if costs.exists() else None
    found = json.loads(text).get("recorder_cost")
    if found != expected:
        return f"info: expected recorder_cost {expected}, found {found}"
    status, text, said = output_of(refrain, "stats", "--format", "json", trace)
    if status != 0:
        return f"stats: exit status {status}: {said}"
    gaps = trace.with_suffix(".gaps.json")
    expected = json.loads(gaps.read_text()) if gaps.exists() else None
    found = json.loads(text).get("gaps")
    for row in found or ():
        del row["site"]  # debug information may be there or not
    if found != expected:
        return f"stats: expected gaps {expected}, found {found}"
    posix = trace.with_suffix(".posix.json")
    if posix.exists():
        status, text, said = output_of(refrain, "profile", "--posix", "--format", "json", trace)
        if status != 0:
            return f"profile --posix: exit status {status}: {said}"
        if json.loads(text) != json.loads(posix.read_text()):
            return "profile --posix: " + first_difference(posix.read_bytes().splitlines(), text.splitlines())
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    refrain = parser.parse_args().refrain
    traces = sorted(HERE.glob("*.rfn"))
    if not traces:
        sys.exit("corpus: there is no trace: ./dev golden makes one")
    failed = 0
    for trace in traces:
        wrong = examine(refrain, trace)
        print(f"{'FAIL' if wrong else 'pass'}  {trace.name}{': ' + wrong if wrong else ''}")
        failed += wrong is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
