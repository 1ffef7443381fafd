#!/usr/bin/python3
"""Call paths of mpi4py programs are those that the programs write down themselves.

    frames.py --refrain build/refrain --libraries build/src/tracer --shim yield.so
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

PYTHON, SKIPPED = "/usr/bin/python3", 77
options = None


def record(folder, name, *extra, ranks=2, status=0):
    """The calls that `dump` shows, those that the program wrote down, and what `info` says."""
    out = os.path.join(folder, name + "".join(extra) + ".rfn")
    wrapper = [options.refrain, "record", "-o", out, *extra]
    log = os.path.join(folder, name + ".log")
    done = mpirun.run_job("openmpi", ranks, [PYTHON, os.path.join(HERE, name + ".py"), log], 60,
                          [options.shim] if options.shim else [],
                          {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "1"}, wrapper=wrapper)
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
                self.assertEqual([steps(c) for c in calls if c["rank"] == rank and c["call"] == name],
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
    for name in ("--refrain", "--libraries"):
        parser.add_argument(name, required=True)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode != 0:
        print("skipped: mpi4py is not there")
        sys.exit(SKIPPED)
    done = unittest.main(argv=[sys.argv[0]], exit=False).result
    sys.exit(0 if done.wasSuccessful() else 1)


main()
