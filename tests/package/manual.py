#!/usr/bin/python3
"""Man pages and completion have what `--help` has, and man and bash take them without complaint.

    manual.py --refrain build/release/refrain

Exit status: 0 all good, 1 something is wrong.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

options = None


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False, **more)


def help_text(*verb):
    return run([options.refrain, *verb, "--help"]).stdout.decode()


def verbs():
    # CLI11's newer releases write SUBCOMMANDS.
    listed = re.split(r"(?i)\nsubcommands:\n", help_text(), maxsplit=1)[1]
    return re.findall(r"^  (\w+) ", listed, re.MULTILINE)


def options_of(verb):
    """Long names at the head of an option's entry, which has few spaces in front."""
    return sorted(set(re.findall(r"^ {2,10}(?:-\w, *)?(--[\w-]+)", help_text(verb), re.MULTILINE)))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="refrain-manual-")
        cls.folder = os.path.join(cls.scratch.name, "manual")
        done = run([options.refrain, "manual", "-o", cls.folder])
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def pages(self):
        return sorted(n for n in os.listdir(self.folder) if n.endswith(".1"))

    def test_one_for_each_verb(self):
        self.assertGreater(len(verbs()), 10)
        self.assertEqual(self.pages(), sorted(["refrain.1"] + ["refrain-%s.1" % v for v in verbs()]))

    def test_nothing_else_is_left(self):
        others = [n for n in os.listdir(self.folder) if not n.endswith(".1")]
        self.assertEqual(others, ["refrain.bash"])

    def test_formatters_do_not_complain(self):
        checkers = [words for words in (["man", "--warnings", "-l"], ["groff", "-ww", "-man", "-Tutf8"],
                                        ["mandoc", "-T", "lint", "-W", "error"]) if shutil.which(words[0])]
        if not checkers:
            self.skipTest("neither man nor groff nor mandoc is installed")
        env = dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80", MANPAGER="cat")
        for words in checkers:
            for page in self.pages():
                done = run(words + [os.path.join(self.folder, page)], env=env)
                self.assertEqual((done.returncode, done.stderr), (0, b""), (words, page, done.stdout[:300]))

    def test_pages_have_every_option(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for verb in verbs():
            page = os.path.join(self.folder, "refrain-%s.1" % verb)
            shown = run(["groff", "-man", "-Tascii", "-P-cbou", page]).stdout.decode()
            self.assertRegex(shown, r"NAME\n +refrain-%s +- +\w" % verb)
            names = options_of(verb)
            self.assertIn("--help", names)
            for name in names:
                self.assertRegex(shown, r"(?m)^ +(-\w, )?%s( |$)" % re.escape(name), "%s of %s" % (name, verb))

    def test_refuses_bad_folders(self):
        file = os.path.join(self.folder, "refrain.1")
        for folder, why in ((file, "cannot write"), (file + "/x", "cannot make the folder"),
                            (self.scratch.name + "/no/such", "cannot make the folder")):
            done = run([options.refrain, "manual", "-o", folder])
            self.assertEqual(done.returncode, 1, folder)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertIn(why, done.stderr.decode())
        self.assertEqual(run([options.refrain, "manual"]).returncode, 2)


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="refrain-completion-")
        run([options.refrain, "manual", "-o", cls.scratch.name])
        cls.work = os.path.join(cls.scratch.name, "work")
        os.makedirs(os.path.join(cls.work, "results"))
        for name in ("a.rfn", "b c.rfn", "notes.txt"):
            with open(os.path.join(cls.work, name), "w"):
                pass

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def complete(self, *words):
        """What bash offers for the last of the words, which the cursor is behind."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _refrain; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = run(["bash", "--norc", "-c", script, "bash", os.path.join(self.scratch.name, "refrain.bash"),
                    "refrain", *words], cwd=self.work)
        self.assertEqual(done.stderr, b"")
        return [line for line in done.stdout.decode().split("\n") if line]

    def test_verbs(self):
        self.assertEqual(self.complete("in"), ["info"])
        self.assertEqual(sorted(w for w in self.complete("") if w[0] != "-"), sorted(verbs() + ["help"]))
        self.assertEqual(self.complete("--ver"), ["--version"])
        self.assertEqual(self.complete("nosuchverb", ""), [])

    def test_options_are_those_of_help(self):
        for verb in verbs():
            offered = self.complete(verb, "--")
            self.assertEqual(sorted(offered), options_of(verb), verb)

    def test_values(self):
        self.assertEqual(self.complete("info", "--format", ""), ["text", "json"])
        self.assertEqual(self.complete("matrix", "--format", "c"), ["csv"])
        self.assertEqual(self.complete("info", "--format", "=", "j"), ["json"])  # as bash cuts --format=j
        self.assertEqual(self.complete("info", "--format", "="), ["text", "json"])
        self.assertEqual(self.complete("dump", "--rank", ""), [])

    def test_files(self):
        self.assertEqual(sorted(self.complete("info", "")), ["a.rfn", "b c.rfn", "results"])
        self.assertEqual(self.complete("info", "b"), ["b c.rfn"])
        self.assertEqual(self.complete("info", "no"), ["notes.txt"])

    def test_program_of_record(self):
        self.assertIn("--timing", self.complete("record", "--ti"))
        self.assertIn("bash", self.complete("record", "-o", "a.rfn", "bas"))
        self.assertIn("bash", self.complete("record", "--quiet", "--", "bas"))
        # What follows is the program's: none of our options.
        self.assertEqual(self.complete("record", "-o", "a.rfn", "cat", "no"), ["notes.txt"])
        self.assertEqual(self.complete("record", "--output", "=", "a.rfn", "cat", "--tim"), [])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True, type=os.path.abspath)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
