#!/usr/bin/python3
"""What `cmake --install` leaves works where it is moved to, and other projects can build against it.

    install.py --build build/release --source . --cxx g++ [--mpi mpich=mpicc.mpich ...] [--shim yield_shim.so]

Installs into DESTDIR, moves the tree elsewhere, builds tests/package/foreign by find_package and by
pkg-config, and the installed examples/reader in both ways as its reader would; runs all of them on the traces
of tests/corpus, and records a program with the installed refrain.
Exit status: 0 all good, 1 something is wrong.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

options = None


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def clean_environment(**more):
    """Nothing of the build tree, and no refrain or MPI settings of the caller."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("REFRAIN_")}
    keep.update(more)
    return keep


def run(words, status=0, **more):
    env = clean_environment(**more.pop("env", {}))
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, env=env, **more)
    expect(done.returncode == status, "%s exits with %d instead of %d: %s", " ".join(words), done.returncode,
           status, (done.stderr + done.stdout).decode(errors="replace")[-2000:])
    return done.stdout.decode()


def cache_value(name):
    with open(os.path.join(options.build, "CMakeCache.txt")) as f:
        for line in f:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    return ""


def install(work):
    """The tree, away from where it was installed to."""
    stage = os.path.join(work, "stage")
    components = ["tool", "reader", "dev"] + ["recorder-" + mpi for mpi in options.mpis]
    components += ["python"] if options.python else []
    for component in components:
        run(["cmake", "--install", options.build, "--component", component], env={"DESTDIR": stage})
    prefix = cache_value("CMAKE_INSTALL_PREFIX")
    moved = os.path.join(work, "moved")
    shutil.move(os.path.join(stage, prefix.lstrip("/")), moved)
    left = [f for _, _, files in os.walk(stage) for f in files]
    expect(not left, "installed outside of the prefix: %s", left)
    return moved


def one(root, pattern):
    found = glob.glob(os.path.join(root, pattern), recursive=True)
    expect(len(found) == 1, "%s is there %d times below %s", pattern, len(found), root)
    return found[0]


def check_files(root):
    if options.mpis:  # else there is nothing to record
        one(root, "**/refrain/librefrain-heap.so")
        one(root, "**/refrain/librefrain-posix.so")
        one(root, "**/refrain/librefrain-cluster.so")
        one(root, "**/refrain/librefrain-wtime.so")
    for pattern in ("bin/refrain", "**/librefrain-reader.so", "include/refrain/result.h",
                    "**/RefrainConfig.cmake", "**/RefrainConfigVersion.cmake", "**/refrain.pc",
                    "share/man/man1/refrain.1", "share/man/man1/refrain-record.1",
                    "share/bash-completion/completions/refrain", "share/doc/refrain/README.md"):
        one(root, pattern)
    for mpi in options.mpis:
        one(root, "**/refrain/librefrain-%s.so" % mpi)
        if mpi in ("mpich", "openmpi"):
            one(root, "**/refrain/librefrain-solo-%s.so" % mpi)
    for folder, _, files in os.walk(root):
        for name in files:
            if name.endswith((".cmake", ".pc")):
                with open(os.path.join(folder, name)) as f:
                    text = f.read()
                for place in (options.source, options.build):
                    expect(place not in text, "%s names the folder %s", name, place)
    shown = run(["nm", "-DC", "--defined-only", one(root, "**/librefrain-reader.so")])
    names = [line.split(" ", 2)[2] for line in shown.splitlines() if "refrain::" in line]
    expect(len(names) > 50, "the library shows %d functions only", len(names))
    inner = [n for n in names if n.startswith(("refrain::format::", "refrain::reader::", "refrain::base::"))]
    expect(not inner, "the library shows what is behind the headers: %s", inner[:3])
    # Whatever C++ of theirs the program could see would take the place of functions of its libraries.
    preloaded = glob.glob(os.path.join(root, "**/refrain/librefrain-*.so"), recursive=True)
    expect(preloaded, "no recorder")
    for library in preloaded:
        shown = run(["nm", "-D", "--defined-only", library]).splitlines()
        mangled = [line for line in shown if " _Z" in line]
        expect(not mangled, "%s shows symbols of C++: %s", os.path.basename(library), mangled[:3])


