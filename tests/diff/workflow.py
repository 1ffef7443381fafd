#!/usr/bin/python3
"""The commands of examples/ci/communication.yml, step by step, as GitHub's runner starts them: on a program that
is as it was, and on one that communicates something else. Installing packages is left out.

    workflow.py --refrain build/refrain --programs DIR --libraries DIR [--shim yield_shim.so]
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
WORKFLOW = os.path.join(HERE, "..", "..", "examples", "ci", "communication.yml")
CROSSED = 3
options = None


def steps():
    """[(name, whether it runs after a failure, script)] of the steps that run something."""
    out, name, always, block = [], None, False, None
    with open(WORKFLOW, encoding="utf-8") as file:
        for line in file:
            depth, text = len(line) - len(line.lstrip()), line.strip()
            if block is not None and (not text or depth > block):
                out[-1][2].append(text)
                continue
            block = None
            if text.startswith("- "):
                name, always = text[2:].partition("name: ")[2], False
            elif text == "if: always()":
                always = True
            elif text.startswith("run: "):
                script = text[len("run: "):]
                out.append((name, always, [] if script == "|" else [script]))
                block = depth if script == "|" else None
    return [(name, always, "\n".join(script)) for name, always, script in out]


class Workflow(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="refrain-workflow-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.mkdir(os.path.join(self.folder, "tests"))
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(options.refrain, os.path.join(self.folder, "bin", "refrain"))

    def run_steps(self, program):
        """{name: (exit status, output)}; after a failure only those that always run."""
        with open(os.path.join(self.folder, "Makefile"), "w", encoding="utf-8") as file:
            file.write("all:\n\tcp %s app\n" % os.path.join(options.programs, program))
        for name in ("run.rfn", "refrain.xml", "refrain.html"):
            if os.path.exists(os.path.join(self.folder, name)):
                os.remove(os.path.join(self.folder, name))
        env = dict(os.environ, PATH=os.path.join(self.folder, "bin") + ":" + os.environ["PATH"],
                   REFRAIN_LIBRARY_PATH=options.libraries, UCX_TLS="self,sm", UCX_LOG_LEVEL="error",
                   MPIR_CVAR_NOLOCAL="1", LD_PRELOAD=options.shim)
        done, failed = {}, False
        for name, always, script in steps():
            if "sudo" in script or (failed and not always):
                continue
            script = script.replace("./app --steps 20", "./app 20 64")
            result = subprocess.run(["bash", "-e", "-c", script], cwd=self.folder, env=env, timeout=120,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    check=False)
            done[name] = result.returncode, result.stdout.decode(errors="replace")
            failed = failed or result.returncode != 0
        return done

    def test_every_step(self):
        self.assertGreaterEqual(len(steps()), 5)
        first = self.run_steps("changes")  # there is no baseline yet
        self.assertEqual(first["Record a test"][0], 0, first)
        self.assertNotEqual(first["Compare with the baseline"][0], 0)
        shutil.copy(os.path.join(self.folder, "run.rfn"), os.path.join(self.folder, "tests", "baseline.rfn"))
        for program, status, failures in (("changes", 0, "0"), ("changes_later", CROSSED, None)):
            done = self.run_steps(program)
            self.assertEqual({name: code for name, (code, _) in done.items() if code != 0},
                             {"Compare with the baseline": status} if status else {}, done)
            self.assertIn("Write the results as a test report and a page", done)
            suites = xml.parse(os.path.join(self.folder, "refrain.xml")).getroot()
            if failures is None:
                self.assertGreater(int(suites.get("failures")), 0)
                self.assertIn("MPI_Bcast", done["Compare with the baseline"][1])
            else:
                self.assertEqual(suites.get("failures"), failures)
            with open(os.path.join(self.folder, "refrain.html"), encoding="utf-8") as file:
                self.assertIn("</html>", file.read())


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True, type=os.path.abspath)
    parser.add_argument("--programs", required=True, type=os.path.abspath)
    parser.add_argument("--libraries", required=True, type=os.path.abspath)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    if not shutil.which("mpiexec.mpich") or not shutil.which("make"):
        print("skip  mpiexec.mpich or make is not there")
        return 77
    program = unittest.main(argv=[sys.argv[0]], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
