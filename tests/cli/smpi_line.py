#!/usr/bin/python3
"""How `refrain record` is used with smpirun, and what it says where it cannot work.

    smpi_line.py --refrain build/refrain --programs build/tests/programs/smpi --libraries build/src/tracer
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import smpi  # noqa: E402

RANKS = 4
UNSUPPORTED, USAGE = 5, 2
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAIL  %s" % what)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--programs", "--libraries"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    options = parser.parse_args()
    ring, computes, pauses = (os.path.join(options.programs, n) for n in ("ring", "computes", "pauses"))
    with tempfile.TemporaryDirectory(prefix="refrain-smpi-line-") as folder:
        trace = os.path.join(folder, "t.rfn")
        environment = dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries)
        environment.pop("REFRAIN_SPOOL", None)

        def info():
            done = subprocess.run([options.refrain, "info", "--format", "json", trace], stdout=subprocess.PIPE,
                                  check=True)
            return json.loads(done.stdout)

        def start(words=(), settings=(), program=(ring, "2")):
            """One run; True when a trace is there afterwards."""
            if os.path.exists(trace):
                os.unlink(trace)
            wrapper = [options.refrain, "record", "-o", trace] + list(words)
            done = smpi.run(smpi.command_line(RANKS, list(program), wrapper, folder, settings), 60,
                            environment)
            return done, os.path.exists(trace)

        done, there = start()
        expect(done.status == 0 and there, "a plain run: %d, %s" % (done.status, done.output))
        said = info()
        expect(said["program"] == ring, "the program is %s" % said["program"])
        expect(said["command"] == ring + " 2", "the command is %s" % said["command"])
        expect(said["mpi"] == "smpi" and said["ranks"] == RANKS, "info: %s" % said)
        expect(os.listdir(folder).count("t.rfn.spool") == 0, "a spool was left")
        for words, settings, says in (
                ((), ("smpi/privatization:dlopen",), "privatization:mmap"),
                (("--buffers", "on"), (), "--buffers"),
                (("--posix", "on"), (), "--posix"),
                (("--spool", folder), (), "no spool under SMPI")):
            done, there = start(words, settings)
            expect(done.status == UNSUPPORTED and not there and says in done.output,
                   "%s %s: %d, %s" % (words, settings, done.status, done.output))
        done, there = start((), ("smpi/privatization:no",))
        expect(done.status == 0 and there, "without privatization: %d, %s" % (done.status, done.output))
        # What the program computes is simulated when the next MPI call begins, and is no part of it.
        start((), ("smpi/simulate-computation:yes", "smpi/host-speed:10Gf"), (computes,))
        expect(info()["in_mpi_ns"] < info()["outside_ns"] / 2, "computation counts as MPI: %s" % info())
        start((), (), (pauses,))
        said = info()
        groups = [(g["ranks"], g["calls_per_rank"]) for g in said["groups"]]
        expect(groups == [("0, 2, 3", 9), ("1", 4)], "a pause of one rank: %s" % groups)
        expect([loss["calls"] for loss in said["losses"]] == [5], "a pause of one rank: %s" % said["losses"])
        before = subprocess.run([options.refrain, "record", "smpirun", "-np", "4", "./x"], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        expect(before.returncode == USAGE and b"smpirun -wrapper 'refrain record'" in before.stdout,
               "in front of smpirun: %d, %s" % (before.returncode, before.stdout))
    if not failures:
        print("all good")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