def check_headers(root, work):
    for header in sorted(glob.glob(os.path.join(root, "include/refrain/*.h"))):
        source = os.path.join(work, "header.cc")
        with open(source, "w") as f:
            f.write("#include <refrain/%s>\n" % os.path.basename(header))
        run([options.cxx, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(
            root, "include"), source])


def build_by_cmake(root, work):
    folder = os.path.join(work, "by_cmake")
    run(["cmake", "-S", os.path.join(HERE, "foreign"), "-B", folder, "-DCMAKE_PREFIX_PATH=" + root,
         "-DCMAKE_CXX_COMPILER=" + options.cxx])
    run(["cmake", "--build", folder])
    too_new = os.path.join(work, "too_new")
    shutil.copytree(os.path.join(HERE, "foreign"), too_new)
    lists = os.path.join(too_new, "CMakeLists.txt")
    with open(lists) as f:
        text = f.read()
    with open(lists, "w") as f:
        f.write(text.replace("Refrain 0.1", "Refrain 9.0"))
    run(["cmake", "-S", too_new, "-B", os.path.join(too_new, "build"), "-DCMAKE_PREFIX_PATH=" + root,
         "-DCMAKE_CXX_COMPILER=" + options.cxx], status=1)
    return os.path.join(folder, "foreign"), {}


def build_by_pkg_config(root, work):
    out = os.path.join(work, "by_pkg_config")
    env = {"PKG_CONFIG_PATH": os.path.dirname(one(root, "**/refrain.pc"))}
    flags = run(["pkg-config", "--cflags", "--libs", "refrain"], env=env).split()
    expect(run(["pkg-config", "--modversion", "refrain"], env=env).strip() == cache_value("CMAKE_PROJECT_VERSION"),
           "pkg-config has another version")
    run([options.cxx, "-std=c++20", "-o", out, os.path.join(HERE, "foreign/main.cc")] + flags)
    return out, {"LD_LIBRARY_PATH": os.path.dirname(one(root, "**/librefrain-reader.so"))}


def check_example(root, work):
    """examples/reader, out of the installed documents: by CMake, and by its Makefile with pkg-config."""
    source = os.path.join(work, "reader")
    shutil.copytree(os.path.dirname(one(root, "share/doc/refrain/examples/reader/CMakeLists.txt")), source)
    run(["cmake", "-S", source, "-B", os.path.join(source, "build"), "-DCMAKE_PREFIX_PATH=" + root,
         "-DCMAKE_CXX_COMPILER=" + options.cxx])
    run(["cmake", "--build", os.path.join(source, "build")])
    run(["make", "-C", source, "CXX=" + options.cxx],
        env={"PKG_CONFIG_PATH": os.path.dirname(one(root, "**/refrain.pc"))})
    libraries = {"LD_LIBRARY_PATH": os.path.dirname(one(root, "**/librefrain-reader.so"))}
    trace = os.path.join(options.source, "tests/corpus/heat-1.2-exact.rfn")
    matrix = json.loads(run([os.path.join(root, "bin/refrain"), "matrix", "--format", "json", trace]))
    for program, env in ((os.path.join(source, "build/who_sends"), {}), (os.path.join(source, "who_sends"), libraries)):
        lines = run([program, trace], env=env).splitlines()
        sent = sum(int(line.split()[2]) for line in lines)
        expect(len(lines) == 4 and sent == matrix["messages"] > 0, "%s says %s", program, lines)
        run([program, os.path.join(options.source, "README.md")], status=1, env=env)


def check_reads(program, env, refrain):
    traces = sorted(glob.glob(os.path.join(options.source, "tests/corpus/*.rfn")))
    expect(len(traces) > 3, "only %d traces in tests/corpus", len(traces))
    for trace in traces:
        found = json.loads(run([program, trace], env=env))
        info = json.loads(run([refrain, "info", "--format", "json", trace]))
        profile = json.loads(run([refrain, "profile", "--format", "json", trace]))
        counts = {f["call"]: f["count"] for f in profile["functions"] if f["count"]}
        expect(found["calls"] == info["calls"] and found["ranks"] == found["world"] == info["ranks"] and
               found["functions"] == counts and found["to_itself"] == 0,
               "%s reads %s: %s", program, trace, found)
    damaged = os.path.join(os.path.dirname(program), "damaged.rfn")
    with open(traces[0], "rb") as source, open(damaged, "wb") as f:
        f.write(source.read()[:-20])
    run([program, damaged], status=1, env=env)


