#!/usr/bin/python3
"""Names of C++ functions, columns and colours of the text formats.

    names.py --refrain build/refrain --mpi mpich --program names --libraries build/src/tracer
"""
import argparse
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpirun  # noqa: E402

FULL, FOLDED = "solver::Grid<double, solver::Cell<int, 7> >::exchange", "solver::Grid<…>::exchange"
options = None
trace = None


def refrain(*words, **env):
    known = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    done = subprocess.run([options.refrain, *words], capture_output=True, timeout=60, check=False,
                          env={**known, "TERM": "xterm", **env})
    assert done.returncode in (0, 3), "%s: %d, %s" % (" ".join(words), done.returncode, done.stderr.decode())
    return done.stdout.decode()


def on_terminal(*words, **env):
    """The same, with a terminal of 60 columns as stdout."""
    import fcntl
    import struct
    import termios
    known = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 60, 0, 0))
    child = subprocess.Popen([options.refrain, *words], stdout=theirs, env={**known, "TERM": "xterm", **env})
    os.close(theirs)
    out = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            part = b""
        if not part:
            break
        out += part
    os.close(ours)
    assert child.wait(60) == 0
    return out.decode().replace("\r\n", "\n")


TEXTS = (("profile", "--by", "callpath"), ("profile", "--by", "site"), ("waits",), ("dump", "--call-paths"))


class Names(unittest.TestCase):
    def test_text_folds_and_full_does_not(self):
        for verb, *words in TEXTS:
            folded, full = refrain(verb, trace, *words), refrain(verb, trace, *words, "--names", "full")
            self.assertIn(FOLDED, folded, verb)
            self.assertNotIn("Grid<double", folded, verb)
            self.assertIn(FULL, full, verb)
            self.assertNotIn("…", full, verb)

    def test_json_has_them_in_full(self):
        for verb, *words in (("profile", "--format", "json"), ("waits", "--format", "json"),
                             ("report", "--format", "json"), ("dump", "--call-paths", "--format", "jsonl")):
            for names in ("folded", "full"):
                text = refrain(verb, trace, *words, "--names", names)
                self.assertIn(FULL, text, verb)
                self.assertNotIn("Grid<…>", text, verb)
        paths = [json.loads(line) for line in refrain("dump", trace, "--call-paths", "--format", "jsonl").splitlines()]
        barrier = [line for line in paths if line["call"] == "MPI_Barrier"][0]
        self.assertEqual([step["in_function"] for step in barrier["call_path"]], ["main", FULL])
        self.assertEqual(barrier["call_path"][-1]["site"], barrier["site"])
        self.assertNotIn("call_path", json.loads(refrain("dump", trace, "--format", "jsonl").splitlines()[0]))

    def test_waits_are_found_by_both_names(self):
        for part in (FULL, FOLDED):
            self.assertIn(FOLDED, refrain("waits", trace, "--explain", "all::" + part))

    def test_columns(self):
        def widest(text):
            return max(len(line) for line in text.splitlines())

        words = ("profile", trace, "--by", "callpath", "--names", "full")
        free = refrain(*words)
        self.assertGreater(widest(free), 100)
        self.assertIn(FULL, free)  # nothing is cut where there is no terminal
        for columns in (100, 90):
            text = refrain(*words, COLUMNS=str(columns))
            self.assertLessEqual(widest(text.split("\n", 1)[1]), columns)
            self.assertRegex(text, r"….*names\.cc:\d+")  # the end of a path stays
        for nonsense in ("", "0", "wide", "-3", "1e3"):
            self.assertEqual(refrain(*words, COLUMNS=nonsense), free)
        self.assertNotIn(FULL, on_terminal(*words))
        self.assertIn(FULL, on_terminal(*words, COLUMNS="400"))

    def test_colours(self):
        words = ("profile", trace)
        escape = re.compile("\033")
        self.assertRegex(on_terminal(*words), escape)
        self.assertNotRegex(on_terminal(*words, NO_COLOR="1"), escape)
        self.assertRegex(on_terminal(*words, NO_COLOR=""), escape)
        self.assertNotRegex(on_terminal(*words, TERM="dumb"), escape)
        self.assertNotRegex(on_terminal(*words, "--color", "never"), escape)
        self.assertNotRegex(refrain(*words), escape)
        self.assertRegex(refrain(*words, "--color", "always", NO_COLOR="1"), escape)
        plain = re.sub("\033\\[[0-9;]*m", "", refrain(*words, "--color", "always"))
        self.assertEqual(plain, refrain(*words))
        self.assertNotRegex(refrain(*words, "--format", "json", "--color", "always"), escape)

    def test_diff(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "diff.html")
            refrain("diff", trace, options.other, "--format", "html", "-o", page)
            with open(page, encoding="utf-8") as file:
                text = file.read()
        self.assertIn("Grid&lt;…&gt;::exchange", text)
        self.assertRegex(text, 'title="[^"]*Grid&lt;double')
        for part in (FULL, FOLDED):  # a threshold does not depend on how names are shown
            self.assertEqual(subprocess.run(
                [options.refrain, "diff", trace, options.other, "--format", "json", "--fail-if", "calls@%s<>0" % part],
                capture_output=True, check=False).returncode, 3)


def record(folder, times):
    out = os.path.join(folder, "names%d.rfn" % times)
    wrapper = [options.refrain, "record", "-o", out, "--timing", "exact"]
    done = mpirun.run_job(options.mpi, 2, [options.program, str(times)], 60, [options.shim] if options.shim else [],
                          {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "1"}, wrapper=wrapper)
    if done.status != 0:
        sys.exit("FAIL  exit status %d: %s" % (done.status, done.stderr.decode()))
    return out


def main():
    global options, trace
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--mpi", "--program", "--libraries"):
        parser.add_argument(name, required=True)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refrain-names-") as folder:
        trace, options.other = record(folder, 5), record(folder, 9)
        done = unittest.main(argv=[sys.argv[0]], exit=False).result
    sys.exit(0 if done.wasSuccessful() else 1)


main()
