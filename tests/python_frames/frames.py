#!/usr/bin/python3
"""Call paths of mpi4py programs are those that the programs write down themselves.

    frames.py --refrain build/refrain --libraries build/src/tracer --shim yield.so --hold hold_reading.so \
              --in-turn in_turn.so

Other interpreters than the system's are taken from PATH (python3.9 and so on), from ~/.pyenv/versions, and from
REFRAIN_TEST_PYTHONS (paths, with a colon between two).
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

PYTHON, SKIPPED = "/usr/bin/python3", 77
VERSIONS = range(9, 15)
options = None


def interpreters():
    """Those that frames are read of, each version once: {"3.9": its path}."""
    names = os.environ.get("REFRAIN_TEST_PYTHONS", "").split(":")
    names += [shutil.which("python3.%d" % minor) for minor in VERSIONS]
    names += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3")))
    found = {}
    for name in filter(None, names):
        asked = subprocess.run([name, "-c", "import ctypes, sys; print('%d.%d' % sys.version_info[:2])"],
                               capture_output=True, check=False)
        version = asked.stdout.decode().strip()
        if asked.returncode == 0 and version in ["3.%d" % minor for minor in VERSIONS]:
            found.setdefault(version, name)
    return found


def record(folder, name, *extra, ranks=2, status=0, python=PYTHON, preload=(), env=()):
    """The calls that `dump` shows, those that the program wrote down, and what `info` says."""
    out = os.path.join(folder, name + "".join(extra) + ".rfn")
    wrapper = [options.refrain, "record", "-o", out, *extra]
    log = os.path.join(folder, name + ".log")
    done = mpirun.run_job("openmpi", ranks, [python, os.path.join(HERE, name + ".py"), log], 60,
                          ([options.shim] if options.shim else []) + list(preload),
                          {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "1", **dict(env)},
                          wrapper=wrapper)
    assert done.status == status, "%s: %d %s" % (name, done.status, done.stderr.decode())
    dumped = subprocess.run([options.refrain, "dump", "--call-paths", "--format", "jsonl", out], capture_output=True,
                            timeout=60, check=False)
    info = subprocess.run([options.refrain, "info", "--format", "json", out], capture_output=True, timeout=60,
                          check=False)
    written = []
    for rank in range(ranks):
        path = "%s.%d" % (log, rank)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                written += [json.loads(line) for line in file]
    return [json.loads(line) for line in dumped.stdout.decode().splitlines()], written, json.loads(info.stdout), out


def steps(call):
    return [[step["site"], step["in_function"]] for step in call["call_path"]]


class Frames(unittest.TestCase):
    def compare(self, program, **how):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            calls, written, info, _ = record(folder, program, **how)
        self.assertGreater(len(written), 4)
        for rank in {line["rank"] for line in written}:
            for name in {line["call"] for line in written}:
                # mpi4py as of 4.1 calls the form with large counts.
                same = (name, name + "_c")
                self.assertEqual([steps(c) for c in calls if c["rank"] == rank and c["call"] in same],
                                 [line["path"] for line in written if (line["rank"], line["call"]) == (rank, name)],
                                 (rank, name))
        return calls, info

    def test_functions_generators_and_callbacks(self):
        calls, info = self.compare("steps")
        self.assertEqual([l for l in info["losses"] if l["reason"] == "python_frames"], [])
        sites = [c["site"] for c in calls if c["call"] == "MPI_Barrier"]
        self.assertTrue(all(site.startswith("steps.py:") for site in sites), sites)

    def test_threads(self):
        self.compare("threads", ranks=1)

    def test_c_that_is_called_in_turn(self):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            check = os.path.join(folder, "unwound")
            calls, written, info, _ = record(folder, "in_turn", "--callpath=16", ranks=1, preload=[options.in_turn],
                                             env={"REFRAIN_CHECK_PATHS": check})
            with open(check, encoding="utf-8") as file:
                unwound = int(re.fullmatch(r"paths (\d+) differ 0 wrong 0 by_libunwind \d+\n", file.read())[1])
            barriers = [steps(c) for c in calls if c["call"] == "MPI_Barrier"]
            in_c = [sum(".py:" not in step[0] for step in path) for path in barriers]
            # As many frames as C has alone.
            short, short_notes, _, _ = record(folder, "in_turn", "--callpath=%d" % in_c[0], ranks=1,
                                              preload=[options.in_turn])
        lines = written[:-1]
        self.assertEqual(len(barriers), len(lines))
        self.assertEqual(len(set(in_c)), 1)
        self.assertEqual([[step for step in path if ".py:" in step[0]] for path in barriers],
                         [line["path"] for line in lines])
        self.assertEqual([path[-2][1] for path in barriers], [line["way"] for line in lines])
        self.assertEqual([steps(c) for c in short if c["call"] == "MPI_Barrier"],
                         [path[-in_c[0]:] for path in barriers])
        self.assertEqual(info["losses"], [])
        # Only what is new is unwound, and its names and lines read.
        self.assertLess(unwound, len(barriers) / 4)
        self.assertEqual([written[-1], short_notes[-1]], [{"copies": 0}] * 2)

    def test_versions(self):
        for version, python in sorted(interpreters().items()):
            with self.subTest(version), tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
                calls, written, info, _ = record(folder, "steps", ranks=1, python=python,
                                                 env={"PYTHONPATH": os.path.join(HERE, "stand_in")})
                self.assertEqual([l for l in info["losses"] if l["reason"] == "python_frames"], [])
                barriers = [c for c in calls if c["call"] == "MPI_Barrier"]
                self.assertEqual(len(barriers), len(written))
                for call, line in zip(barriers, written):
                    # Innermost are ctypes and its library, which are no part of Python.
                    known = [step for step in steps(call) if ".py:" in step[0]]
                    self.assertGreaterEqual(len(known), min(len(line["path"]), 3), call)
                    self.assertEqual(known, line["path"][-len(known):])
            print("Python", version, "is good")

    def test_daemon_thread_while_the_interpreter_ends(self):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            calls, _, info, _ = record(folder, "daemon", ranks=1, preload=[options.hold])
        self.assertEqual([steps(c) for c in calls if c["call"] == "MPI_Barrier"], [[["daemon.py:17", "<module>"]]])
        self.assertEqual([l["reason"] for l in info["losses"]], ["python_frames"])

    def test_destructors_while_the_interpreter_ends(self):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            calls, _, info, _ = record(folder, "ending", ranks=1)
        asked = [steps(c)[-1] for c in calls if c["call"] == "MPI_Comm_size"]
        self.assertEqual(asked[-1], ["ending.py:10", "__del__"])
        self.assertEqual(info["losses"], [])

    def test_off(self):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            calls, _, _, out = record(folder, "steps", "--python-frames=off")
            text = subprocess.run([options.refrain, "dump", out, "--call-paths"], capture_output=True, check=False)
        self.assertGreater(len(calls), 4)
        self.assertNotIn(b"steps.py", text.stdout)

    def test_subinterpreters_are_left_out_and_counted(self):
        with tempfile.TemporaryDirectory(prefix="refrain-python-") as folder:
            calls, _, info, _ = record(folder, "subinterpreter", ranks=1, status=0)
        inside = [c for c in calls if c["call"] == "MPI_Barrier"]
        self.assertEqual(len(inside), 2)
        self.assertTrue(inside[0]["site"].startswith("subinterpreter.py:"), inside[0])
        self.assertFalse(inside[1]["site"].startswith("subinterpreter.py:"), inside[1])
        self.assertEqual([l["reason"] for l in info["losses"]], ["python_frames"])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--libraries", "--hold", "--in-turn"):
        parser.add_argument(name, required=True)
    parser.add_argument("--shim", default="")
    parser.add_argument("tests", nargs="*", help="Frames.test_off, for instance; nothing: all")
    options = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode != 0:
        print("skipped: mpi4py is not there")
        sys.exit(SKIPPED)
    done = unittest.main(argv=[sys.argv[0], *options.tests], exit=False).result
    sys.exit(0 if done.wasSuccessful() else 1)


main()
