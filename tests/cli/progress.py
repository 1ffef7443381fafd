#!/usr/bin/python3
"""Verbs that take long say so on a terminal, and SIGINT leaves nothing half.

    progress.py --refrain build/refrain --maker build/tests/trend_trace

Needs no MPI. No verb here takes long by itself: it is stopped (SIGSTOP) for longer than it may be silent.
"""
import argparse
import concurrent.futures
import os
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SILENT_S = 1.0  # src/cli/output/activity.cc
WIPE = "\r\033[K"
options = None


class Run:
    """A verb with a terminal for its stderr, or for stderr and stdout."""

    def __init__(self, words, folder, both=False):
        self.master, slave = pty.openpty()
        with open(os.path.join(folder, "stdout"), "wb") as out:
            self.child = subprocess.Popen([options.refrain] + words, stdin=subprocess.DEVNULL, cwd=folder,
                                          stdout=slave if both else out, stderr=slave)
        os.close(slave)
        self.text = b""

    def pump(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0]:
                try:
                    self.text += os.read(self.master, 65536)
                except OSError:  # nobody has the other side any more
                    return

    def freeze(self, after):
        """Stops it for longer than it may be silent; False when it was done before."""
        self.pump(after)
        if self.child.poll() is not None:
            return False
        self.child.send_signal(signal.SIGSTOP)
        time.sleep(1.3 * SILENT_S)
        self.child.send_signal(signal.SIGCONT)
        return True

    def end(self):
        while self.child.poll() is None:
            self.pump(0.2)
        self.pump(0.05)
        os.close(self.master)
        return self.text.decode(errors="replace").replace("\r\n", "\n")


class Slow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="refrain-progress-")
        cls.trace = os.path.join(cls.base, "big.rfn")
        cls.smaller = os.path.join(cls.base, "smaller.rfn")
        for iterations, path in (("6000", cls.trace), ("600", cls.smaller)):
            subprocess.run([options.maker, "late_sender", "8", iterations, path], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base, ignore_errors=True)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.base)

    def words(self, verb):
        more = {"convert": ["--to", "csv", "-o", "out.csv", "--force"], "reduce": ["-o", "out.rfn", "--force"],
                "report": ["-o", "out.html", "--force", "--format", "json"], "diff": [self.trace]}
        # `evaluate` tries many methods: the larger trace takes it ten seconds.
        return [verb, self.smaller if verb == "evaluate" else self.trace] + more.get(verb, [])

    def slowed(self, words, both=False):
        """What it wrote to the terminal, having been stopped while it was at work."""
        after = 0.2
        while True:
            run = Run(words, self.folder, both)
            frozen = run.freeze(after)
            text = run.end()
            self.assertIn(run.child.returncode, (0, 4), text)
            if frozen and WIPE in text:
                return text
            # It may have been done with its work when it was stopped.
            after /= 2
            self.assertGreater(after, 1e-4, "%s is never seen at work: %r" % (words, text))

    def test_every_slow_verb_shows_that_it_works(self):
        verbs = ("check", "waits", "iterations", "diff", "reduce", "evaluate", "convert", "report", "dump")
        # Beside each other, as they spend most of the time stopped.
        with concurrent.futures.ThreadPoolExecutor(len(verbs)) as pool:
            texts = {verb: pool.submit(self.slowed, self.words(verb)) for verb in verbs}
        for verb, answer in texts.items():
            with self.subTest(verb=verb):
                text = answer.result()
                pieces = text.split(WIPE)
                self.assertEqual(pieces[0], "")
                self.assertRegex(pieces[1], r"^refrain %s: .*\d+ s" % verb)
                self.assertLess(max(len(piece) for piece in pieces), 81)
                self.assertEqual(pieces[-1], "", "the line is left on the terminal: %r" % text)

    def test_it_is_gone_before_the_answer(self):
        text = self.slowed(["waits", self.trace], both=True)
        self.assertRegex(text, re.compile(r"\033\[K[^\r]*Efficiency, MPI_Init", re.S))
        answer = text[text.rindex(WIPE) + len(WIPE):]
        done = subprocess.run([options.refrain, "waits", self.trace], stdout=subprocess.PIPE, check=True)
        self.assertEqual(answer, done.stdout.decode())

    def test_nothing_where_nobody_looks(self):
        child = subprocess.Popen([options.refrain, "waits", self.trace], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        child.send_signal(signal.SIGSTOP)
        time.sleep(1.3 * SILENT_S)
        child.send_signal(signal.SIGCONT)
        self.assertEqual(child.communicate()[1], b"")

    def test_interrupted(self):
        """At any moment: all of the output is there, or nothing, and no temporary file."""
        many = os.path.join(self.folder, "pages")
        cases = [(["convert", self.trace, "--to", "csv", "-o", "out.csv"], "out.csv"),
                 (["reduce", self.trace, "-o", "out.rfn"], "out.rfn"),
                 (["report", self.trace, "-o", "out.json", "--format", "json"], "out.json"),
                 (["diff", self.trace, self.trace, "-o", "out.txt"], "out.txt")]
        if subprocess.run([options.refrain, "report", self.trace, "-o", "page.html"], cwd=self.folder,
                          stderr=subprocess.DEVNULL).returncode == 0:
            os.remove(os.path.join(self.folder, "page.html"))
            cases.append((["report", self.trace, self.trace, "-o", "pages"], "pages"))
        chance = random.Random(1)
        for words, output in cases:
            path = os.path.join(self.folder, output)
            begin = time.monotonic()
            self.assertEqual(self.interrupted(words, None), 0)
            took = time.monotonic() - begin
            whole = self.size(path)
            ended = {"whole": 0, "nothing": 0}
            # At once, when nothing can be there yet, and anywhere.
            for after in [0.0] + [chance.uniform(0, 1.1) * took for _ in range(8)]:
                self.remove(path)
                self.interrupted(words, after)
                left = sorted(os.listdir(self.folder))
                if os.path.exists(path):
                    self.assertEqual((left, self.size(path)), ([output], whole), words)
                    ended["whole"] += 1
                else:
                    self.assertEqual(left, [], words)
                    ended["nothing"] += 1
            self.assertGreater(ended["nothing"], 0, words)
            self.remove(path)
        self.assertFalse(os.path.exists(many))

    def interrupted(self, words, after):
        child = subprocess.Popen([options.refrain] + words, cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        if after is not None:
            time.sleep(after)
            child.send_signal(signal.SIGINT)
        status = child.wait(120)
        self.assertIn(status, (0, -signal.SIGINT), words)
        return status

    @staticmethod
    def size(path):
        """Names in a folder, and bytes but for what depends on the moment."""
        if os.path.isdir(path):
            return sorted(os.listdir(path))
        return os.path.getsize(path) // 64

    @staticmethod
    def remove(path):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--maker", required=True)
    options, rest = parser.parse_known_args()
    options.refrain, options.maker = os.path.abspath(options.refrain), os.path.abspath(options.maker)
    # A terminal's output and that of a pipe are compared.
    os.environ.update(NO_COLOR="1", COLUMNS="200")
    unittest.main(argv=sys.argv[:1] + rest)
