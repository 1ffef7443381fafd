#!/usr/bin/python3
"""Programs that `refrain proxy` writes are configured and built as their users do, without a warning.

    builds.py --samples build/release/tests/proxy/samples --mpi mpich [--compilers g++,clang++] [--only texts,old_names]

The samples are made of traces put together by hand, whose texts (names of communicators, paths, modules) would like to
be code. Exit status: 0, 1, 77.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
WRAPPERS = {"mpich": ("mpicxx.mpich", "MPICH_CXX"), "openmpi": ("mpicxx.openmpi", "OMPI_CXX")}


def run(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=600, **more)
    return done.returncode, done.stdout.decode(errors="replace")


def build(source, folder, mpi, compiler):
    wrapper, variable = WRAPPERS[mpi]
    env = {**os.environ, "CXX": wrapper, variable: compiler}
    status, text = run(["cmake", "-S", source, "-B", folder, "-DCMAKE_BUILD_TYPE=Debug"], env=env)
    if status == 0:
        status, text = run(["cmake", "--build", folder], env=env)
    if status != 0:
        return text[-2000:]
    if "warning" in text:
        return text[text.index("warning") - 200:][:1500]
    return None if os.path.exists(os.path.join(folder, "proxy")) else "there is no program"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", required=True)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--compilers", default="g++,clang++")
    parser.add_argument("--only")
    options = parser.parse_args()
    compilers = [c for c in options.compilers.split(",") if shutil.which(c)]
    if shutil.which(WRAPPERS[options.mpi][0]) is None or not compilers:
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory(prefix="refrain-proxy-") as folder:
        status, text = run([os.path.abspath(options.samples), folder])
        if status != 0:
            print("FAILED   %s: %s" % (options.samples, text))
            return 1
        for name in sorted(os.listdir(folder)):
            if options.only and name not in options.only.split(","):
                continue
            for compiler in compilers:
                wrong = build(os.path.join(folder, name), os.path.join(folder, name, "build." + compiler),
                              options.mpi, compiler)
                failed += 0 if wrong is None else 1
                print("%s %s with %s%s" % ("good    " if wrong is None else "FAILED  ", name, compiler,
                                           "" if wrong is None else ": " + wrong), flush=True)
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
