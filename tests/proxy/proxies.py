#!/usr/bin/python3
"""Programs made of traces make the recorded calls again.

    proxies.py --refrain build/release/refrain --mpi mpich --programs build/release/tests/programs/mpich
               [--target openmpi] [--bench build/release/tests/proxy/mpich] [--group p2p | --only NAME]
               [--compilers g++,clang++]

For each program of the manifest, and for those of bench/programs: it is recorded, `refrain proxy` makes a
program of the trace, the compilers take that without a warning, it is recorded in its turn, and `dump`
of the two traces is compared call by call: function and all parameters but those of CLOSED (comparison.py).
What is refused must be in REFUSED, with the function that it is refused for. With --target the proxy is built for
another MPI than the program, and runs there; a function that the mpi.h of --target lacks is counted as
refused. Exit status: 0, 1, 77.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TESTS, "support"))
import mpirun  # noqa: E402
from comparison import Comparison, Failure, compare  # noqa: E402

SKIPPED, UNSUPPORTED = 77, 5
JITTER_US = 5000  # the longest pause before a call, with --jitter
INCOMPLETE = 4  # traces of which filters have left out calls
# The compiler of an MPI, and the variable that says which compiler is behind it.
WRAPPERS = {"mpich": ("mpicxx.mpich", "MPICH_CXX"), "openmpi": ("mpicxx.openmpi", "OMPI_CXX")}
# As the CMakeLists.txt of a proxy: without libmpi_cxx of Open MPI, which calls MPI_Initialized when it is loaded.
AS_NEEDED = "-Wl,--as-needed"
# Programs whose proxies run on other numbers of ranks: on so many, for instance.
OTHER_RANKS = {"halo2d": 9, "ring": 5, "sweep2d": 6}

# Of calls that filters of `record` left out, programs named so lack objects or requests.
FILTERED = "control_"
NO_OTHER_END = "waits for ever for calls that are not in the trace"
NOT_MADE = ("no recorded call that can be made again makes it", "a request that no call of the trace makes",
            NO_OTHER_END)
# Program -> what the refusal says. Whatever else is refused is an error.
REFUSED = {
    "spawn": "MPI_Comm_spawn",
    "spawn_multiple": "MPI_Comm_spawn_multiple",
    "spawn_merge": "MPI_Comm_spawn",
    "comm_join": "MPI_Comm_join",
    "threads_names_again": "is made several times by threads",
    "late_mpi": NO_OTHER_END,  # with "mixed", where its sends go past the recorder
}
OF_SERVERS = "MPI_Open_port"  # an MPICH over UCX may have it, and it fails
LACKING = re.compile(r"error: .(MPIX?_\w+). was not declared|error: use of undeclared identifier .(?=MPI)(\w+)")


class Refused(Exception):
    """What `refrain proxy` cannot do."""


class Lacking(Exception):
    """A function or constant that the other MPI does not have."""


def run(command, timeout=120, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, **more)


class Case:
    def __init__(self, options, name, program, ranks, arguments=(), entry=None):
        self.options, self.name, self.program, self.ranks = options, name, program, ranks
        self.arguments, self.entry = list(arguments), entry or {}
        self.is_first = not entry or ranks == entry["ranks"][0]
        self.folder = os.path.join(options.work, "%s-%d-%s" % (
            name, ranks, "_".join(self.arguments)[:20].replace("/", "")))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def record(self, trace, command, more=(), mpi=None, seed=None):
        options, mpi = self.options, mpi or self.options.mpi
        wrapper = [options.refrain, "record", "-o", trace] + list(more) + ["--"]
        env = {"REFRAIN_TEST_DIR": self.folder}
        if options.libraries:
            env["REFRAIN_LIBRARY_PATH"] = options.libraries
        preload = mpirun.shims(mpi, options.shim)
        if seed is not None:
            preload.append(options.jitter)
            env.update(REFRAIN_JITTER_US=str(JITTER_US), REFRAIN_JITTER_SEED=str(seed))
        return mpirun.run_job(mpi, self.ranks, command, 60, preload, env, cwd=self.folder,
                              job_env=self.entry.get("job_env"), wrapper=wrapper)

    def refrain(self, *arguments):
        done = run([self.options.refrain] + list(arguments))
        if done.returncode == UNSUPPORTED:
            raise Refused(done.stderr.decode(errors="replace").strip())
        if done.returncode != 0:
            raise Failure("`refrain %s` exits with %d: %s" % (
                " ".join(arguments), done.returncode, done.stderr.decode(errors="replace").strip()[:300]))
        return done.stdout.decode()

    def dump(self, trace):
        return [json.loads(line) for line in
                self.refrain("dump", "--format", "jsonl", "--no-resolve", trace).splitlines()]

    def check_other_ranks(self, said, binary):
        ranks = OTHER_RANKS.get(self.name)
        if ranks is None:
            return
        if said["fixed_by"]:
            raise Failure("it is held to its number of ranks: %s" % "; ".join(said["fixed_by"]))
        mpi = self.options.target
        preload = mpirun.shims(mpi, self.options.shim)
        ran = mpirun.run_job(mpi, ranks, [binary, "--compute", "none"], 60, preload, {}, cwd=self.folder)
        if ran.status != 0:
            raise Failure("on %d ranks the proxy exits with %d: %s" % (
                ranks, ran.status, (ran.stdout + ran.stderr).decode(errors="replace").strip()[-500:]))

    def check_replays(self, trace, again, said):
        """By the same list of what may differ as for replays; of a proxy that has all calls, on the program's MPI."""
        if said["not_held"] or self.options.target != self.options.mpi:
            return
        done = run([self.options.refrain, "check", again, "--replays", trace])
        if done.returncode not in (0, INCOMPLETE):
            raise Failure((done.stdout + done.stderr).decode(errors="replace").strip()[:500])

    def check_run(self, trace, again, binary, said, seed):
        ran = self.record(again, [binary, "--compute", "none", "--scratch", self.folder], mpi=self.options.target,
                          seed=seed)
        if ran.status != 0:
            raise Failure("the proxy exits with %d: %s" % (
                ran.status, (ran.stdout + ran.stderr).decode(errors="replace").strip()[-1500:]))
        before, after = self.dump(trace), self.dump(again)
        if Comparison.is_across and any(
                call["call"] == OF_SERVERS and call.get("error_class") for call in after):
            raise Lacking("%s that succeeds" % OF_SERVERS)
        compare(before, after)
        if not any(call.get("thread", 0) for call in before):  # threads may have other numbers
            self.check_replays(trace, again, said)

    def check(self):
        trace, again = os.path.join(self.folder, "t.rfn"), os.path.join(self.folder, "again.rfn")
        more = [o.replace("{mpi}", mpirun.word(self.options.mpi)) for o in self.entry.get("record", [])]
        recorded = self.record(trace, [self.program] + self.arguments, more)
        if recorded.status == SKIPPED or not os.path.exists(trace):
            return None
        proxy = os.path.join(self.folder, "proxy")
        said = json.loads(self.refrain("proxy", trace, "-o", proxy, "--format", "json"))
        binary = None
        # On another number of ranks, the text differs little: one compiler will do, the first one, as it is the
        # last one's program that runs on the first number of ranks.
        for compiler in self.options.compilers if self.is_first else self.options.compilers[:1]:
            binary = os.path.join(self.folder, "proxy." + os.path.basename(compiler))
            wrapper, variable = WRAPPERS[mpirun.behind(self.options.target)]
            done = run([wrapper, "-std=c++20", self.options.optimize, "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                        AS_NEEDED, "-o", binary, os.path.join(proxy, "main.cc")], timeout=600,
                       env={**os.environ, variable: compiler})
            lacking = LACKING.search(done.stderr.decode(errors="replace"))
            if lacking and self.options.target != self.options.mpi:
                raise Lacking(lacking.group(1))
            if done.returncode != 0:
                raise Failure("%s does not take it: %s" % (compiler, done.stderr.decode(errors="replace")[:1500]))
        limit = 12 * (said["signatures"] + said["rules"]) + 400
        if said["lines"] > limit:
            raise Failure("it has %d lines, more than %d" % (said["lines"], limit))
        for seed in range(1, self.options.times + 1) if self.options.jitter else [None]:
            self.check_run(trace, again, binary, said, seed)
        self.check_other_ranks(said, binary)
        return said


BENCH = [("halo2d", 4, ["30"]), ("halo3d", 4, ["5"]), ("sweep2d", 4, ["10"]), ("ring", 3, ["20"]),
         ("cg", 4, ["2", "200"]), ("rows_columns", 4, ["5"]), ("recursive_doubling", 4, ["5"]),
         ("alltoallv", 3, ["4"]), ("transpose", 4, ["5"]), ("adi", 4, ["2", "4"]), ("multigrid", 4, ["2", "8"]),
         ("mg", 8, ["2", "8"]), ("bt", 4, ["3", "4"]), ("lulesh", 8, ["3", "3"]), ("jacobi2d", 4, ["4"])]


# What one test takes; the others are in the exhaustive one.
FEW = {"halo2d", "ring", "cg", "lulesh", "p2p_wildcard", "p2p_probe", "coll_nonblocking", "datatypes", "comm_group",
       "comm_group_again", "sizes_x", "graph_order"}


def cases(options):
    for case in all_cases(options):
        if not options.few or case.name in FEW:
            yield case


def all_cases(options):
    if options.bench and options.group in (None, "bench"):
        for name, ranks, arguments in BENCH:
            if options.only in (None, name):
                if not options.few or name in FEW:
                    yield Case(options, name, os.path.join(options.bench, name), ranks, arguments)
    with open(options.manifest) as f:
        entries = json.load(f)["programs"]
    for entry in entries:
        if options.group not in (None, entry["group"]) or options.only not in (None, entry["name"]):
            continue
        if mpirun.word(options.mpi) not in entry.get("mpi", [mpirun.word(options.mpi)]) or "python" in entry:
            continue
        if entry.get("exit", 0) != 0 or options.mpi in entry.get("broken", {}) or entry.get("proxy") is False:
            continue
        program = os.path.join(options.programs, entry["name"])
        if not os.path.exists(program):
            continue
        arguments = [a.replace("{programs}", options.programs) for a in entry.get("args", [])]
        for ranks in entry["ranks"][:1] if options.quick else entry["ranks"]:
            yield Case(options, entry["name"], program, ranks, arguments, entry)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--target", help="the MPI that the proxies are built for (that of the programs)")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--bench")
    parser.add_argument("--manifest", default=os.path.join(TESTS, "programs", "manifest.json"))
    parser.add_argument("--group")
    parser.add_argument("--only")
    parser.add_argument("--shim")
    parser.add_argument("--libraries")
    parser.add_argument("--quick", action="store_true", help="the first number of ranks of each program")
    parser.add_argument("--few", action="store_true", help="some programs only, with the first of the compilers")
    parser.add_argument("--compilers", default="g++,clang++")
    parser.add_argument("--optimize", default="-O1")
    parser.add_argument("--jitter", help="a library that pauses before calls (jitter.c)")
    parser.add_argument("--times", type=int, default=20, help="with --jitter: run each proxy so often")
    parser.add_argument("--keep")
    options = parser.parse_args()
    for path in ("refrain", "programs", "bench", "shim", "libraries", "jitter"):
        if getattr(options, path):
            setattr(options, path, os.path.abspath(getattr(options, path)))
    options.target = options.target or options.mpi
    Comparison.is_across = options.target != options.mpi
    if not mpirun.launcher(options.target):
        print("proxies: no launcher of %s" % options.target)
        return SKIPPED
    options.compilers = [c for c in options.compilers.split(",") if shutil.which(c)]
    if options.few:
        options.quick, options.compilers = True, options.compilers[:1]
    failed, refused, good = 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="refrain-proxy-") as folder:
        options.work = options.keep or folder
        for case in cases(options):
            title = "%s -n %d %s" % (case.name, case.ranks, " ".join(case.arguments))
            try:
                if case.check() is None:
                    continue
                good += 1
                print("good     %s" % title, flush=True)
            except Refused as e:
                refused += 1
                expected = REFUSED.get(case.name)
                is_known = expected is not None and expected in str(e) or \
                    case.name.startswith(FILTERED) and any(why in str(e) for why in NOT_MADE)
                failed += 0 if is_known else 1
                print("%s %s: %s" % ("refused " if is_known else "REFUSED ", title, e), flush=True)
            except Lacking as e:
                refused += 1
                print("refused  %s: %s has no %s" % (title, options.target, e), flush=True)
            except (Failure, subprocess.TimeoutExpired) as e:
                failed += 1
                print("FAILED   %s: %s" % (title, e), flush=True)
    print("%d good, %d refused, %d wrong" % (good, refused, failed))
    if good + refused + failed == 0:
        return SKIPPED
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
