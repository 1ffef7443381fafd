#!/usr/bin/python3
"""refrain live analyze in the job of a program: output, status and trace are those without an analyser.

    world.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program world

With 1 and 2 analysers, first and last in the line, also with outputs of their own; after MPI_Abort and kill -9 of a
rank; and in jobs in which somebody is missing.
"""
import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import expectations  # noqa: E402
from expectations import expect  # noqa: E402

NOBODY_READS = os.path.join(HERE, "..", "support", "nobody_reads.py")
RANKS = 4
LIMIT_S = 300
SKIPPED = 77
options = None


class Run:
    """The program in a folder of its own."""

    def __init__(self, title, end="end", record=(), beside=(), wait_s=0, command=None):
        self.folder = os.path.join(options.work, title.replace(" ", "-"))
        os.makedirs(self.folder)
        self.trace, self.live = os.path.join(self.folder, "t.rfn"), os.path.join(self.folder, "live")
        preload = mpirun.shims(options.mpi, options.shim)
        analyser = [options.refrain, "live", "analyze", "-o", self.live]
        programs = [mpirun.Beside(one.command or analyser, one.count, one.first) for one in beside]
        words = command or [options.refrain, "record", "-o", self.trace, *record, "--", options.program, end]
        argv = mpirun.command_line(options.mpi, RANKS, words, preload, {"REFRAIN_LIBRARY_PATH": options.libraries},
                                   beside=programs)
        env = dict(mpirun.job_environment(options.mpi), REFRAIN_QUIET="1")
        # Not under the watchdog of mpirun.py: it ends what outlives the launcher.
        begin = time.monotonic()
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                              cwd=self.folder, timeout=LIMIT_S)
        self.seconds = time.monotonic() - begin
        self.status, self.err = done.returncode, done.stderr.decode(errors="replace")
        self.lines = sorted(done.stdout.decode(errors="replace").splitlines())
        end_s = time.monotonic() + wait_s
        while time.monotonic() < end_s and not os.path.exists(self.left("html")):
            time.sleep(0.1)

    def left(self, ending):
        return os.path.join(self.live, "world." + ending)

    def log(self):
        path = os.path.join(self.live, "analyze.log")
        return open(path).read() if os.path.exists(path) else "no log"


def analysers(count=1, first=False):
    return [mpirun.Beside(None, count, first)]


