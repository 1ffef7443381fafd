#!/usr/bin/python3
"""No way of dying loses a call: programs that die, disks that are full, files that are lost.

    fault.py --refrain build/refrain --mpi mpich --program build/tests/fault/mpich/dying [--only kill]

The program (dying.c) logs every call when it has returned. After `refrain recover`, the dump of each
rank is its log, with at most one call more at the end: the one that the rank had returned from and
not yet logged, or was about to die in (MPI_Abort). Exit status: 0 all good, 1 something is wrong, 77
nothing could run.
"""
import argparse
import collections
import glob
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED, INCOMPLETE = 77, 4
RANKS = 4
FEW, MANY, LONG = 60, 20000, 60000  # calls: one page of the log, a checkpoint, several
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


class Case:
    """A folder, a job in it, and what it left."""

    def __init__(self, name):
        self.folder = os.path.join(options.work, name)
        os.makedirs(self.folder)
        self.trace = os.path.join(self.folder, "run.rfn")
        self.spool = self.trace + ".spool"
        self.log = os.path.join(self.folder, "log")

    def words(self, *arguments, record=(), program=None):
        return [options.refrain, "record", "-o", self.trace] + list(record) + [
            "--", program or options.program] + [str(a) for a in arguments]

    def environment(self, logged=True):
        env = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_SPOOL": self.spool}
        if logged:
            env["REFRAIN_TEST_LOG"] = self.log
        return env

    def preload(self):
        return mpirun.shims(options.mpi, options.shim)

    def run(self, *arguments, record=(), logged=True, env=None, shims=()):
        words = self.words(*arguments, record=record)
        return mpirun.run_job(options.mpi, RANKS, words, 60, self.preload() + list(shims),
                              {**self.environment(logged), **(env or {})}, cwd=self.folder)

    def start(self, *arguments):
        """The job in the background: its launcher, and the word that marks its processes."""
        argv = mpirun.command_line(options.mpi, RANKS, self.words(*arguments), self.preload(),
                                   self.environment())
        environment = mpirun.job_environment(options.mpi)
        token = environment[mpirun.TOKEN] = uuid.uuid4().hex
        job = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment, cwd=self.folder,
                               start_new_session=True)
        return job, token

    def refrain(self, *arguments, status=0):
        done = subprocess.run([options.refrain] + list(arguments), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        expect(done.returncode == status, "`refrain %s` exits with %d instead of %d: %s",
               " ".join(arguments), done.returncode, status, done.stderr.decode().strip()[:300])
        return done.stdout.decode()

    def logged(self, rank):
        with open("%s.%d" % (self.log, rank)) as f:
            return [json.loads(line) for line in f]

    def dumped(self, rank, status=INCOMPLETE):
        text = self.refrain("dump", "--rank", str(rank), "--format", "jsonl", self.trace, status=status)
        return [json.loads(line) for line in text.splitlines()]

    def losses(self):
        info = json.loads(self.refrain("info", "--format", "json", self.trace, status=INCOMPLETE))
        expect(not info["complete"], "a trace of a job that died calls itself complete")
        found = collections.defaultdict(list)
        for loss in info["losses"]:
            found[loss["reason"]].append(loss)
        return found


def same(call, line):
    """Whether a line of the dump is what was logged, as far as that goes."""
    return call["call"] == line["call"] and all(
        line["args"].get(key) == value for key, value in call["args"].items())


def check_rank(case, rank, most=1, least=0):
    """Counts of the dumped calls of the rank, once they are what it logged."""
    log, dump = case.logged(rank), case.dumped(rank)
    expect(least <= len(dump) - len(log) <= most, "rank %d: %d calls dumped, %d logged", rank, len(dump),
           len(log))
    for i, (call, line) in enumerate(zip(log, dump)):
        expect(same(call, line), "rank %d, call %d: %r logged, %r dumped", rank, i, call, line)
    return collections.Counter(line["call"] for line in dump)


def check_recovered(case, victim=None):
    """Recovers what a job left and compares it with the logs."""
    expect(not os.path.exists(case.trace), "a job that died wrote a trace")
    said = subprocess.run([options.refrain, "info", case.trace], stderr=subprocess.PIPE).stderr.decode()
    expect("refrain recover" in said, "no word of `refrain recover`: %r", said)
    case.refrain("recover", "--keep", case.spool)
    with open(case.trace, "rb") as f:
        first = f.read()
    case.refrain("recover", case.spool)
    with open(case.trace, "rb") as f:
        expect(f.read() == first, "a second recover gives other bytes")
    # The launcher may be gone before the last of its ranks is, and recover leaves the files of those alone.
    deadline = time.monotonic() + 20
    while os.path.exists(case.spool) and time.monotonic() < deadline:
        time.sleep(0.1)
        case.refrain("recover", case.spool)
    expect(not os.path.exists(case.spool), "the spool is still there")
    case.refrain("check", case.trace, status=INCOMPLETE)
    case.refrain("matrix", case.trace, status=INCOMPLETE)
    counts = sum((check_rank(case, rank) for rank in range(RANKS)), collections.Counter())
    profile = json.loads(case.refrain("profile", "--format", "json", case.trace, status=INCOMPLETE))
    counted = {row["call"]: row["count"] for row in profile["functions"]}
    expect(counted == dict(counts), "profile counts %r, dump %r", counted, dict(counts))
    losses = case.losses()
    expect(len(losses["unfinished"]) == 1 and len(losses["died_first"]) == 1, "losses: %r", dict(losses))
    for reason in ("rank_missing", "spool_damaged", "spool_stopped"):
        expect(reason not in losses, "losses: %r", losses.get(reason))
    if victim is not None:
        expect(losses["died_first"][0]["rank"] == victim, "rank %d died first: %r", victim,
               losses["died_first"])
    return losses


def bases_of(case):
    """How many bases were written to each rank's spool file; see src/format/spool/layout.h."""
    newest = {}
    for path in glob.glob(case.spool + "/*.rank"):
        with open(path, "rb") as f:
            data = f.read()
        found = [struct.unpack_from("<Q", data, at + 32)[0] for at in range(4096, len(data), 4096)
                 if struct.unpack_from("<II", data, at) == (0x4b4e4843, 4)]
        newest[path] = max(found, default=0)
    return newest


# -- ways of dying --


def dies_by_itself(way, victim, calls):
    def test():
        case = Case("%s-%s-%d" % (way, victim, calls))
        outcome = case.run(way, victim, calls, env={"REFRAIN_QUIET": "0"})
        expect(not outcome.timed_out, "the job hangs")
        expect(outcome.status != 0, "the launcher says that all is well")
        lines = [l for l in outcome.stderr.decode(errors="replace").splitlines() if l.startswith("refrain: ")]
        says = {"abort": "calls MPI_Abort", "exit": "ends without MPI_Finalize"}.get(way.split("-")[-1])
        if way == "error" and options.mpi == "openmpi":
            says = "is ended by MPI"
        expected = says and "%s; what was recorded stays in %s: " % (says, os.path.basename(case.spool))
        expect(len(lines) == (says is not None) and all(expected in l and " recover " in l for l in lines),
               "says %r, and not %r", lines, expected)
        if calls == LONG:
            expect(min(bases_of(case).values()) >= 2, "no checkpoint was made: %r", bases_of(case))
        # Of ranks that are all in MPI none is known to be the first, unless it left a mark.
        unknown = victim == "all" or way == "alarm-_exit"
        losses = check_recovered(case, None if unknown else victim)
        if way.endswith("abort"):
            if victim != "all":
                last = case.dumped(victim)[-1]
                expect(last["call"] == "MPI_Abort" and last["args"]["errorcode"] == 7, "last call: %r", last)
            expect("MPI_Abort" in losses["died_first"][0]["detail"], "%r", losses["died_first"])
        elif way == "error":
            expect("in MPI_Send" in losses["died_first"][0]["detail"], "%r", losses["died_first"])
        elif way.startswith("alarm"):
            expect(any("MPI_Recv" in l["detail"] for l in losses["died_first" if way == "alarm-exit" else "call_open"]),
                   "losses: %r", dict(losses))
            expect(case.dumped(victim)[-1]["call"] == "MPI_Comm_rank", "the receive is said to be over")
    return test


def lines_logged(case):
    total = 0
    for rank in range(RANKS):
        try:
            with open("%s.%d" % (case.log, rank), "rb") as f:
                total += f.read().count(b"\n")
        except OSError:
            pass
    return total


def is_rank(pid):
    return mpirun.describe(pid).startswith(options.program)


def killed_from_outside(whom, way, calls):
    """SIGKILL while the ranks run, or hang: one of them, all at once, or the launcher first."""
    def test():
        case = Case("outside-%s-%s" % (whom, way))
        job, token = case.start(way, "all", calls)
        try:
            deadline = time.monotonic() + 30
            while lines_logged(case) < (RANKS * calls if way == "hang" else 8000):
                expect(time.monotonic() < deadline and job.poll() is None, "the job did not get going")
                time.sleep(0.002)
            ranks = [pid for pid in mpirun.processes_of(token) if is_rank(pid)]
            expect(len(ranks) == RANKS, "%d ranks run", len(ranks))
            if whom == "launcher":
                job.kill()
                time.sleep(0.2)
            for pid in ranks[:1] if whom == "one" else ranks:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                job.wait(20)
            except subprocess.TimeoutExpired:
                raise Failure("the launcher does not end")
        finally:
            mpirun.kill_job(token)
            job.wait()
        check_recovered(case)
    return test


# -- what may be missing --


def check_normal(case, outcome, complaints):
    """The program came to its normal result, with a whole trace and few words."""
    said = [l for l in outcome.stderr.decode(errors="replace").splitlines() if l.startswith("refrain")]
    expect(outcome.status == 0, "exit status %d: %s", outcome.status, outcome.stderr.decode()[-300:])
    expect(outcome.stdout.count(b" done\n") == RANKS, "output: %r", outcome.stdout)
    expect(len(said) == complaints, "Refrain said: %r", said)


def check_whole(case):
    info = json.loads(case.refrain("info", "--format", "json", case.trace))
    expect(info["complete"] and not info["losses"], "losses: %r", info["losses"])
    case.refrain("check", case.trace)
    for rank in range(RANKS):
        log, dump = case.logged(rank), case.dumped(rank, 0)
        expect(len(log) == len(dump), "rank %d: %d logged, %d dumped", rank, len(log), len(dump))
        for call, line in zip(log, dump):
            expect(same(call, line), "rank %d: %r logged, %r dumped", rank, call, line)


def no_fault():
    case = Case("none")
    check_normal(case, case.run("finish", 0, MANY), 0)
    check_whole(case)
    expect(not os.path.exists(case.spool), "the spool is still there")


def spool_elsewhere():
    case = Case("elsewhere")
    shelf = os.path.join(case.folder, "shelf")
    os.mkdir(shelf)
    case.spool = os.path.join(shelf, "run.rfn.spool")
    case.run("kill", 1, FEW, record=["--spool", shelf])
    case.refrain("recover", case.spool, "-o", case.trace)
    for rank in range(RANKS):
        check_rank(case, rank)


def made_while_paused():
    case = Case("paused")
    case.run("kill", 1, FEW, env={"REFRAIN_TEST_PAUSE": "1"})
    check_recovered(case, 1)


def no_spool():
    case = Case("off")
    check_normal(case, case.run("finish", 0, FEW, record=["--spool", "off"]), 0)
    check_whole(case)


def unwritable():
    case = Case("unwritable")
    check_normal(case, case.run("finish", 0, FEW, record=["--spool", "/proc/no/such/place"]), 1)
    check_whole(case)


def file_size_limit():
    case = Case("rlimit")
    outcome = case.run("finish", 0, MANY, logged=False, env={"REFRAIN_TEST_FSIZE": "50000"})
    check_normal(case, outcome, 1)
    case.refrain("check", case.trace)
    case = Case("rlimit-tight")  # not even the trace has room
    outcome = case.run("finish", 0, FEW, logged=False, env={"REFRAIN_TEST_FSIZE": "500"})
    expect(outcome.status == 0 and outcome.stdout.count(b" done\n") == RANKS, "status %d, %r",
           outcome.status, outcome.stderr[-300:])
    expect(os.listdir(case.folder) == ["run.rfn.spool"], "left behind: %r", os.listdir(case.folder))
    case.refrain("recover", case.spool)
    losses = case.losses()
    expect(set(losses) == {"unfinished"}, "losses: %r", dict(losses))


def no_descriptors_left():
    """Of the program's own limit: the spool grows, and the trace is written."""
    for more in ([], ["--timing", "exact"]):
        case = Case("descriptors" + "".join(more))
        check_normal(case, case.run("finish", 0, MANY, record=more, env={"REFRAIN_TEST_FILES": "1"}), 0)
        check_whole(case)


def lost_while_running():
    case = Case("lost-running")
    check_normal(case, case.run("lose", 2, 2000), 1)
    check_whole(case)
    expect(not os.path.exists(case.spool), "the spool is still there")


def lost_afterwards():
    case = Case("lost-afterwards")
    case.run("kill", 1, FEW)
    os.unlink(glob.glob(case.spool + "/*-000002-*")[0])
    with open(glob.glob(case.spool + "/*-000003-*")[0], "r+b") as f:
        f.write(b"\0" * 64)
    case.refrain("recover", case.spool, status=INCOMPLETE)
    for rank in (0, 1):
        check_rank(case, rank)
    missing = [(l["rank"], l["detail"]) for l in case.losses()["rank_missing"]]
    expect(sorted(rank for rank, _ in missing) == [2, 3], "missing: %r", missing)
    expect(os.path.exists(case.spool), "a damaged spool was removed")


def little_memory():
    """Grammars that are larger than they may be go to the spool in parts."""
    many_tags, little = {"REFRAIN_TEST_TAGS": "40"}, ["--memory", "256K"]
    case = Case("memory")
    check_normal(case, case.run("finish", 0, MANY, record=little, env=many_tags), 0)
    check_whole(case)
    case = Case("memory-and-dead")
    case.run("kill", 1, MANY, record=little, env=many_tags)
    bases = bases_of(case)
    expect(min(bases.values()) >= 5, "no parts: %r", bases)
    check_recovered(case, 1)
    case = Case("memory-without-spool")
    outcome = case.run("finish", 0, MANY, record=little + ["--spool", "off"], env=many_tags)
    check_normal(case, outcome, RANKS)
    expect(b"no spool to go to" in outcome.stderr, "not a word: %r", outcome.stderr)
    info = json.loads(case.refrain("info", "--format", "json", case.trace))
    lost = sum(l["calls"] for l in info["losses"] if l["reason"] == "out_of_memory")
    logged = sum(len(case.logged(rank)) for rank in range(RANKS))
    expect(lost > 0 and lost + info["calls"] == logged, "%d lost, %d recorded, %d logged", lost,
           info["calls"], logged)


def check_no_memory(case, refusals, status):
    """Rank 3 is refused memory after some of its calls."""
    env = {"REFRAIN_TEST_REFUSALS": str(refusals)} if refusals else {}
    outcome = case.run("starve", 3, 2000, env=env, shims=[options.no_memory])
    expect(outcome.status == 0 and outcome.stdout.count(b" done\n") == RANKS, "exit status %d, %r",
           outcome.status, outcome.stderr[-300:])
    expect(b"no memory" in outcome.stderr, "not a word: %r", outcome.stderr)
    case.refrain("check", case.trace, status=status)
    for rank in range(RANKS - 1):
        log, dump = case.logged(rank), case.dumped(rank, status)
        expect(len(log) == len(dump) and all(map(same, log, dump)), "rank %d is not whole", rank)


def no_memory():
    case = Case("no-memory-for-a-while")
    check_no_memory(case, 5, 0)
    info = json.loads(case.refrain("info", "--format", "json", case.trace))
    lost = [l for l in info["losses"] if l["reason"] == "out_of_memory"]
    log, dump = case.logged(3), case.dumped(3, 0)
    expect(len(lost) == 1 and lost[0]["rank"] == 3, "losses: %r", info["losses"])
    expect(lost[0]["calls"] + len(dump) == len(log) and len(dump) >= 2000, "%d lost, %d dumped, %d logged",
           lost[0]["calls"], len(dump), len(log))
    expect(all(map(same, log, dump)), "the calls until then are not those that were made")
    case = Case("no-memory-at-all")
    check_no_memory(case, None, INCOMPLETE)
    expect(case.losses()["rank_missing"], "the rank is not missed")
    # The others wait for nobody, and what the rank had is in the spool.
    case.refrain("recover", case.spool)
    dump = check_rank(case, 3, least=-10**9)
    expect(sum(dump.values()) >= 2000, "%d calls recovered", sum(dump.values()))


def no_memory_at_the_end():
    """The recorder cannot write down what its grammar expected the thread to do next."""
    loops, ranks = 100, 2
    case = Case("no-memory-at-the-end")
    words = case.words(loops, program=options.last_calls)
    # What the grammar asks for to collect these calls: 16 symbols of 16 bytes.
    env = {**case.environment(False), "REFRAIN_TEST_REFUSE_BYTES": "256"}
    outcome = mpirun.run_job(options.mpi, ranks, words, 60, case.preload() + [options.no_memory], env,
                             cwd=case.folder)
    expect(outcome.status == 0 and outcome.stdout.count(b" done\n") == ranks, "exit status %d, %r",
           outcome.status, outcome.stderr[-300:])
    info = json.loads(case.refrain("info", "--format", "json", case.trace))
    lost = {l["detail"]: l["calls"] for l in info["losses"] if (l["reason"], l["rank"]) == ("out_of_memory", 1)}
    expect(lost.get("the last calls") == 3, "losses: %r", info["losses"])
    for rank in range(ranks):
        calls = case.dumped(rank, 0)
        polls = [call["args"]["tag"] for call in calls if call["call"] == "MPI_Iprobe"]
        expect(polls == [i % 5 for i in range(5 * loops + (3 if rank == 0 else 0))],
               "rank %d: %d polls dumped", rank, len(polls))
        made = 5 * loops + 3 + 5  # these, MPI_Init_thread, rank, size, barrier, MPI_Finalize
        expect(len(calls) + (sum(lost.values()) if rank == 1 else 0) == made, "rank %d: %d calls, losses %r", rank,
               len(calls), info["losses"])


class FullDisk:
    """A small disk, mounted for one test."""

    def __init__(self, case, size):
        self.path, self.size = os.path.join(case.folder, "disk"), size

    def __enter__(self):
        os.mkdir(self.path)
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + self.size, "tmpfs", self.path],
                                      stderr=subprocess.DEVNULL).returncode == 0
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", self.path], check=True)


