#!/usr/bin/python3
"""Random datatypes: mpi::TypeMap against the MPI's own MPI_Pack and MPI_Unpack (against_mpi.cc).

    typemap.py --mpi mpich --program typemap_mpich [--shim yield_shim.so]
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shim")
    options = parser.parse_args()
    preload = mpirun.shims(options.mpi, options.shim)
    status = 0
    for seed in ("1", "2", "3"):
        with tempfile.TemporaryDirectory() as folder:
            done = mpirun.run_job(options.mpi, 1, [options.program, seed, "5000"], 60, preload, {}, cwd=folder)
        print(f"seed {seed}: {done.stdout.decode(errors='replace').strip()[-600:]}")
        if done.status != 0:
            print(done.stderr.decode(errors="replace")[-600:], file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