def refrain(*words):
    done = subprocess.run([options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
    if done.returncode not in (0, 4):
        print(words, done.returncode, done.stderr.decode()[-300:])
    return done.stdout.decode()


def calls_of(trace):
    """Without error codes: those of MPICH are made of the error's text, in which it writes handles as numbers."""
    return re.sub(r"(rc|errorcode)=\d+", r"\1=", refrain("dump", trace))


def without_last_deletes(lines):
    return [line for line in lines if not line.endswith("deletes of world, at the end")]


def check_prints_the_same(plain, run, what):
    if without_last_deletes(plain.lines) == plain.lines:
        # Open MPI 6.0 leaves the attributes of MPI_COMM_WORLD where they are when it ends, but not those of a
        # communicator that is freed. The standard promises neither.
        run.lines = without_last_deletes(run.lines)
    if run.lines != plain.lines:
        print("without:", [x for x in plain.lines if x not in run.lines][:8])
        print("with:   ", [x for x in run.lines if x not in plain.lines][:8])
    expect(run.lines == plain.lines, "%s: the same output" % what)


def check_equal(plain, run, what):
    check_prints_the_same(plain, run, what)
    expect(run.status == plain.status, "%s: status %d: %s" % (what, run.status, run.err[-300:]))
    expect(os.path.exists(run.trace), "%s: the program's trace is there" % what)
    own, there = calls_of(run.trace).splitlines(), calls_of(plain.trace).splitlines()
    for line in list(difflib.unified_diff(there, own, n=0, lineterm=""))[:8] if own != there else []:
        print("   ", line)
    expect(own == there, "%s: the same calls" % what)


def check_left(run, what):
    expect(os.path.exists(run.left("rfn")), "%s: the analyser's trace: %s" % (what, run.log()))
    if not os.path.exists(run.left("rfn")):
        return
    expect(refrain("dump", run.left("rfn")) == refrain("dump", run.trace), "%s: it has the same calls" % what)
    for name in ("profile", "matrix"):
        with open(os.path.join(run.live, "world", name + ".json")) as left:
            answer = json.load(left)
        expect(answer == json.loads(refrain(name, run.left("rfn"), "--format", "json")), "%s: %s" % (what, name))
    expect(os.path.exists(os.path.join(run.live, "index.html")), "%s: the index" % what)
    expect(not os.path.exists(os.path.join(run.live, "jobs")), "%s: nothing is left of the work" % what)


def check_places():
    plain = Run("plain")
    expect(plain.status == 0 and len(plain.lines) > 20 * RANKS, "the program runs: %s" % plain.err[-300:])
    for title, count, first in (("last 1", 1, False), ("first 1", 1, True), ("last 2", 2, False), ("first 2", 2, True)):
        run = Run(title, record=["--live"], beside=analysers(count, first))
        check_equal(plain, run, title)
        check_left(run, title)
        expect("refrain" not in run.err, "%s: nothing on stderr: %s" % (title, run.err[-300:]))
    return plain


def check_says_the_same(timing):
    """What the analyser has left of a job is what the verbs say of the program's own trace."""
    what = "says the same, " + timing
    run = Run(what, record=["--live", "--timing", timing], beside=analysers())
    for name in ("profile", "matrix", "waits", "info") if timing == "exact" else ("profile", "matrix", "info"):
        own, left = (json.loads(refrain(name, path, "--format", "json")) for path in (run.trace, run.left("rfn")))
        if name != "info":
            with open(os.path.join(run.live, "world", name + ".json")) as file:
                left = json.load(file)
        # The name; how the times are packed.
        for key in ("trace", "file", "file_bytes", "times", "started"):
            own.pop(key, None), left.pop(key, None)
        wrong = [key for key in own if own[key] != left.get(key)]
        expect(own.keys() == left.keys() and not wrong, "%s: %s is that of the program's trace: %s" % (
            what, name, [(key, own[key], left.get(key)) for key in wrong[:3]]))


def check_two_outputs(plain):
    """One analyser works; the other one says that it does not, and leaves no empty folder."""
    other = os.path.join(options.work, "other")
    command = [options.refrain, "live", "analyze", "-o", other]
    beside = analysers(1, True) + [mpirun.Beside(command, 1, False)]
    run = Run("two outputs", record=["--live"], beside=beside)
    check_equal(plain, run, "two outputs")
    check_left(run, "two outputs")
    expect(run.err.count("another analyser of this job does the work") == 1 and not os.path.exists(other),
           "two outputs: one line, no folder: %s" % run.err[-300:])


def check_deaths():
    """The analyser's rank is killed by the launcher; what works has a session of its own."""
    for end in ("abort", "die"):
        run = Run(end, end=end, record=["--live"], beside=analysers(1, end == "die"), wait_s=30)
        expect(run.status != 0, "%s: status %d" % (end, run.status))
        expect(os.path.exists(run.left("rfn")), "%s: the analyser's trace: %s" % (end, run.log()))
        dump = refrain("dump", run.left("rfn"))
        expect(dump.count("MPI_Sendrecv") == 200 * RANKS, "%s: all calls: %d" % (end, dump.count("MPI_Sendrecv")))
        expect("died" in run.log() or os.path.exists(run.left("html")), "%s: a report" % end)


def check_live_only(plain):
    """The analyser's trace is the only one, and has the same calls."""
    run = Run("live only", record=["--live", "--live-only", "--live-policy", "block:10", "--timing", "exact"],
              beside=analysers())
    check_prints_the_same(plain, run, "live only")
    expect(run.status == 0, "live only: status %d: %s" % (run.status, run.err[-300:]))
    expect(not os.path.exists(run.trace), "live only: no trace of the program's own")
    expect(os.path.exists(run.left("rfn")), "live only: the analyser's trace: %s" % run.log())
    calls = re.sub(r" \[\d+ \d+\]", "", calls_of(run.left("rfn")))  # without times
    expect(calls == calls_of(plain.trace), "live only: the same calls")
    expect(json.loads(refrain("info", run.left("rfn"), "--format", "json"))["losses"] == [], "live only: no losses")
    expect(not os.path.exists(run.trace + ".spool"), "live only: no spool is left")
    for words in (["--live", "--live-policy", "never"], ["--live", "--live-policy", "block:0"], ["--live-only"],
                  ["--live-policy", "drop"], ["--live", "--live-only", "--cluster", "2"]):
        done = subprocess.run([options.refrain, "record", *words, "--", "true"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        expect(done.returncode == 2 and done.stderr.count(b"\n") == 1, "%s: %d, %s" % (
            " ".join(words), done.returncode, done.stderr.decode()))


def check_missing(plain):
    alone = Run("alone", record=["--live"])
    check_equal(plain, alone, "no analyser")
    expect("no analyser in the job" in alone.err and alone.err.count("refrain:") == 1,
           "no analyser: one line: %s" % alone.err[-300:])
    other = [options.refrain, "record", "-o", os.path.join(options.work, "other.rfn"), "--", options.program]
    run = Run("without live", record=["--live"], beside=[*analysers(), mpirun.Beside(other)])
    expect(run.status == 2 and run.err.count("takes no part") == 1,
           "a program without --live: status %d: %s" % (run.status, run.err[-600:]))
    run = Run("nobody", command=[options.refrain, "live", "analyze", "-o", "live"])
    expect(run.status == 2 and run.err.count("no program in the job") == 1,
           "no program: status %d: %s" % (run.status, run.err[-300:]))
    done = subprocess.run([options.refrain, "live", "analyze"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(done.returncode == 2 and b"a place in a job" in done.stderr, "no launcher: %s" % done.stderr.decode())
    if options.mpi == "mpich":  # whose MPI_Abort gets SIGPIPE for a line of its own
        return
    record = [sys.executable, NOBODY_READS, options.refrain, "record", "-o", "p.rfn", "--live", "--", options.program]
    run = Run("without live, unread", beside=[*analysers(), mpirun.Beside(other)], command=[*record, "end"])
    expect(run.status == 2, "nobody reads that a program is without --live: status %d" % run.status)


def check_refused():
    """An analyser that cannot begin: the programs wait for it in MPI_Init, so it ends the job, with one line."""
    live = os.path.join(options.work, "refused")
    for words, status, what in ((["-o", live, "--nonsense"], 2, "unknown option --nonsense"),
                                (["-o", live, "--token", "x"], 2, "--token: is of feed"),
                                (["-o", live, "--interval", "0"], 2, "no interval"),
                                (["-o", live, "--plugin", "none.so"], 2, "cannot be read"),
                                (["-o", "/proc/none"], 1, "cannot make the folder")):
        command = [options.refrain, "live", "analyze", *words]
        run = Run("refused " + words[-1].replace("/", "-"), record=["--live"], beside=[mpirun.Beside(command, 2)])
        lines = [line for line in run.err.splitlines() if line.startswith("refrain:")]
        expect(run.status == status and len(lines) == 1 and what in lines[0] and run.seconds < LIMIT_S / 2,
               "%s: status %d after %.1f s: %s" % (" ".join(words), run.status, run.seconds, run.err[-300:]))


def check_sessions():
    """A program that begins with a session, first and last: refused in one line, nothing hangs. Alone it goes on."""
    if not options.sessions:
        return
    program = [options.refrain, "record", "-o", "s.rfn", "--live", "--", options.sessions]
    for first in (False, True):
        run = Run("sessions beside %s" % first, beside=analysers(1, first), command=program)
        lines = [line for line in run.err.splitlines() if line.startswith("refrain:")]
        # The launcher of MPICH may give the status of ranks that it has killed.
        expect(run.status in (2, 9) and len(lines) == 1 and "sessions before MPI_Init" in lines[0],
               "sessions, analyser first: %s: status %d: %s" % (first, run.status, lines))
        expect(run.seconds < LIMIT_S / 2, "it ends soon: %.1f s" % run.seconds)
    alone = Run("sessions alone", command=program)
    expect(alone.status == 0 and os.path.exists(os.path.join(alone.folder, "s.rfn")),
           "sessions without an analyser: status %d: %s" % (alone.status, alone.err[-300:]))


def check_no_init():
    """A program that ends before MPI_Init ends its job, with its own status."""
    program = [options.refrain, "record", "-o", "n.rfn", "--live", "--", options.no_init]
    for count, first in ((1, False), (1, True), (2, True)):
        what = "no MPI_Init beside %d, first: %s" % (count, first)
        run = Run(what, beside=analysers(count, first), command=program)
        expect(run.status == 5 and run.seconds < LIMIT_S / 2, "%s: status %d after %.1f s: %s" %
               (what, run.status, run.seconds, run.err[-300:]))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("refrain", "mpi", "program", "libraries"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    parser.add_argument("--no-init", help="a program that ends with 5, without MPI_Init", required=True)
    parser.add_argument("--sessions", help="a program that uses sessions only", default="")
    options = parser.parse_args()
    for name in ("refrain", "program", "libraries", "shim", "sessions", "no_init"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if mpirun.launcher(options.mpi) is None or not mpirun.starts_several(options.mpi):
        print("skip  no launcher of %s that starts several programs" % options.mpi)
        return SKIPPED
    options.work = tempfile.mkdtemp(prefix="refrain-world-")
    try:
        plain = check_places()
        check_says_the_same("exact")
        check_says_the_same("stats")
        check_two_outputs(plain)
        check_live_only(plain)
        check_deaths()
        check_missing(plain)
        check_refused()
        check_sessions()
        check_no_init()
    finally:
        shutil.rmtree(options.work, ignore_errors=True)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
