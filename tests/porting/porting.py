#!/usr/bin/python3
"""What is said of an MPI that cannot be used, and what a recorder asks of the system that it is loaded on.

    porting.py --source DIR --refrain build/refrain --cmake cmake --mpi mpich=/usr/bin/mpicc.mpich ... \
               --recorder build/src/tracer/librefrain-mpich.so ...
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

NOT_SUPPORTED = 5
NEWEST_C_LIBRARY = (2, 36)  # of Debian 12


class Broken(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Broken(" ".join(str(w) for w in what))


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **more)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class Test:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.mpis = dict(pair.split("=", 1) for pair in options.mpi)

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def one_line(self, done, status, *parts):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        expect(done.returncode == status, "exit status", done.returncode, "not", status, lines)
        expect(len(lines) == 1, "not one line:", lines)
        for part in parts:
            expect(part in lines[0], part, "is not in:", lines[0])

    # -- an mpi.h --

    def generate(self, include, *more):
        script = os.path.join(self.options.source, "tools/gen/gen_wrappers.py")
        tables = os.path.join(self.options.source, "spec/mpi")
        return run([sys.executable, script, "--spec", tables, "--out", self.at("generated"), "--compiler",
                    self.options.cxx + " -I" + include, *more])

    def header_that_does_not_parse(self):
        write(self.at("broken/mpi.h"), "#error this is no mpi.h\n")
        self.one_line(self.generate(self.at("broken")), NOT_SUPPORTED, self.at("broken"), "this is no mpi.h")
        self.one_line(self.generate(self.at("nowhere")), NOT_SUPPORTED, self.at("nowhere"), "mpi.h")

    def header_of_something_else(self):
        write(self.at("other/mpi.h"), "int something(void);\n")
        self.one_line(self.generate(self.at("other")), NOT_SUPPORTED, self.at("other"), "MPI_Init")

    def strict_build_names_what_is_new(self):
        text = "typedef int MPI_Comm; int MPI_Init(int *a, char ***b); int MPIX_New(MPI_Comm c);\n"
        write(self.at("new/mpi.h"), text)
        self.one_line(self.generate(self.at("new"), "--strict"), NOT_SUPPORTED, "MPIX_New")
        done = self.generate(self.at("new"))
        expect(done.returncode == 0, done.stderr)

    # -- a compiler wrapper --

    def configure(self, mpicc):
        """What cmake says, as one line, when that wrapper is named by hand."""
        shutil.rmtree(self.at("configure"), ignore_errors=True)
        done = run([self.options.cmake, "-S", self.options.source, "-B", self.at("configure"),
                    "-DREFRAIN_TESTS=OFF", "-DREFRAIN_WITH_PYTHON=OFF", "-DREFRAIN_MPICC_mpich=" + mpicc])
        expect(done.returncode != 0, "cmake took", mpicc)
        return " ".join(done.stderr.split())

    def wrapper_that_is_not_there(self):
        said = self.configure(self.at("no_mpicc"))
        expect("REFRAIN_MPICC_mpich=" + self.at("no_mpicc") + ": no such file" in said, said)

    def wrapper_of_another_mpi(self):
        if "openmpi" in self.mpis:
            said = self.configure(self.mpis["openmpi"])
            expect(self.mpis["openmpi"] + " is of openmpi" in said, said)

    def library_without_header(self):
        line = "gcc -I%s -L/usr/lib -lmpich" % self.at("empty/include")
        fake = write(self.at("fake/mpicc"), "#!/bin/sh\n[ \"$1\" = -show ] && echo '%s'\n" % line, 0o755)
        said = self.configure(fake)
        expect("its mpi.h is not (looked in " + self.at("empty/include") in said, said)

    # -- a program --

    def program_of_two_mpis(self):
        if not {"mpich", "openmpi"} <= set(self.mpis):
            return
        source = write(self.at("two.c"), "int main(void) { return 0; }\n")
        program = self.at("two")
        done = run(["cc", "-o", program, source, "-Wl,--no-as-needed", "-l:libmpich.so.12", "-l:libmpi.so.40"])
        expect(done.returncode == 0, done.stderr)
        done = run([self.options.refrain, "record", "-o", self.at("two.rfn"), program])
        self.one_line(done, NOT_SUPPORTED, program, "libmpich.so.12", "libmpi.so.40", "two MPIs")

    def no_recorder(self):
        program = self.at("plain")
        mpi, mpicc = next(iter(self.mpis.items()))
        done = run([mpicc, "-o", program, write(self.at("plain.c"), "#include <mpi.h>\nint main(int n, char **v) "
                                                "{ return MPI_Init(&n, &v) || MPI_Finalize(); }\n")])
        expect(done.returncode == 0, done.stderr)
        os.makedirs(self.at("bin"), exist_ok=True)
        alone = shutil.copy(self.options.refrain, self.at("bin/refrain"))
        done = run([alone, "record", "-o", self.at("plain.rfn"), program])
        self.one_line(done, NOT_SUPPORTED, "librefrain-%s.so" % mpi, self.at("bin"), "REFRAIN_LIBRARY_PATH")

    # -- a recorder --

    def recorders_load_on_older_systems(self):
        for recorder in self.options.recorder:
            done = run(["readelf", "--version-info", "--wide", recorder])
            expect(done.returncode == 0, done.stderr)
            needed = {tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_(\d+\.\d+)", done.stdout)}
            expect(needed and max(needed) <= NEWEST_C_LIBRARY, recorder, "needs glibc", max(needed, default=0))
            expect("GLIBCXX" not in done.stdout, recorder, "needs a C++ library")


PARTS = ("header_that_does_not_parse", "header_of_something_else", "strict_build_names_what_is_new",
         "wrapper_that_is_not_there", "wrapper_of_another_mpi", "library_without_header",
         "program_of_two_mpis", "no_recorder", "recorders_load_on_older_systems")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("source", "refrain", "cmake", "cxx"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--recorder", action="append", default=[])
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="refrain-porting-") as folder:
        test = Test(options, folder)
        for part in PARTS:
            try:
                getattr(test, part)()
                print("pass ", part)
            except (Broken, subprocess.TimeoutExpired) as e:
                failed += 1
                print("FAIL ", part, e)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
