#!/usr/bin/python3
"""What `./dev demo` builds: `refrain` without refrain-verbs runs refrain-first, which says what it lacks.

    first_verbs.py --refrain build/refrain --first build/refrain-first --corpus tests/corpus
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import unittest

options = None


class FirstVerbs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.refrain = os.path.join(folder.name, "refrain")
        shutil.copy(options.refrain, self.refrain)
        shutil.copy(options.first, os.path.join(folder.name, "refrain-first"))
        self.trace = os.path.join(options.corpus, "heat-1.5-exact.rfn")

    def run_verb(self, refrain, *words):
        # Recorders and verbs of the build are not to be found by the environment.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REFRAIN_")}
        done = subprocess.run([refrain, *words], capture_output=True, timeout=120, check=False, env=environment)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_verbs_of_the_demo_say_the_same(self):
        for words in (["info"], ["profile"], ["matrix"], ["dump", "--rank", "1"], ["waits"], ["check"]):
            with self.subTest(verb=words[0]):
                self.assertEqual(self.run_verb(self.refrain, *words, self.trace),
                                 self.run_verb(options.refrain, *words, self.trace))

    def test_others_say_how_to_build_them(self):
        for words in (["simulate", self.trace], ["live", "watch", "x"], ["help", "convert"]):
            with self.subTest(words=words):
                verb = words[1] if words[0] == "help" else words[0]
                status, out, error = self.run_verb(self.refrain, *words)
                self.assertEqual((status, out), (5, ""))
                self.assertEqual(error, "refrain: '%s' is not built yet. `./dev build` builds the verbs that are not "
                                        "listed here.\n" % verb)

    def test_help_lists_what_is_there(self):
        status, out, _ = self.run_verb(self.refrain, "help")
        self.assertEqual(status, 0)
        verbs = [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line.split()]
        self.assertIn("waits", verbs)
        self.assertNotIn("simulate", verbs)
        self.assertIn("./dev build", out)
        self.assertIn("simulate", self.run_verb(options.refrain, "help")[1])

    def test_a_mistake_is_one_line(self):
        status, _, error = self.run_verb(self.refrain, "proflie", self.trace)
        self.assertEqual(status, 2)
        self.assertEqual(error.count("\n"), 1)
        self.assertIn("profile", error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("refrain", "first", "corpus"):
        parser.add_argument("--" + name, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
