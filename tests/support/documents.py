"""What tests of documents share: their command lines, and the tools of a reader who types the commands."""
import argparse
import os
import shlex

import mpirun

SKIPPED = 77  # exit status: no MPI


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def blocks(text):
    """The lines inside of fences, each with the language that its fence names."""
    inside, language = False, ""
    for line in text.splitlines():
        if line.startswith("```"):
            inside, language = not inside, line.strip("` ")
        elif inside:
            yield language, line


def script(path, words, search=None):
    """A program that runs the words; with another PATH where the one that they mean has its name."""
    path_of = "PATH=%s " % shlex.quote(search) if search else ""
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n%sexec %s \"$@\"\n" % (path_of, " ".join(shlex.quote(w) for w in words)))
    os.chmod(path, 0o755)


def read_options(what, *paths):
    """The options of a test of `what`, or None where the MPI has no launcher."""
    parser = argparse.ArgumentParser(description=what)
    for name in ("--source", *paths):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--mpicc", required=True)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    options.shim = os.path.abspath(options.shim) if options.shim else ""
    if mpirun.launcher(options.mpi):
        return options
    print("skip  %s has no launcher here" % options.mpi)
    return None
