#!/usr/bin/python3
"""What was dumped is what the program did: every test program, with and without Refrain.

    compare.py --refrain build/src/cli/refrain --mpi mpich --programs build/tests/programs/mpich
               [--group p2p | --only NAME [-n 3] [--args "1 300"]] [--sample first|other [--rest]] [--keep DIR]

Runs each program of the manifest twice. With Refrain its exit status and output must be the same;
`refrain check` must be content; the recorder must find the call paths that libunwind finds; and
`refrain dump --format jsonl` of every rank must be, call by call and parameter by parameter, what
the program has logged by its own hand. tests/README.md describes the log. Exit status: 0 all good,
1 something differs, 77 nothing could run.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "support"))
import checks  # noqa: E402
import mpirun  # noqa: E402
import path_check  # noqa: E402
import sample  # noqa: E402
import trace_log  # noqa: E402

SKIPPED = 77
# Their ranks use sessions before MPI_Init, or without it: a job with an analyser ends with status 2 (docs/live.md).
WITHOUT_INIT = ("sessions_only", "session_cycles")
# It asks a library that it has opened itself for functions: no recorder sees these calls, so the rank takes no part.
UNSEEN_WITH = ("mixed", "handle")
UNSUPPORTED = 5  # exit status of a refusal


class Failure(Exception):
    """One line that says what differs."""


class Case:
    """One program on one MPI with one number of ranks."""

    def __init__(self, entry, ranks, options):
        self.entry, self.ranks, self.options = entry, ranks, options
        self.mpi = options.mpi
        self.folder = os.path.join(options.work, "%s-%s-%d-%s" % (
            entry["name"], self.mpi, ranks, "_".join(entry.get("args", []))[:20].replace("/", "")))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.trace = os.path.join(self.folder, "t.rfn")
        self.live = os.path.join(self.folder, "live")
        self.log = os.path.join(self.folder, "log")
        self.paths = os.path.join(self.folder, "paths")
        self.written = []  # what the recorder said at the end

    def title(self):
        return "%s %s -n %d" % (self.mpi, " ".join([self.entry["name"]] + self.entry.get("args", [])),
                                self.ranks)

    def again(self):
        options = self.options
        words = [os.path.join(HERE, "compare.py"), "--refrain", options.refrain, "--mpi", self.mpi,
                 "--programs", options.programs, "--only", self.entry["name"], "-n", str(self.ranks),
                 "--manifest", options.manifest, "--keep", "/tmp/refrain-again"]
        if options.shim:
            words += ["--shim", options.shim]
        if options.libraries:
            words += ["--libraries", options.libraries]
        if options.live:
            words += ["--live", options.live]
        if self.entry.get("args"):
            words += ["--args", " ".join(self.entry["args"])]
        return " ".join(shlex.quote(w) for w in words)

    def command(self):
        arguments = [a.replace("{programs}", self.options.programs)
                     for a in self.entry.get("args", [])]
        if "python" in self.entry:
            return ["/usr/bin/python3", os.path.join(HERE, "programs", self.entry["python"])] + arguments
        return [os.path.join(self.options.programs, self.entry["name"])] + arguments

    def record_options(self):
        return [o.replace("{mpi}", mpirun.word(self.mpi)) for o in self.entry.get("record", [])]

    def run(self, recorded):
        env = {"REFRAIN_TEST_DIR": self.folder}
        wrapper, beside = [], []
        if recorded:
            env["REFRAIN_TEST_LOG"] = self.log
            env["REFRAIN_CHECK_PATHS"] = self.paths
            env["REFRAIN_QUIET"] = "0"
            wrapper = [self.options.refrain, "record", "-o", self.trace] + self.record_options()
            if self.options.live:
                wrapper.append("--live")
                where, count = self.options.live.split(":")
                beside.append(mpirun.Beside([self.options.refrain, "live", "analyze", "-o", self.live], int(count),
                                            where == "first"))
            wrapper.append("--")
            if self.options.libraries:
                env["REFRAIN_LIBRARY_PATH"] = self.options.libraries
        preload = mpirun.shims(self.mpi, self.options.shim)
        return mpirun.run_job(self.mpi, self.ranks, self.command(), self.options.timeout, preload, env,
                              cwd=self.folder, job_env=self.entry.get("job_env"), wrapper=wrapper, beside=beside)

    def number_logs(self):
        """Programs number their logs by the launcher's variables, which count analysers that stand before them."""
        where, count = self.options.live.split(":") if self.options.live else ("last", 0)
        for rank in range(self.ranks if where == "first" else 0):
            before = "%s.%d" % (self.log, rank + int(count))
            if os.path.exists(before):
                os.rename(before, "%s.%d" % (self.log, rank))

    def refrain(self, *arguments):
        done = subprocess.run([self.options.refrain] + list(arguments), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        if done.returncode != 0:
            raise Failure("`refrain %s` exits with %d: %s" % (
                " ".join(arguments), done.returncode, done.stderr.decode(errors="replace").strip()[:300]))
        return done.stdout.decode()


def check_received(case):
    """The analyser's trace has the calls of the program's own one."""
    if not os.path.exists(case.trace):
        return
    names = sorted(n for n in os.listdir(case.live) if n.endswith(".rfn")) if os.path.isdir(case.live) else []
    if len(names) != 1:
        raise Failure("the analyser leaves %s" % (names or "no trace"))
    own, received = (case.refrain("dump", t) for t in (case.trace, os.path.join(case.live, names[0])))
    if own != received:
        raise Failure("the analyser's trace has other calls than the program's")


def sorted_lines(data):
    return sorted(data.split(b"\n"))


def check_run(case):
    """The program with Refrain behaves as without; False when it has nothing to show here."""
    expected = case.entry.get("exit", 0)
    plain = case.run(False)
    if plain.status not in (expected, SKIPPED) and not plain.timed_out and case.mpi not in case.entry.get("broken", {}):
        # Now and then a job does not start where a machine is busy; that says nothing of Refrain.
        said = plain.stderr.decode(errors="replace").strip()[:400]
        print("again %s: without Refrain it exits with %d: %s" % (case.title(), plain.status, said), flush=True)
        plain = case.run(False)
    if plain.status == SKIPPED:
        return False
    if plain.status != expected and case.mpi in case.entry.get("broken", {}):
        return False  # the library's fault: see the manifest
    if plain.status != expected:
        raise Failure("without Refrain it exits with %d instead of %d: %s" % (
            plain.status, expected, plain.stderr.decode(errors="replace").strip()[-400:]))
    recorded = case.run(True)
    # What a rank that ends with an error has printed last is lost at times.
    case.may_be_cut = expected != 0 and mpirun.may_lose_output(case.mpi)
    for _ in range(2 if expected != 0 else 0):
        if sorted_lines(plain.stdout) != sorted_lines(recorded.stdout):
            plain, recorded = case.run(False), case.run(True)
    own = [l for l in recorded.stderr.decode(errors="replace").splitlines() if l.startswith("refrain")]
    paths = path_check.Totals()
    paths.add(case.paths)
    if paths.fault():
        raise Failure(paths.fault())
    case.options.call_paths.add(case.paths)
    written = [l for l in own if l.startswith("refrain: wrote ")]
    own = [l for l in own if l not in written]
    # Spawned processes say theirs where their launcher passes it on.
    case.written = [l for l in written if not l.startswith("refrain: wrote t.spawn")]
    if recorded.status != plain.status:
        raise Failure("exit status %d with Refrain, %d without; stderr: %s" % (
            recorded.status, plain.status, recorded.stderr.decode(errors="replace").strip()[-6000:]))
    # What an aborted job still prints is a matter of who was quicker.
    is_cut = case.may_be_cut and plain.stdout.startswith(recorded.stdout)
    if case.entry.get("trace") != "any" and not is_cut and sorted_lines(plain.stdout) != sorted_lines(recorded.stdout):
        raise Failure("output with Refrain: %r, without: %r" % (
            recorded.stdout[-300:], plain.stdout[-300:]))
    said = case.entry.get("said")
    if said and (len(own) != 1 or said not in own[0]):
        raise Failure("Refrain said %r, not one line with '%s'" % (own, said))
    if own and not said and case.entry.get("trace", "whole") == "whole":
        raise Failure("Refrain said: %s" % own[0])
    return True


def check_written(case, info):
    """The recorder said in one line what it wrote, and what `info` says is the same."""
    if case.may_be_cut and not case.written:
        return
    said = re.fullmatch(r"refrain: wrote t\.rfn: ([0-9 ]+) calls? of ([0-9 ]+) ranks? in ([0-9 ]+) bytes, "
                        r"(no losses|losses: .*); next: (\S+) (info|profile|waits) t\.rfn",
                        case.written[0] if len(case.written) == 1 else "")
    if not said:
        raise Failure("at the end the recorder said %r" % case.written)
    numbers = [int(said.group(i).replace(" ", "")) for i in (1, 2, 3)]
    if numbers != [info["calls"], info["ranks"], os.path.getsize(case.trace)]:
        raise Failure("the recorder said %r, and info %r" % (case.written[0], info))
    if (said.group(4) == "no losses") != (info["losses"] == []) or (info["losses"] and said.group(6) != "info"):
        raise Failure("the recorder said %r, and info losses %r" % (case.written[0], info["losses"]))
    if said.group(5) != case.options.refrain:
        raise Failure("the next command is not that of %s: %r" % (case.options.refrain, case.written[0]))


def calls_what_is_newer(case):
    """Whether the program refers to functions that the recorder is too old for, and the trace says so."""
    info = json.loads(case.refrain("info", case.trace, "--format", "json"))
    return any(loss["reason"] == "not_seen" and "newer than the recorder" in loss["detail"]
               for loss in info["losses"])


def check_refused(case):
    """The recorder is for another MPI than the program opens: it says so on one line, before MPI begins."""
    done = case.run(True)
    text = done.stderr.decode(errors="replace")
    own = [line for line in text.splitlines() if line.startswith("refrain")]
    if case.options.live:  # the analyser, too, says so, where its launcher lets it
        own = [line for line in own if "nothing to analyse" not in line]
    wanted = case.entry["refused"].replace("{mpi}", mpirun.word(case.mpi))
    if len(own) != 1 or wanted not in own[0]:
        raise Failure("Refrain said %r, not one line with '%s'" % (own or text[-300:], wanted))
    if done.status != UNSUPPORTED:
        raise Failure("exit status %d instead of %d" % (done.status, UNSUPPORTED))
    if os.path.exists(case.trace):
        raise Failure("a trace was written")


def check_case(case):
    """None when all is well, or "skip"."""
    if "refused" in case.entry:
        return check_refused(case)
    if not check_run(case):
        return "skip"
    kind = case.entry.get("trace", "whole")
    leftovers = [f for f in os.listdir(case.folder) if f.startswith("t.rfn") and f != "t.rfn"]
    if leftovers and kind != "any":
        raise Failure("left behind: %s" % ", ".join(leftovers))
    if kind == "none":
        if os.path.exists(case.trace):
            raise Failure("a trace was written though there was nothing to record")
        return None
    if not os.path.exists(case.trace):
        if kind == "any":
            return None
        raise Failure("no trace was written")
    if kind == "any":
        return None
    case.refrain("check", case.trace)
    if case.options.live:
        check_received(case)
    check_written(case, json.loads(case.refrain("info", case.trace, "--format", "json")))
    if case.options.older_recorder and calls_what_is_newer(case):
        return "skip"
    case.number_logs()
    logs = [trace_log.read_log("%s.%d" % (case.log, r)) for r in range(case.ranks)]
    dumps = [trace_log.read_dump(case.refrain("dump", case.trace, "--rank", str(r), "--format", "jsonl"))
             for r in range(case.ranks)]
    table = case.options.table
    for rank, dump in enumerate(dumps):
        checks.check_dump(dump, rank, table)
    trace_log.compare_all(logs, dumps, case.entry.get("mode", "exact"),
                          case.entry.get("source", case.entry["name"] + ".c"))
    if case.entry.get("mode", "exact") == "exact":
        checks.check_profile(json.loads(case.refrain("profile", case.trace, "--format", "json")), logs)
        checks.check_info(json.loads(case.refrain("info", case.trace, "--format", "json")), logs, mpirun.word(case.mpi),
                          case.entry.get("losses", {}))
    checks.check_matrix(case.refrain("matrix", case.trace, "--format", "csv"), logs,
                        case.entry.get("mode", "exact"))
    return None


def selected(manifest, options, skipped):
    """The entries that this MPI can run; what it cannot goes to `skipped`."""
    for entry in manifest["programs"]:
        if options.group and entry["group"] not in options.group:
            continue
        if options.only and entry["name"] != options.only:
            continue
        if options.names and entry["name"] not in options.names.split(","):
            continue
        if options.args is not None and entry.get("args", []) != options.args.split():
            continue
        if mpirun.word(options.mpi) not in entry.get("mpi", [mpirun.word(options.mpi)]):
            skipped.append("%s (%s)" % (entry["name"], entry["why"]))
            continue
        if options.live and entry["name"] in WITHOUT_INIT:
            skipped.append("%s (sessions without MPI_Init take no part beside an analyser)" % entry["name"])
            continue
        if options.live and entry["name"] == "late_mpi" and entry["args"][0] in UNSEEN_WITH:
            skipped.append("%s (calls that no recorder sees take no part beside an analyser)" % entry["name"])
            continue
        built = os.path.exists(os.path.join(options.programs, entry["name"]))
        if mpirun.word(options.mpi) == "abi" and not built:
            skipped.append("%s (no compiler of its language for this MPI)" % entry["name"])
            continue
        yield entry


def run_all(manifest, options):
    passed, skipped, failed = 0, [], 0
    entries = list(selected(manifest, options, skipped))
    cases = sample.cases(entries, options.sample, options.rest)
    if options.ranks:
        cases = [(entry, options.ranks) for entry in entries]
    for entry, ranks in cases:
        case = Case(entry, ranks, options)
        begin = time.monotonic()
        try:
            outcome = check_case(case)
            if outcome == "skip":
                skipped.append("%s (this MPI cannot)" % entry["name"])
            else:
                passed += 1
                print("pass  %s  (%.1f s)" % (case.title(), time.monotonic() - begin), flush=True)
        except (Failure, checks.Broken, trace_log.Difference, subprocess.TimeoutExpired, ValueError) as e:
            failed += 1
            print("FAIL  %s: %s\n      again: %s" % (case.title(), e, case.again()), flush=True)
        if not options.keep:
            shutil.rmtree(case.folder, ignore_errors=True)
    for line in skipped:
        print("skip  %s %s" % (options.mpi, line))
    print(options.call_paths)
    print("%d passed, %d skipped, %d failed" % (passed, len(skipped), failed))
    if passed and not options.only and path_check.HAS_RULES and options.call_paths.paths == 0:
        print("FAIL  no call path was compared")
        return 1
    if failed:
        return 1
    return 0 if passed else SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True, choices=mpirun.MPIS)
    parser.add_argument("--programs", required=True, help="folder of the built programs")
    parser.add_argument("--libraries", default="", help="folder of librefrain-<mpi>.so")
    parser.add_argument("--manifest", default=os.path.join(HERE, "programs", "manifest.json"))
    parser.add_argument("--calls", default=os.path.join(HERE, "..", "spec", "mpi", "calls"))
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    parser.add_argument("--group", action="append")
    parser.add_argument("--only")
    parser.add_argument("--args")
    parser.add_argument("-n", type=int, dest="ranks")
    parser.add_argument("--sample", choices=sample.PARTS, help="only the cases of the normal run: support/sample.py")
    parser.add_argument("--rest", action="store_true", help="only the cases that --sample leaves out")
    parser.add_argument("--live", metavar="first:1|last:2",
                        help="beside so many analysers, before or behind the program")
    parser.add_argument("--names", help="only these, separated by commas")
    parser.add_argument("--timeout", type=float, default=90)
    parser.add_argument("--older-recorder", action="store_true",
                        help="pass by programs that call what the trace names as newer than the recorder")
    parser.add_argument("--keep", metavar="DIR", help="leave traces and logs there")
    options = parser.parse_args()
    for name in ("refrain", "programs", "shim", "libraries", "keep", "manifest"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return SKIPPED
    if options.live and not mpirun.starts_several(options.mpi):
        print("skip  no launcher of %s that starts several programs" % options.mpi)
        return SKIPPED
    with open(options.manifest) as f:
        manifest = json.load(f)
    options.call_paths = path_check.Totals()
    options.table = checks.read_table(options.calls)
    options.work = options.keep or tempfile.mkdtemp(prefix="refrain-compare-")
    os.makedirs(options.work, exist_ok=True)
    try:
        return run_all(manifest, options)
    finally:
        if not options.keep:
            shutil.rmtree(options.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
