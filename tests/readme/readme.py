#!/usr/bin/python3
"""The commands of README.md and docs/ work as they stand there: from the build folder, README's also as installed.

    readme.py --source . --build build/release --mpi mpich --mpicc mpicc.mpich [--shim yield_shim.so]

Every line of a block that starts a launcher or `refrain` is run, in order, with a program of its own as ./app.
Exit status: 0 all good, 1 something is wrong, 77 no MPI.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "support")
sys.path.insert(0, SUPPORT)
import documents  # noqa: E402
from documents import Failure, expect  # noqa: E402

# docs/tutorial.md has a test of its own, tests/tutorial.
DOCUMENTS = ("README.md", "docs/recording.md", "docs/verbs.md", "docs/iterations.md", "docs/diff.md",
             "docs/trace_profiling.md", "docs/convert.md", "docs/clusters.md")
LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi")
# What a line may exit with beside 0: a threshold was crossed, or the trace is incomplete but was read.
MAY_EXIT = {"diff": (0, 3), "recover": (0, 4), "convert": (0, 5)}  # a format whose library is not here
# Said in the text of the documents and not in their blocks.
ALSO = ("mpiexec -n 4 refrain record --buffers on ./app", "mpiexec -n 4 refrain record --functions on ./app",
        "mpiexec -n 4 refrain record --totals off --quiet ./app",
        "mpiexec -n 4 refrain record --timing exact --clock-interval 1min ./app",
        "refrain help record", "refrain info run.rfn", "refrain stats run.rfn", "refrain check run.rfn",
        "refrain convert run.rfn --to csv -o run.csv", "refrain convert run.rfn --to otf2 -o run.otf2")


def commands(text):
    """The lines of the blocks that a user would type, without their remarks; on as many ranks as this machine bears."""
    found = []
    for language, line in documents.blocks(text):
        line = re.sub(r"\s+#.*$", "", line.removeprefix("$ ")).strip()
        if not language and line.split(" ")[0] in (*LAUNCHERS, "refrain", "./refrain"):
            found.append(re.sub(r" -n 64 ", " -n 4 ", re.sub(r"\s*&&.*$", "", line)))
    return found


class Place:
    """A folder in which the lines of the documents can be typed."""

    def __init__(self, options, folder, refrain):
        self.options, self.folder = options, folder
        tools, launchers = os.path.join(folder, "bin"), os.path.join(folder, "launchers")
        for new in (tools, launchers, os.path.join(folder, "build")):
            os.makedirs(new)
        search = tools + ":" + os.environ["PATH"]
        preload = ["--preload", options.shim] if options.mpi == "mpich" and options.shim else []
        for name in LAUNCHERS:
            words = [sys.executable, os.path.join(SUPPORT, "mpirun.py"), "--mpi", options.mpi, "--timeout", "60",
                     *preload]
            documents.script(os.path.join(launchers, name), words, search)
        # As `./dev build` makes it: a link.
        os.symlink(refrain, os.path.join(tools, "refrain"))
        os.symlink(refrain, os.path.join(folder, "refrain"))
        shutil.copy(os.path.join(HERE, "app.py"), folder)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("REFRAIN_")}
        self.env["PATH"] = launchers + ":" + search
        self.compile("app", os.path.join(HERE, "app.c"))
        self.compile("build/heat", os.path.join(options.source, "examples/heat/heat.c"))

    def compile(self, name, source):
        include = os.path.join(self.options.source, "include")
        words = [*shlex.split(self.options.mpicc), "-std=c11", "-g", "-O1", "-I", include,
                 "-o", os.path.join(self.folder, name), source, "-lm", "-ldl"]
        done = subprocess.run(words, capture_output=True, timeout=120, check=False)
        expect(done.returncode == 0, "%s cannot be compiled: %s", source, done.stderr.decode(errors="replace")[-500:])

    def run(self, line, allowed=(0,)):
        try:
            done = subprocess.run(["sh", "-c", line], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=100, check=False)
        except subprocess.TimeoutExpired:
            raise Failure("`%s` does not end" % line) from None
        expect(done.returncode in allowed, "`%s` exits with %d: %s", line, done.returncode,
               (done.stderr or done.stdout).decode(errors="replace")[-500:])

    def copy(self, source, *names):
        for name in names:
            shutil.copy(os.path.join(self.folder, source), os.path.join(self.folder, name))

    def forget_output(self, line):
        """The documents have several ways to one file, of which a user takes one."""
        for name in re.findall(r" -o (\S+)", line):
            path = os.path.join(self.folder, name)
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)

    def dead_job(self):
        """run.rfn.spool, of a run that died."""
        for old in glob.glob(os.path.join(self.folder, "run*")):
            os.unlink(old) if os.path.isfile(old) else shutil.rmtree(old)
        subprocess.run(["sh", "-c", "mpiexec -n 4 refrain record ./app die"], cwd=self.folder, env=self.env,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=100, check=False)


def can_run(options, line):
    if "app.py" not in line:
        return True
    done = subprocess.run([sys.executable, "-c", "from mpi4py import MPI; print(MPI.Get_library_version())"],
                          capture_output=True, timeout=60, check=False)
    return done.returncode == 0 and (b"Open MPI" in done.stdout) == (options.mpi == "openmpi")


def verb_of(line):
    words = line.split()
    if words[0] in LAUNCHERS:
        return "record"
    return words[1]


def told_by(options, documents):
    told = []
    for document in documents:
        with open(os.path.join(options.source, document), encoding="utf-8") as f:
            lines = commands(f.read())
        expect(lines, "%s has no commands", document)
        told += [line for line in lines if line not in told]
    return told


def try_all(options, folder, refrain, told):
    place = Place(options, folder, refrain)
    place.run("mpiexec -n 4 ./refrain record --timing exact --posix on -o run.rfn ./app")
    place.copy("run.rfn", "good.rfn", "good1.rfn", "good2.rfn", "good3.rfn", "before.rfn", "after.rfn")
    count = 0
    for line in told:
        if not can_run(options, line):
            continue
        verb = verb_of(line)
        if verb == "recover":
            place.dead_job()
        elif verb != "record":
            # Each verb has the trace of a run with times and functions of files.
            place.copy("good.rfn", "run.rfn")
            place.forget_output(line)
        place.run(line, MAY_EXIT.get(verb, (0,)))
        count += 1
    return count


def main():
    options = documents.read_options(__doc__.split("\n")[0], "--build")
    if options is None:
        return documents.SKIPPED
    with tempfile.TemporaryDirectory(prefix="refrain-readme-") as work:
        try:
            told = told_by(options, DOCUMENTS) + list(ALSO)
            expect(len(told) >= 50, "the documents have %d commands", len(told))
            built = try_all(options, os.path.join(work, "built"), os.path.join(options.build, "refrain"), told)
            prefix = os.path.join(work, "prefix")
            subprocess.run(["cmake", "--install", options.build, "--prefix", prefix], check=True, capture_output=True)
            installed = try_all(options, os.path.join(work, "installed"), os.path.join(prefix, "bin", "refrain"),
                                told_by(options, ("README.md", "docs/recording.md")))
        except Failure as failure:
            print("FAIL  %s" % failure)
            return 1
    print("good  the documents' commands under %s: %d from the build, %d installed" % (options.mpi, built, installed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