def full_disk():
    for size in ("64k", "300k"):
        case = Case("full-" + size)
        with FullDisk(case, size) as disk:
            if not disk.mounted:
                return "skip: cannot mount a small disk"
            check_normal(case, case.run("finish", 0, MANY, record=["--spool", disk.path]), 1)
            check_whole(case)
            expect(os.listdir(disk.path) == [], "left behind: %r", os.listdir(disk.path))
    # What was spooled until the disk was full can still be had.
    case = Case("full-and-dead")
    with FullDisk(case, "300k") as disk:
        case.run("kill", 1, MANY, record=["--spool", disk.path])
        spool = os.path.join(disk.path, "run.rfn.spool")
        case.refrain("recover", spool, "-o", case.trace, status=INCOMPLETE)
        losses = case.losses()
        expect(losses["spool_stopped"], "losses: %r", dict(losses))
        for rank in range(RANKS):
            check_rank(case, rank, least=-MANY)
    return None


def times():
    """Each recovered call has its times, those behind the last block of them included."""
    for calls, block in ((FEW, False), (MANY, True)):
        case = Case("times-%d" % calls)
        case.run("kill", 1, calls, record=["--timing", "exact"])
        case.refrain("recover", case.spool)
        case.refrain("check", case.trace, status=INCOMPLETE)
        expect(not case.losses()["times_missing"], "losses: %r", dict(case.losses()))
        for rank in range(RANKS):
            check_rank(case, rank)
            end = 0
            dump = case.dumped(rank)
            expect(not block or len(dump) > 2 * 8192, "only %d calls: no block is full", len(dump))
            for line in dump:
                expect(line["begin_ns"] is not None and line["begin_ns"] <= line["end_ns"] and end <= line["end_ns"],
                       "rank %d call %d: [%r %r] behind %d", rank, line["seq"], line["begin_ns"], line["end_ns"], end)
                end = line["end_ns"]


