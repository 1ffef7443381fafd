#!/usr/bin/python3
"""Text fits the terminal: no line of the verbs below is wider than COLUMNS.

    columns.py --refrain build/refrain --corpus tests/corpus
"""
import argparse
import glob
import os
import subprocess
import sys

VERBS = ("info", "profile", "profile --by site", "profile --by callpath", "profile --by rank", "profile --by group",
         "waits", "waits --top 3", "iterations", "matrix", "matrix --kind all", "stats", "evaluate")
WIDTHS = (80, 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True, type=os.path.abspath)
    parser.add_argument("--corpus", required=True)
    options = parser.parse_args()
    traces = sorted(os.path.basename(t) for t in glob.glob(os.path.join(options.corpus, "*.rfn")))
    lines, wrong, unused = 0, [], set(VERBS)
    for trace in traces:
        for verb in VERBS:
            for width in WIDTHS:
                done = subprocess.run([options.refrain, *verb.split(), trace], capture_output=True, text=True,
                                      check=False, cwd=options.corpus, env={**os.environ, "COLUMNS": str(width)})
                if "are reduced already" in done.stderr:
                    continue
                if done.returncode not in (0, 4, 5):  # incomplete, or this trace has nothing to say there
                    wrong.append("%s %s: status %d, %s" % (verb, trace, done.returncode, done.stderr))
                if done.stdout:
                    unused.discard(verb)
                lines += done.stdout.count("\n")
                wrong += ["%s %s at %d columns: %d in '%s'" % (verb, trace, width, len(line), line)
                          for line in done.stdout.splitlines() if len(line) > width]
    wrong += ["no trace has anything for " + verb for verb in sorted(unused)]
    for line in wrong:
        print(line)
    print("%d traces, %d lines, %d wrong" % (len(traces), lines, len(wrong)))
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
