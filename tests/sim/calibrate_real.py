#!/usr/bin/python3
"""refrain calibrate on a real MPI: it ends, and simulate reads what it wrote. No value is asserted.

    calibrate_real.py --refrain build/release/refrain --mpi mpich

Exit status: 0, 1, or 77 where the MPI cannot be started.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

HEAT = os.path.join(HERE, "..", "corpus", "heat-1.5-exact.rfn")
SKIPPED = 77


def warns_of_one_core(refrain, folder):
    """Two ranks on one core, which those of this MPI give away while they wait: a warning, and in the file."""
    cores = os.sched_getaffinity(0)
    machine = os.path.join(folder, "one_core.toml")
    command = [refrain, "calibrate", "--repeats", "2", "--max-bytes", "1K", "--format", "json", "-o", machine]
    os.sched_setaffinity(0, {min(cores)})
    os.environ["OMPI_MCA_hwloc_base_binding_policy"] = "none"
    try:
        ran = mpirun.run_job("openmpi", 2, command, 120, cwd=folder)
    finally:
        os.sched_setaffinity(0, cores)
        del os.environ["OMPI_MCA_hwloc_base_binding_policy"]
    with open(machine, encoding="utf-8") as text:
        told = "lost their cores" in text.read()
    os.remove(machine)
    said = b"lost their cores" in ran.stderr and b"wait for each other's turn" in ran.stderr
    found = json.loads(ran.stdout)["distances"][0]
    if ran.status == 0 and said and told and found["is_disturbed"] and found["cores_taken"] > 100:
        return True
    print("two ranks on one core: exit %s, warning %s, in the file %s, %s\n%s"
          % (ran.status, said, told, found, ran.stderr.decode()))
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True)
    options = parser.parse_args()
    refrain = os.path.abspath(options.refrain)
    if not mpirun.startable(options.mpi):
        print("%s cannot be started here" % options.mpi)
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="refrain-calibrate-") as folder:
        machine = os.path.join(folder, "m.toml")
        command = [refrain, "calibrate", "--repeats", "2", "--max-bytes", "64K", "-o", machine, "--raw",
                   os.path.join(folder, "raw.jsonl")]
        ran = mpirun.run_job(options.mpi, 2, command, 120, cwd=folder)
        if ran.status != 0 or not os.path.exists(machine):
            print("calibrate: exit %s\n%s\n%s" % (ran.status, ran.stdout.decode(), ran.stderr.decode()))
            return 1
        with open(machine, encoding="utf-8") as text:
            written = text.read()
        print(written)
        if written.count("\n[self]\n") != 1:
            print("calibrate has not measured what ranks send to themselves")
            return 1
        left = sorted(os.listdir(folder))
        if left != ["m.toml", "raw.jsonl"]:
            print("calibrate leaves %s" % left)
            return 1
        if options.mpi == "openmpi" and not warns_of_one_core(refrain, folder):
            return 1
        ran = mpirun.run_job(options.mpi, 2, command, 30, cwd=folder)
        if ran.status != 2 or b"already exists" not in ran.stderr:
            print("calibrate over a file: exit %s\n%s" % (ran.status, ran.stderr.decode()))
            return 1
        done = subprocess.run([refrain, "simulate", HEAT, "--machine", machine, "--format", "json"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or json.loads(done.stdout)["predicted_ns"] <= 0:
            print("simulate: exit %d: %s" % (done.returncode, done.stderr))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
