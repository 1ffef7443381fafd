#!/usr/bin/python3
"""Jobs that do with processes and signals what few do: the program wins, and nothing is wrong.

    strange.py --refrain build/refrain --mpi mpich --programs build/tests/fault/mpich
              --late-thread build/tests/late_thread.so [--only jumping]

What is compared call by call is in tests/programs; here is what needs more than one trace, or ends
in one that is not whole. Exit status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import argparse
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import fault  # noqa: E402
from fault import Case, Failure, expect, mpirun  # noqa: E402

RANKS = 2
options = None


def run(case, program, *arguments, ranks=RANKS, record=(), job_env=None, env=None):
    words = case.words(*arguments, record=record, program=os.path.join(options.programs, program))
    return mpirun.run_job(options.mpi, ranks, words, 60, case.preload(),
                          {**case.environment(False), **(env or {})}, cwd=case.folder, job_env=job_env)


def said(outcome):
    return [l for l in outcome.stderr.decode(errors="replace").splitlines() if l.startswith("refrain")]


def info(case, trace=None, status=0):
    return json.loads(case.refrain("info", "--format", "json", trace or case.trace, status=status))


def jumping():
    """A handler jumps out of the recorder itself: the rest of that rank is not recorded.

    Without a spool: the C library and UCX hold locks while files are mapped, and a jump out of them
    leaves these locked, with Refrain as without."""
    case = Case("jumping")
    outcome = run(case, "jumping", 400, record=["--spool", "off"])
    expect(outcome.status == 0, "exit status %d: %r", outcome.status, outcome.stderr[-300:])
    found = re.findall(rb"rank (\d): (\d+) returned, 400 jumps", outcome.stdout)
    expect(len(found) == RANKS, "output: %r", outcome.stdout)
    lines = said(outcome)
    expect(all("jumped out of the recorder" in line for line in lines) and len(lines) <= RANKS, "said: %r", lines)
    # Whoever was never caught in the recorder has all its calls; with 400 jumps hardly anybody.
    case.refrain("check", case.trace, status=4 if lines else 0)
    what = info(case, status=4 if lines else 0)
    missing = [l for l in what["losses"] if l["reason"] == "rank_missing"]
    expect(len(missing) == (len(lines) > 0), "%d said so, losses: %r", len(lines), what["losses"])


def spawned():
    """Children that are recorded as well, into a trace of their own or of the same name."""
    if options.mpi == "mpich":
        return "skip: MPICH 4.0.2 on UCX refuses MPI_Comm_spawn on Debian 12"
    family = os.path.join(options.programs, "family")
    tcp = {"OMPI_MCA_btl": "self,tcp"}
    for name in ("run.rfn", "children.rfn"):
        case = Case("spawned-" + name)
        output = os.path.join(case.folder, name)
        child = ["/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries, options.refrain, "record", "-o", output,
                 "--", family]
        outcome = run(case, "family", *child, job_env=tcp)
        expect(outcome.status == 0 and outcome.stdout.count(b"2 children") == RANKS, "status %d: %r",
               outcome.status, outcome.stderr[-400:])
        same = output == case.trace
        traces = sorted(os.path.basename(p) for p in glob.glob(case.folder + "/*"))
        # Of two jobs that want one name, the one that ends last takes another, by what it is.
        allowed = [["run.1.rfn", "run.rfn"], ["run.rfn", "run.spawn1.rfn"]] if same else [["children.rfn", "run.rfn"]]
        expect(traces in allowed, "files: %r", traces)
        lines = said(outcome)
        expect(len(lines) == same and all(("run.1.rfn" if "run.1.rfn" in traces else "run.spawn1.rfn") in line
                                          for line in lines), "said: %r", lines)
        counts = {}
        for trace in traces:
            profile = json.loads(case.refrain("profile", "--format", "json", os.path.join(case.folder, trace)))
            calls = {row["call"]: row["count"] for row in profile["functions"]}
            counts["parents" if "MPI_Comm_spawn" in calls else "children"] = calls
        expect(counts.get("parents", {}).get("MPI_Comm_spawn") == RANKS, "parents: %r", counts)
        expect(counts.get("children", {}).get("MPI_Comm_get_parent") == 2, "children: %r", counts)
    return None


def stale_parts():
    """Ranks that meet in the file system do not take what an earlier run left for theirs."""
    if options.mpi == "openmpi":
        return "skip: no sessions in this MPI"
    case = Case("stale")
    parts = case.trace + ".parts"
    os.mkdir(parts)
    for name in ("0.part", "1.part", "merging"):
        with open(os.path.join(parts, name), "w") as f:
            f.write("of another run")
    outcome = run(case, "two_sessions")
    expect(outcome.status == 0 and not said(outcome), "status %d: %r", outcome.status, outcome.stderr[-300:])
    case.refrain("check", case.trace)
    expect(info(case)["calls"] == RANKS * 9, "%d calls", info(case)["calls"])
    expect(sorted(os.listdir(case.folder)) == ["run.rfn"], "left behind: %r", os.listdir(case.folder))
    return None


def session_left_open():
    """A process that ends with a session open leaves its spool."""
    if options.mpi == "openmpi":
        return "skip: no sessions in this MPI"
    case = Case("open")
    outcome = run(case, "two_sessions", "leave")
    expect(not os.path.exists(case.trace), "status %d: a trace of a job that did not finish", outcome.status)
    case.refrain("recover", case.spool)
    what = info(case, status=4)
    expect(what["calls"] >= RANKS * 6, "%d calls", what["calls"])
    return None


def forgetful():
    """What the environment and the folder were counts, not what they are when the trace is written."""
    case = Case("forgetful")
    outcome = run(case, "forgetful", record=["--messages", "all"])
    expect(outcome.status == 0, "status %d: %r", outcome.status, outcome.stderr[-300:])
    folder = info(case)["working_directory"]
    expect(os.path.realpath(folder) == os.path.realpath(case.folder), "folder %s", folder)
    case.refrain("messages", case.trace)
    return None


def sanitized():
    """A program of the address sanitizer runs, is recorded, and its errors are found and said."""
    if not os.path.exists(os.path.join(options.programs, "sanitized")):
        return "skip: this compiler has no address sanitizer"
    env = {"ASAN_OPTIONS": "detect_leaks=0"}  # MPI has some
    for record in ([], ["--buffers", "on"]):
        case = Case("sanitized" + "".join(record))
        outcome = run(case, "sanitized", record=record, env=env)
        expect(outcome.status == 0 and sorted(outcome.stdout.splitlines()) == [b"rank 0: sum 10", b"rank 1: sum 10"],
               "status %d, output %r: %r", outcome.status, outcome.stdout, outcome.stderr[-400:])
        expect(b"WARNING" not in outcome.stderr, "the sanitizer warns: %r", outcome.stderr[-400:])
        case.refrain("check", case.trace)
        expect(info(case)["calls"] == RANKS * 5, "%d calls", info(case)["calls"])
    case = Case("sanitized-wrong")
    outcome = run(case, "sanitized", "wrong", env=env)
    expect(outcome.status != 0 and b"heap-buffer-overflow" in outcome.stderr, "status %d: %r", outcome.status,
           outcome.stderr[-400:])
    return None


def fibers():
    """Calls from the small stacks of fibers: the recorder takes little more of these than MPI does."""
    kMore = 3072
    depths = []
    for recorded in (False, True):
        case = Case("fibers-%s" % ("recorded" if recorded else "plain"))
        words = case.words(program=os.path.join(options.programs, "fibers"))
        if not recorded:
            words = words[-1:]
        outcome = mpirun.run_job(options.mpi, RANKS, words, 60, case.preload(), case.environment(False),
                                 cwd=case.folder)
        found = re.findall(rb"rank \d: sum 1900, stack (\d+)", outcome.stdout)
        expect(outcome.status == 0 and len(found) == RANKS, "status %d, %r: %r", outcome.status, outcome.stdout,
               outcome.stderr[-300:])
        depths.append(max(map(int, found)))
    expect(depths[1] <= depths[0] + kMore, "bytes of a fiber's stack: %d, recorded %d", *depths)
    case.refrain("check", case.trace)
    paths = case.refrain("profile", "--by", "callpath", case.trace)
    expect("exchange fibers.c" in paths, "call paths:\n%s", paths)
    return None


def cancelled():
    """A thread that is cancelled ends where it says so, and not in the recorder's files, which holds locks there."""
    for record in ([], ["--timing", "exact"], ["--timing", "exact", "--no-compress"], ["--messages", "all"],
                   ["--buffers", "on"]):
        case = Case("cancelled" + "".join(record))
        outcome = run(case, "cancelled", record=record)
        expect(outcome.status in (0, 77), "%r: status %d: %r, %r", record, outcome.status, outcome.stdout,
               outcome.stderr[-300:])
        if outcome.status == 77:
            return "skip: this MPI has no MPI_THREAD_MULTIPLE"
        lines = sorted(outcome.stdout.decode().splitlines())
        expect(lines == ["rank %d: 6 cancelled, 18000 calls, 0 stuck" % rank for rank in range(RANKS)], "%r: %r",
               record, lines)
        case.refrain("check", case.trace)
        expect(info(case)["calls"] == RANKS * 18004, "%r: %d calls", record, info(case)["calls"])
    return None