TESTS = {
    "none": no_fault,
    "kill_early": dies_by_itself("kill", 2, FEW),
    "kill": dies_by_itself("kill", 1, LONG),
    "kill_all": dies_by_itself("kill", "all", FEW),
    "segv": dies_by_itself("segv", 3, FEW),
    "abort": dies_by_itself("abort", 0, FEW),
    "abort_all": dies_by_itself("abort", "all", FEW),
    "exit": dies_by_itself("exit", 2, FEW),
    "exit_all": dies_by_itself("exit", "all", FEW),
    "_exit": dies_by_itself("_exit", 1, FEW),
    "error": dies_by_itself("error", 2, FEW),
    "alarm_abort": dies_by_itself("alarm-abort", 2, FEW),
    "alarm_exit": dies_by_itself("alarm-exit", 1, FEW),
    "alarm__exit": dies_by_itself("alarm-_exit", 3, FEW),
    "outside_one": killed_from_outside("one", "kill", 10**9),
    "outside_all": killed_from_outside("all", "kill", 10**9),
    "launcher": killed_from_outside("launcher", "kill", 10**9),
    "hang": killed_from_outside("all", "hang", FEW),
    "made_while_paused": made_while_paused,
    "elsewhere": spool_elsewhere,
    "off": no_spool,
    "unwritable": unwritable,
    "rlimit": file_size_limit,
    "descriptors": no_descriptors_left,
    "lost_while_running": lost_while_running,
    "lost_afterwards": lost_afterwards,
    "little_memory": little_memory,
    "no_memory": no_memory,
    "no_memory_at_the_end": no_memory_at_the_end,
    "full_disk": full_disk,
    "times": times,
}


