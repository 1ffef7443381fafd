#!/usr/bin/python3
"""The Debian packages that CPack makes: what is in them, what they depend on, and that they work.

    deb.py --build build/release --source . [--mpi mpich=mpicc.mpich ...] [--shim yield_shim.so]

Installed by dpkg into a root of their own (as root; else unpacked there), never into this machine.
Exit status: 0 all good, 1 something is wrong, 77 this machine makes no Debian packages.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

options = None
SKIPPED = 77
# Paths that a package of ours may use. Libraries: below lib, or Debian's folder of the architecture in it.
LIB = r"lib(/[\w-]+-linux-gnu\w*)?"
PLACES = re.compile(r"^usr/(bin/refrain|LIB/refrain/refrain-(verbs|(replay|calibrate|relay)-\w+)"
                    r"|LIB/refrain/librefrain-[\w-]+\.so"
                    r"|LIB/librefrain-(reader|blackboard(-\w+)?|coupling-\w+)\.so(\.\d+)*"
                    r"|LIB/cmake/Refrain/\w[\w-]*\.cmake|LIB/pkgconfig/refrain\.pc|include/refrain/[\w/]+\.h"
                    r"|share/man/man1/refrain[\w-]*\.1\.gz|share/bash-completion/completions/refrain"
                    r"|lib/python3/dist-packages/refrain/(_refrain[\w.-]*\.so|\w+\.pyi?|py\.typed)"
                    r"|share/doc/(lib|python3-)?refrain[\w.-]*/.+)$".replace("LIB", LIB))


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def run(words, status=0, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("REFRAIN_")}
    env.update(more.pop("env", {}))
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, env=env, **more)
    expect(done.returncode == status, "%s exits with %d instead of %d: %s", " ".join(words), done.returncode,
           status, (done.stderr + done.stdout).decode(errors="replace")[-2000:])
    return done.stdout.decode()


def make_packages(work):
    components = ["tool", "reader", "dev"] + ["recorder-" + mpi for mpi in options.mpis]
    components += ["python"] if options.python else []
    run(["cpack", "--config", os.path.join(options.build, "CPackConfig.cmake"), "-B", work, "-D",
         "CPACK_COMPONENTS_ALL=" + ";".join(components)])
    packages = {}
    for path in glob.glob(os.path.join(work, "*.deb")):
        packages[run(["dpkg-deb", "-f", path, "Package"]).strip()] = path
    expected = {"refrain", "librefrain-dev"} | {"refrain-" + mpi for mpi in options.mpis}
    expected |= {"python3-refrain"} if options.python else set()
    expect(expected <= set(packages) and len(packages) == len(components), "the packages are %s", sorted(packages))
    return packages


def check_control(name, path):
    lines = run(["dpkg-deb", "-f", path]).splitlines()
    fields = dict(line.split(": ", 1) for line in lines if re.match(r"\w", line))
    for field in ("Version", "Architecture", "Maintainer", "Description", "Section", "Depends"):
        expect(fields.get(field), "%s has no %s", name, field)
    architecture = run(["dpkg", "--print-architecture"]).strip()
    expect(fields["Architecture"] == architecture, "%s is for %s", name, fields["Architecture"])
    recorder = ["libc6", "refrain (= ", "libunwind8"]
    needs = {"refrain": ["libc6", "libdw1", "libzstd1"], "refrain-mpich": recorder + ["libmpich"],
             "refrain-openmpi": recorder + ["libopenmpi"], "refrain-smpi": recorder + ["libsimgrid"],
             "refrain-abi": recorder + ["libmpich12 | libopenmpi40"],
             "librefrain-dev": ["librefrain-reader"],
             "python3-refrain": ["libc6", "libdw1", "python3 (>= 3.", "python3 (<< 3.", "python3-numpy"]}
    for need in needs.get(name, ["libc6", "libdw1"]):
        expect(need in fields["Depends"], "%s does not depend on %s: %s", name, need, fields["Depends"])
    if name == "refrain":
        expect("mpi" not in fields["Depends"], "refrain depends on an MPI: %s", fields["Depends"])


def check_files(name, path, seen):
    for line in run(["dpkg-deb", "-c", path]).splitlines():
        mode, owner, _, _, _, file = line.split(None, 5)
        file = file.split(" -> ")[0]
        file = file[2:] if file.startswith("./") else file
        expect(owner == "root/root", "%s: %s belongs to %s", name, file, owner)
        if mode[0] == "d":
            expect(mode == "drwxr-xr-x", "%s: the folder %s is %s", name, file, mode)
            continue
        expect(PLACES.match(file), "%s has the file %s", name, file)
        expect(file not in seen, "%s is in %s and %s", file, name, seen.get(file))
        seen[file] = name
        if mode[0] == "l":
            continue
        # SMPI loads what it runs as a library.
        library = re.search(r"\.so(\.|$)|/refrain-(replay|calibrate|relay)-smpi$", file)
        executable = file.startswith("usr/bin/") or "/refrain/refrain-" in file
        expect(mode == ("-rwxr-xr-x" if executable else "-rw-r--r--") or library and mode[1:4] in ("rw-", "rwx"),
               "%s: %s is %s", name, file, mode)
    for file in ("copyright", "changelog.gz"):
        where = "usr/share/doc/%s/%s" % (name, file)
        expect(seen.get(where) == name, "%s has no %s", name, where)


def install(packages, root):
    """By dpkg, with a database of its own; without its dependencies, which this machine has."""
    os.makedirs(root)
    if os.geteuid() != 0:
        for path in packages.values():
            run(["dpkg-deb", "-x", path, root])
        return
    database = os.path.join(root, "var/lib/dpkg")
    for folder in ("info", "updates", "triggers"):
        os.makedirs(os.path.join(database, folder))
    for file in ("status", "available"):
        with open(os.path.join(database, file), "w"):
            pass
    dpkg = ["dpkg", "--root=" + root, "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    run(dpkg + ["-i"] + sorted(packages.values()))
    shown = run(["dpkg-query", "--admindir=" + database, "-W", "-f", "${Package} ${db:Status-Status}\n"])
    expect(sorted(shown.split("\n")[:-1]) == sorted(n + " installed" for n in packages), "dpkg has %s", shown)
    expect(run(dpkg + ["--verify"]) == "", "dpkg finds files that are not as in the packages")


def check_python(root):
    if not options.python or subprocess.run([options.python, "-c", "import numpy"], check=False,
                                            stderr=subprocess.DEVNULL).returncode != 0:
        return
    folder = os.path.join(root, "usr/lib/python3/dist-packages")
    trace = os.path.join(options.source, "tests/corpus/heat-1.2-exact.rfn")
    said = run([options.python, "-B", "-c", "import refrain, sys; print(refrain.__file__, refrain.open(sys.argv[1]))",
                trace], env={"PYTHONPATH": folder}, cwd="/")
    expect(folder in said and "500 calls of 4 ranks" in said, "import refrain says %s", said)
    print("good  import refrain")


def check_works(root, work):
    refrain = os.path.join(root, "usr/bin/refrain")
    for trace in glob.glob(os.path.join(options.source, "tests/corpus/*.rfn")):
        expect(json.loads(run([refrain, "info", "--format", "json", trace]))["calls"] > 0, "%s has no calls", trace)
    with open(refrain, "rb") as f:
        expect(options.build.encode() not in f.read(), "the executable names the build folder")
    expect(" .symtab" not in run(["readelf", "-SW", refrain]), "the executable is not stripped")
    check_python(root)
    for mpi, mpicc in [(mpi, mpicc) for name, mpicc in options.mpis.items() for mpi in mpirun.startable(name)]:
        program, trace = os.path.join(work, "heat." + mpi), os.path.join(work, mpi + ".rfn")
        run([mpicc, "-std=c11", "-O1", "-g", "-o", program, os.path.join(
            root, "usr/share/doc/refrain/examples/heat/heat.c"), "-lm"])
        preload = mpirun.shims(mpi, options.shim)
        os.environ.pop("REFRAIN_LIBRARY_PATH", None)
        job = mpirun.run_job(mpi, 2, [refrain, "record", "-o", trace, program], 120, preload, cwd=work)
        expect(job.status == 0, "recording exits with %d: %s", job.status, job.stderr.decode()[-500:])
        info = json.loads(run([refrain, "info", "--format", "json", trace]))
        expect(info["ranks"] == 2 and info["complete"], "info is %s", info)
        print("good  record under " + mpi)


# Who makes packages for others gives an address (cmake -DCPACK_PACKAGE_CONTACT=...).
NOT_OURS = {"bogus-mail-host", "bogus-mail-host-in-debian-changelog"}


def check_lintian(packages):
    if not shutil.which("lintian"):
        print("skip  lintian is not installed")
        return
    done = subprocess.run(["lintian", "--allow-root", "--no-cfg", "--fail-on", "none"] + sorted(packages.values()),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                          check=False)
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("E: ")]
    ours = [line for line in lines if line.split(": ", 2)[2].split()[0] not in NOT_OURS]
    expect(not ours, "lintian: %s", "; ".join(ours))
    print("good  lintian: no errors")


def check_all(work):
    packages, seen = make_packages(os.path.join(work, "made")), {}
    for name, path in sorted(packages.items()):
        check_control(name, path)
        check_files(name, path, seen)
        print("good  %s, %d bytes" % (name, os.path.getsize(path)))
    of_tool = [file for file, name in seen.items() if name == "refrain"]
    libraries = ["librefrain-%s.so" % name for name in ("heap", "posix", "cluster", "wtime")] if options.mpis else []
    for file in ["bin/refrain", "man1/refrain-record.1.gz"] + libraries:
        expect(any(f.endswith("/" + file) for f in of_tool), "the package refrain has no %s", file)
    root = os.path.join(work, "root")
    install(packages, root)
    check_works(root, work)
    check_lintian(packages)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=os.path.abspath)
    parser.add_argument("--mpi", action="append", default=[], metavar="MPI=MPICC")
    parser.add_argument("--shim", default="")
    parser.add_argument("--python", default="", help="the interpreter that the Python package is for")
    options = parser.parse_args()
    options.mpis = dict(word.split("=", 1) for word in options.mpi)
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "gzip"):
        if not shutil.which(tool):
            print("skip  %s is not installed" % tool)
            return SKIPPED
    with tempfile.TemporaryDirectory(prefix="refrain-deb-") as work:
        try:
            check_all(work)
        except Failure as failure:
            print("FAIL  %s" % failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
