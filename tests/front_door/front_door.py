#!/usr/bin/python3
"""./dev answers questions for help with help, and does nothing at words that it does not know.

    front_door.py --source .

Nothing is installed, built or run.
"""
import argparse
import os
import re
import subprocess
import sys
import unittest

GOOD, FAILED, USAGE = 0, 1, 2
options = None


def dev(*words):
    return subprocess.run(["bash", os.path.join(options.source, "dev"), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True, check=False)


class FrontDoor(unittest.TestCase):
    def test_help(self):
        usage = dev("help").stdout
        commands = re.findall(r"^  ([a-z]+) ", usage, re.M)
        self.assertGreater(len(commands), 10)
        for words in ([], ["--help"], *([command, "--help"] for command in commands)):
            done = dev(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (GOOD, usage, ""), words)

    def test_words_that_are_not_known(self):
        for words in (["demo", "it"], ["build", "tests"], ["lint", "src"], ["format", "src"], ["golden", "all"],
                      ["package", "deb"], ["install"], ["install", "--prefix"], ["check", "all_of_it"],
                      ["bench", "speed"]):
            done = dev(*words)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (FAILED, "", 1), words)
            self.assertTrue(done.stderr.startswith("dev: " + words[0]), done.stderr)
        done = dev("tset")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (USAGE, "dev: no command 'tset'"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