def run_all(tests):
    failed = skipped = 0
    for name in [options.only] if options.only else tests:
        begin = time.monotonic()
        try:
            outcome = tests[name]()
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as e:
            failed += 1
            print("FAIL  %s %s: %s %s" % (options.mpi, name, type(e).__name__, e), flush=True)
            continue
        skipped += outcome is not None
        print("%s  %s %s  %.1f s" % (outcome or "pass", options.mpi, name, time.monotonic() - begin),
              flush=True)
    print("%d failed, %d skipped" % (failed, skipped))
    return 1 if failed else 0


def read_options(parser, tests, paths):
    """The options of the module: those of `parser`, what every driver of these tests has, absolute `paths`."""
    global options
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True, choices=mpirun.MPIS)
    parser.add_argument("--libraries", default="")
    parser.add_argument("--shim", default="")
    parser.add_argument("--only", choices=sorted(tests))
    parser.add_argument("--keep", metavar="DIR")
    options = parser.parse_args()
    for name in ("refrain", "libraries", "shim", *paths):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def run_in_folder(tests):
    """Exit status: all tests, or the one that was asked for, in a folder that goes unless it is to be kept."""
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return SKIPPED
    options.work = options.keep or tempfile.mkdtemp(prefix="refrain-fault-")
    try:
        return run_all(tests)
    finally:
        if not options.keep:
            shutil.rmtree(options.work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--no-memory", default="", help="preload that refuses the recorder memory")
    read_options(parser, TESTS, ("program", "no_memory"))
    # Other programs stand beside it.
    options.last_calls = os.path.join(os.path.dirname(options.program), "last_calls")
    return run_in_folder(TESTS)


if __name__ == "__main__":
    sys.exit(main())
