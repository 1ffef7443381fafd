#!/usr/bin/python3
"""Programs made of traces make the recorded calls again.

    proxies.py --refrain build/release/refrain --mpi mpich --programs build/release/tests/programs/mpich
               [--target openmpi] [--bench build/release/tests/proxy/mpich] [--group p2p | --only NAME]
               [--compilers g++,clang++]

For each program of the manifest, and for those of bench/programs: it is recorded, `refrain proxy` makes a
program of the trace, the compilers take that without a warning, it is recorded in its turn, and `dump`
of the two traces is compared call by call: function and all parameters but those of CLOSED. What is
refused must be in REFUSED, with the function that it is refused for. With --target the proxy is built for
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

SKIPPED, UNSUPPORTED = 77, 5
JITTER_US = 5000  # the longest pause before a call, with --jitter
INCOMPLETE = 4  # traces of which filters have left out calls
# The compiler of an MPI, and the variable that says which compiler is behind it.
WRAPPERS = {"mpich": ("mpicxx.mpich", "MPICH_CXX"), "openmpi": ("mpicxx.openmpi", "OMPI_CXX")}
# Programs whose proxies run on other numbers of ranks: on so many, for instance.
OTHER_RANKS = {"halo2d": 9, "ring": 5, "sweep2d": 6}

# Of calls that filters of `record` left out, programs named so lack objects or requests.
FILTERED = "control_"
NOT_MADE = ("no call that can be made again makes it", "a request that no call of the trace makes")
# Program -> what the refusal says. Whatever else is refused is an error.
REFUSED = {
    "spawn": "MPI_Comm_spawn",
    "spawn_multiple": "MPI_Comm_spawn_multiple",
    "spawn_merge": "MPI_Comm_spawn",
    "comm_join": "MPI_Comm_join",
}
LACKING = re.compile(r"error: .(MPIX?_\w+). was not declared|error: use of undeclared identifier .(?=MPI)(\w+)")
# Calls that only ask, of which a proxy leaves out those that no other call needs.
ASKS_ONLY = re.compile(r"^MPI_T_|_f2c$|_c2f$|^MPI_Status_(f2c|c2f|f08|f2f08|c2f08)|^MPI_Aint_(add|diff)$")
NO_PARTNER = {"source": "MPI_PROC_NULL", "tag": "MPI_ANY_TAG"}
# Memory of dynamic windows stands there: as attached_at() of refrain_proxy.h.
ATTACHED_AT, ATTACHED_SPAN = 1 << 45, 1 << 44

# Parameters that a proxy does not repeat: addresses, paths, names, functions and what they are given.
CLOSED = {"argc", "argv", "filename", "baseptr", "base", "extra_state", "attribute_val", "buffer_addr", "address",
          "location", "name", "resultlen", "version", "processor", "port_name", "service_name"}
CLOSED_ENDS = ("_fn", "buf", "buffer", "_addr", "errhandler_fn")
COMPLETIONS = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome", "MPI_Test", "MPI_Testall", "MPI_Testany",
               "MPI_Testsome", "MPI_Start", "MPI_Startall", "MPI_Cancel", "MPI_Request_free", "MPI_Pready",
               "MPI_Request_get_status", "MPI_Parrived", "MPI_Pready_range", "MPI_Pready_list"}
# Their requests may be others that do not end.
MASKED = {"MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome"}
# Threads may make objects in another order, and then their numbers are others.
OBJECT = re.compile(r"^(comm|group|win|file|datatype|op|info|errhandler|message|keyval)#\d+$")
BUFFER = re.compile(r"^(stack|data|heap|device|managed|pinned|unknown)(#\d+)?([+-]\d+)?$")
REQUEST = re.compile(r"^request#\d+$")
# Open MPI may give out one handle for several sends that are complete: which of them a call names is the
# recorder's guess.
SENDS = {"MPI_Isend", "MPI_Ibsend", "MPI_Irsend", "MPI_Issend", "MPI_Isend_c"}


class Failure(Exception):
    """One line that says what is wrong."""


class Refused(Exception):
    """What `refrain proxy` cannot do."""


class Lacking(Exception):
    """A function or constant that the other MPI does not have."""


def run(command, timeout=120, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, **more)


class Comparison:
    """The calls of a rank, or of one of its threads, in the recorded run and in that of the proxy."""
    is_across = False  # the proxy runs on another MPI

    def __init__(self, rank, has_threads=False):
        self.rank, self.requests, self.has_threads, self.objects = rank, {}, has_threads, {}
        self.made_by, self.made_again_by = {}, {}  # request -> call

    def value(self, call, name, was, now):
        if name in CLOSED or name.endswith(CLOSED_ENDS) or was is None:  # None: it meant nothing there
            return True
        if isinstance(was, str) and isinstance(now, str):
            if REQUEST.match(was) and REQUEST.match(now):
                if call not in COMPLETIONS:
                    self.requests[was] = now
                    self.made_by[was] = self.made_again_by[now] = call
                    return True
                are_sends = self.made_by.get(was) in SENDS and self.made_again_by.get(now) in SENDS
                return self.requests.get(was, now) == now or are_sends
            if self.has_threads and OBJECT.match(was) and OBJECT.match(now):
                if name.startswith("new"):
                    self.objects[was] = now
                return self.objects.get(was, now) == now
            if BUFFER.match(was) and BUFFER.match(now):
                return True
            if was in ("MPI_ANY_SOURCE", "MPI_ANY_TAG"):
                return True
            if REQUEST.match(was) and was not in self.made_by and now == "MPI_REQUEST_NULL":
                return True  # a filter left out the call that made it
        if was in ("MPI_ANY_SOURCE", "MPI_ANY_TAG") and name in ("source", "tag", "recvtag"):
            return True
        if name == "target_disp" and isinstance(was, int) and now == ATTACHED_AT | was % ATTACHED_SPAN:
            return True
        if isinstance(was, list) and isinstance(now, list):
            return len(was) == len(now) and all(self.value(call, name, a, b) for a, b in zip(was, now))
        if isinstance(was, dict) and isinstance(now, dict):
            if self.is_across and NO_PARTNER in (was, now):
                return True  # MPICH leaves the status of such a receive as it was
            return was.keys() == now.keys() and all(self.value(call, "", was[k], now[k]) for k in was)
        return was == now

    def call(self, was, now):
        if was["call"] != now["call"]:
            raise Failure("rank %d call %d was %s and is %s" % (self.rank, was["seq"], was["call"], now["call"]))
        name = was["call"]
        failed_test = was["args"].get("flag") in (0, False)
        for key, value in was["args"].items():
            if key in ("array_of_requests", "request") and (name in MASKED or failed_test):
                continue
            if key == "string" and name == "MPI_Error_string":
                continue  # of a code that another run gave: its text may hold addresses
            if key in ("required", "provided") and self.has_threads:
                continue  # a proxy's threads do not take turns
            if key == "tag" and failed_test:
                continue  # of a probe: one that no message has
            if key in ("status", "array_of_statuses") and name in MASKED:
                pass
            if not self.value(name, key, value, now["args"].get(key)):
                raise Failure("rank %d call %d, %s: %s was %s and is %s" % (
                    self.rank, was["seq"], name, key, json.dumps(value)[:120],
                    json.dumps(now["args"].get(key))[:120]))


def is_left_out(call):
    has_failed = call.get("error") is not None or call.get("error_class") is not None
    return has_failed or ASKS_ONLY.search(call["call"]) or call["call"].startswith("refrain_")


def compare_calls(rank, was, now, has_threads=False):
    comparison = Comparison(rank, has_threads)
    for a, b in zip(was, now):
        comparison.call(a, b)
    if len(was) != len(now):
        raise Failure("rank %d made %d calls, and the proxy %d" % (rank, len(was), len(now)))


def compare_threads(rank, was, now):
    """Threads are numbered by their first calls, and may begin in another order."""
    left = list(now)
    for thread in sorted(was):
        failures = []
        for candidate in sorted(left, key=lambda t: (t != thread, t)):
            try:
                compare_calls(rank, was[thread], now[candidate], True)
                left.remove(candidate)
                break
            except Failure as e:
                failures.append(str(e))
        else:
            raise Failure("no thread of the proxy is as thread %d: %s" % (thread, failures[0] if failures else ""))
    if left:
        raise Failure("rank %d has %d more threads" % (rank, len(left)))


def compare(before, after):
    ranks = {}
    for lines, which in ((before, 0), (after, 1)):
        for call in lines:
            if which == 0 and is_left_out(call):
                continue
            if call["call"] == "MPI_Win_test" and call["args"]["flag"] in (0, False):
                continue  # how often it is asked in vain is a matter of time
            ranks.setdefault(call["rank"], ({}, {}))[which].setdefault(call.get("thread", 0), []).append(call)
    for rank, (was, now) in sorted(ranks.items()):
        if len(was) == 1 and len(now) == 1:
            compare_calls(rank, *was.values(), *now.values())
        else:
            compare_threads(rank, was, now)


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
        preload = [options.shim] if mpirun.behind(mpi) == "mpich" and options.shim else []
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
        preload = [self.options.shim] if mpirun.behind(mpi) == "mpich" and self.options.shim else []
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
        before = self.dump(trace)
        compare(before, self.dump(again))
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
        # On another number of ranks, the text differs little: the compiler whose program runs will do.
        for compiler in self.options.compilers[0 if self.is_first else -1:]:
            binary = os.path.join(self.folder, "proxy." + os.path.basename(compiler))
            wrapper, variable = WRAPPERS[mpirun.behind(self.options.target)]
            done = run([wrapper, "-std=c++20", self.options.optimize, "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                        "-o", binary, os.path.join(proxy, "main.cc")], timeout=600,
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
FEW = {"halo2d", "ring", "cg", "lulesh", "p2p_wildcard", "p2p_probe", "coll_nonblocking", "datatypes", "comm_group"}


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
