#!/usr/bin/python3
"""Text fits the terminal: no line of the verbs below is wider than COLUMNS.

    columns.py --refrain build/refrain --corpus tests/corpus
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

VERBS = ("info", "profile", "profile --by site", "profile --by callpath", "profile --by rank", "profile --by group",
         "profile --posix", "waits", "waits --top 3", "iterations", "matrix", "matrix --kind all", "stats", "evaluate",
         "check", "check --replays TRACE", "similarity", "diff TRACE", "diff io_calls-1.6-posix.rfn",
         "cluster -o OUT", "reduce -o OUT",
         "convert --to otf2 -o OUT", "convert --to csv -o OUT", "replay --dry-run", "proxy -o OUT.c")
WIDTHS = (80, 100)
EXPLANATION = 30  # where that of an option begins; names and words that are longer stay whole


def words(verb, trace, folder):
    """TRACE is the trace once more, OUT a file or folder that is not there yet."""
    out = os.path.join(tempfile.mkdtemp(dir=folder), "out")
    return [word.replace("TRACE", trace).replace("OUT", out) for word in verb.split()]


def output(command, width):
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": str(width)}).stdout


def verbs_of(refrain):
    """All verbs, and "" for the program itself: what --help lists behind "Subcommands"."""
    listed = output([refrain, "--help"], 0).split("Subcommands:", 1)[-1].split("\n\n")[0]
    return [""] + [line.split()[0] for line in listed.splitlines()
                   if line.startswith("  ") and line[2] != " "]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True, type=os.path.abspath)
    parser.add_argument("--corpus", required=True)
    options = parser.parse_args()
    traces = sorted(os.path.basename(t) for t in glob.glob(os.path.join(options.corpus, "*.rfn")))
    lines, wrong, unused = 0, [], set(VERBS)
    scratch = tempfile.TemporaryDirectory()
    for trace in traces:
        for verb in VERBS:
            for width in WIDTHS:
                command = [options.refrain, *words(verb, trace, scratch.name), trace]
                done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=options.corpus,
                                      env={**os.environ, "COLUMNS": str(width)})
                if "are reduced already" in done.stderr or "stand for others already" in done.stderr:
                    continue
                if done.returncode not in (0, 4, 5):  # incomplete, or this trace has nothing to say there
                    wrong.append("%s %s: status %d, %s" % (verb, trace, done.returncode, done.stderr))
                if done.stdout:
                    unused.discard(verb)
                lines += done.stdout.count("\n")
                wrong += ["%s %s at %d columns: %d in '%s'" % (verb, trace, width, len(line), line)
                          for line in done.stdout.splitlines() if len(line) > width]
    helps = verbs_of(options.refrain)
    for verb in helps:
        for width in WIDTHS:
            text = output([options.refrain, *verb.split(), "--help"], width)
            lines += text.count("\n")
            wrong += ["%s --help at %d columns: '%s'" % (verb, width, line)
                      for line in text.splitlines() if len(line) > width and " " in line[EXPLANATION:]]
    wrong += [] if len(helps) > 20 else ["--help names no verbs"]
    wrong += ["no trace has anything for " + verb for verb in sorted(unused)]
    for line in wrong:
        print(line)
    print("%d traces, %d lines, %d wrong" % (len(traces), lines, len(wrong)))
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