def check_python(root):
    """The package is imported from where the tree was moved to, and from nowhere else."""
    module = one(root, "**/refrain/_refrain.*.so")
    folder = os.path.dirname(os.path.dirname(module))
    for file in ("__init__.py", "__init__.pyi", "tables.py", "py.typed"):
        one(os.path.join(folder, "refrain"), file)
    for trace in glob.glob(os.path.join(options.source, "tests/corpus/*.rfn")):
        said = run([options.python, "-B", "-c", "import refrain, sys; trace = refrain.open(sys.argv[1])\n"
                    "print(refrain.__file__, trace.call_count)", trace], env={"PYTHONPATH": folder}, cwd="/")
        info = json.loads(run([os.path.join(root, "bin/refrain"), "info", "--format", "json", trace]))
        expect(said.split() == [os.path.join(folder, "refrain/__init__.py"), str(info["calls"])],
               "import refrain says %s", said)


def has_numpy(python):
    return subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def check_records(root, work, mpi, mpicc):
    refrain, program = os.path.join(root, "bin/refrain"), os.path.join(work, "heat." + mpi)
    trace = os.path.join(work, mpi + ".rfn")
    run([mpicc, "-std=c11", "-O1", "-g", "-o", program, one(root, "share/doc/refrain/examples/heat/heat.c"), "-lm"])
    os.environ.pop("REFRAIN_LIBRARY_PATH", None)
    preload = mpirun.shims(mpi, options.shim)
    for words in ([], ["--buffers", "on"]):
        job = mpirun.run_job(mpi, 2, [refrain, "record", "-o", trace] + words + ["--", program], 120, preload,
                             cwd=work)
        expect(job.status == 0, "recording with the installed refrain exits with %d: %s", job.status,
               job.stderr.decode()[-500:])
        info = json.loads(run([refrain, "info", "--format", "json", trace]))
        expect(info["ranks"] == 2 and info["complete"] and info["calls"] > 1000, "info is %s", info)
    library = one(root, "**/librefrain-%s.so" % mpirun.word(mpi))
    os.rename(library, library + ".away")
    try:
        job = mpirun.run_job(mpi, 1, [refrain, "record", "-o", trace, program], 60, preload, cwd=work)
        expect(job.status != 0 and b"no librefrain-%s.so" % mpirun.word(mpi).encode() in job.stderr,
               "without its recorder refrain exits with %d and says %s", job.status, job.stderr[-300:])
    finally:
        os.rename(library + ".away", library)


def check_all(work):
    root = install(work)
    refrain = os.path.join(root, "bin/refrain")
    check_files(root)
    check_headers(root, work)
    for build in (build_by_cmake, build_by_pkg_config):
        program, env = build(root, work)
        check_reads(program, env, refrain)
        print("good  " + build.__name__)
    check_example(root, work)
    print("good  examples/reader")
    if options.python and has_numpy(options.python):
        check_python(root)
        print("good  import refrain")
    recorded = 0
    for name, mpicc in options.mpis.items():
        for mpi in mpirun.startable(name):
            check_records(root, work, mpi, mpicc)
            print("good  record under " + mpi)
            recorded += 1
    if not recorded:
        print("skip  no MPI: nothing was recorded")


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=os.path.abspath)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--mpi", action="append", default=[], metavar="MPI=MPICC")
    parser.add_argument("--shim", default="")
    parser.add_argument("--python", default="", help="the interpreter that the Python package is for")
    options = parser.parse_args()
    options.mpis = dict(word.split("=", 1) for word in options.mpi)
    with tempfile.TemporaryDirectory(prefix="refrain-install-") as work:
        try:
            check_all(work)
        except Failure as failure:
            print("FAIL  %s" % failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
