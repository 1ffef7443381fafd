#!/usr/bin/python3
"""The library that stands in for an MPI has every function of it: a call that it lacked would reach an MPI that was
never started.

    entries.py --library librefrain-solo-mpich.so --mpi-library libmpich.so --spec spec/mpi
               [--fortran libmpichfort.so]...

Left to the MPI are the functions of spec/mpi/exceptions, which start nothing, and Fortran entry points that reach a
function of C. Exit status: 0 good, 1 something is missing.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "gen"))
import fortran  # noqa: E402
import mpi_header  # noqa: E402
import spec  # noqa: E402
from gen_wrappers import is_exception  # noqa: E402

# Written by hand, though the trace does not have them.
OWN = {"MPI_Wtime", "MPI_Wtick"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--library", "--mpi-library", "--spec"):
        parser.add_argument(name, required=True)
    parser.add_argument("--fortran", action="append", default=[])
    args = parser.parse_args()
    ours = mpi_header.exported_names(args.library)
    theirs = {n for n in mpi_header.exported_names(args.mpi_library) if re.fullmatch(r"P?MPIX?_\w+", n)}
    exceptions = spec.read_exceptions(os.path.join(args.spec, "exceptions"))
    missing = sorted(n for n in theirs - ours
                     if n.removeprefix("P") in OWN or not is_exception(n.removeprefix("P"), exceptions))
    calls = spec.with_large(spec.read_calls(os.path.join(args.spec, "calls")))
    points = [n for _, names in fortran.entry_points(args.fortran, list(calls)) for n in names] if args.fortran else []
    missing += [n for n in points if n not in ours]
    foreign = sorted(n for n in ours if n.startswith("_Z"))
    print("%d functions of C, %d entry points of Fortran, %d missing" % (len(theirs), len(points), len(missing)))
    for name in missing[:20]:
        print("missing:", name)
    for name in foreign[:20]:
        print("a symbol of C++ is seen:", name)
    return 1 if missing or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