def late_thread():
    """In MPI_Finalize, Open MPI 4 unloads what its own thread has yet to run. Recorded, the rank waits for it."""
    if options.mpi != "openmpi" or mpirun.openmpi_major() >= 5:
        return "skip: Open MPI 4 only"
    case = Case("late_thread")
    program = os.path.join(options.programs, "last_calls")

    def end_of(words, env):
        # Not by run_job(), which tries again what ends so.
        argv = mpirun.command_line(options.mpi, RANKS, words, [options.late_thread],
                                   {**env, "REFRAIN_TEST_LATE_MS": "1000"})
        return mpirun.run_command(argv, 60, mpirun.job_environment(options.mpi), case.folder)

    for _ in range(3):
        outcome = end_of(case.words("10", program=program), case.environment(False))
        expect(outcome.status == 0, "exit status %d: %r", outcome.status, outcome.stderr[-600:])
        case.refrain("check", case.trace)
    if all(end_of([program, "10"], {}).status == 0 for _ in range(3)):
        return "skip: this one ends well without a recorder, too"
    return None


TESTS = {"jumping": jumping, "spawned": spawned, "stale_parts": stale_parts, "session_left_open": session_left_open,
         "forgetful": forgetful, "sanitized": sanitized, "fibers": fibers,
         "cancelled": cancelled, "late_thread": late_thread}


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", required=True, help="folder of the built programs")
    parser.add_argument("--late-thread", required=True, help="late_thread.so")
    options = fault.read_options(parser, TESTS, ("programs", "late_thread"))
    return fault.run_in_folder(TESTS)


if __name__ == "__main__":
    sys.exit(main())
