#!/usr/bin/python3
"""refrain live analyze: a recorded run, received as if it ran now, is the run that was recorded.

    analyze.py --refrain build/refrain --corpus tests/corpus
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import expectations  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 120
# Traces of every kind of times. Of segments the calls are there, without times.
WHOLE = ["heat-1.1-spreads", "heat-1.2", "heat-1.4-gaps", "heat-1.4-exact", "heat-1.5", "heat-1.5-exact",
         "heat-1.5-bins"]
options = None


def refrain(*words):
    return subprocess.run([options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)


def analyze(trace, out, *words):
    return refrain("live", "analyze", "--from", trace, "-o", out, "--speed", "50", "--interval", "100ms", *words)


def said(trace, verb):
    """What a verb says, but for the name of the trace."""
    done = refrain(verb, trace, "--format", "json")
    return without_name(done.stdout) if done.returncode == 0 else None


def without_name(text):
    data = json.loads(text)
    data.pop("trace", None)
    return data


def check_equal(name, out):
    trace, received = os.path.join(options.corpus, name + ".rfn"), os.path.join(out, name + ".rfn")
    done = analyze(trace, out)
    lines = done.stdout.decode().splitlines()
    expect(done.returncode == 0 and lines and "finished" in lines[-1], "%s: received: %s" % (name, done.stderr))
    dumps = [refrain("dump", path, "--format", "jsonl").stdout for path in (trace, received)]
    expect(len(dumps[0]) > 0 and dumps[0] == dumps[1], name + ": dump is that of the recorded run")
    expect(refrain("check", received).returncode == 0, name + ": the received trace is a good one")
    # Files of older versions have times and totals at another precision, which the copy rounds again.
    is_old = name < "heat-1.4"
    for verb in ("matrix",) if is_old else ("profile", "matrix", "waits"):
        recorded, path = said(trace, verb), os.path.join(out, name, verb + ".json")
        if recorded is None:
            expect(not os.path.exists(path), "%s: nothing to say of %s" % (name, verb))
            continue
        with open(path) as file:
            expect(without_name(file.read()) == recorded, "%s: %s.json is that of the recorded run" % (name, verb))


def calls_of(trace):
    """Calls of each rank in order, without their times."""
    lines = [json.loads(line) for line in refrain("dump", trace, "--format", "jsonl").stdout.splitlines()]
    return [{k: v for k, v in line.items() if not k.endswith("_ns")} for line in lines]


def check_segments(out):
    name = "heat-1.5-segments"
    trace = os.path.join(options.corpus, name + ".rfn")
    done = analyze(trace, out)
    expect(done.returncode == 0 and calls_of(trace) == calls_of(os.path.join(out, name + ".rfn")),
           "segments: the calls are those of the recorded run")


def check_bad_input(folder):
    good = os.path.join(folder, "heat.rfn")
    shutil.copy(os.path.join(options.corpus, "heat-1.5.rfn"), good)
    with open(good, "rb") as file:
        half = file.read()[:300]
    cut = os.path.join(folder, "cut.rfn")
    with open(cut, "wb") as file:
        file.write(half)
    for words, status, what in (
            (["live", "analyze"], 2, "no trace"),
            (["live", "analyze", "--from", os.path.join(folder, "none.rfn")], 1, "a trace that is not there"),
            (["live", "analyze", "--from", cut], 1, "half a trace"),
            (["live", "analyze", "--from", good, "--speed", "0"], 2, "no speed"),
            (["live", "analyze", "--from", good, "--speed", "1000000", "-o", folder], 2,
             "a trace that would replace itself"),
            (["live", "analyze", "--from", os.path.join(options.corpus, "ring-1.5-lead-ends.rfn")], 5,
             "ranks that stand for others")):
        done = refrain(*words)
        expect(done.returncode == status and len(done.stderr.splitlines()) == 1,
               "%s: %d, %s" % (what, done.returncode, done.stderr.decode()))
    expect(os.path.getsize(good) > len(half), "and it is still there")


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("refrain", "corpus"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-analyze-") as folder:
        for name in WHOLE:
            check_equal(name, os.path.join(folder, "out"))
        check_segments(os.path.join(folder, "out"))
        check_bad_input(folder)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
