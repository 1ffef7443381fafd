#!/usr/bin/python3
"""A rank that runs alone does what it did: every test program recorded with message logs, and each rank run again.

    solo.py --refrain build/refrain --programs build/tests/programs --mpi mpich [--group p2p | --only NAME]
            [--sample] [--keep DIR]

Each program of the manifest is recorded under --mpi with --messages all. Then each of its ranks runs by itself with
`refrain solo`: its exit status, what all ranks print and each one's own log must be those of the recorded run, and the
guard must find no difference between program and trace. Logs are compared line by line, those of several threads
thread by thread: which of two threads writes its line first is not decided by MPI. What cannot run alone is on the
committed list refused.json, by name or by name and arguments, each with a reason; a refusal that is not there, or one
there that does not come, is a failure. What nobody can refuse as nobody sees it is there as "not run".
Exit status: 0 all good, 1 something is wrong, 77 nothing could run.
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
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED = 77
# One of each kind, for every run of the tests.
SAMPLE = ("p2p_wildcard", "coll_vectors", "datatypes_nested", "inner_attributes",
          "attribute_order")
# Options of `record` that leave calls out, which one rank alone needs.
FILTERS = ("--only", "--without", "--comm", "--min-bytes", "--max-bytes", "--start-paused")
# Their own logs have lines of what the recorder asks the program for, and nothing asks for it here.
ASKED_BY_RECORDER = ("functions",)
ADDRESS = re.compile(r"\b\d{14,15}\b")  # addresses differ from run to run
THREAD = re.compile(r'"thread":"([^"]*)"')
REQUEST = re.compile(r'"@R\d+"')  # requests, in the order of the lines of all threads
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def environment(entry, folder, log):
    env = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_LOG": os.path.join(folder, log),
           "REFRAIN_TEST_DIR": folder,
           "REFRAIN_OUTPUT": os.path.join(folder, "run.rfn")}  # late_mpi asks whether it is recorded
    env.update(entry.get("job_env", {}))
    return env


def command_of(entry):
    programs = os.path.join(options.programs, options.mpi)
    words = [a.replace("{programs}", programs) for a in entry.get("args", [])]
    if "python" in entry:
        return ["/usr/bin/python3", os.path.join(HERE, "..", "programs", entry["python"])] + words
    return [os.path.join(programs, entry["name"])] + words


def record(entry, ranks, folder):
    """The trace; None where this MPI cannot run the program."""
    trace = os.path.join(folder, "run.rfn")
    more = [word.replace("{mpi}", options.mpi) for word in entry.get("record", [])]
    wrapper = [options.refrain, "record", "-o", trace, "--messages", "all"] + more + ["--"]
    outcome = mpirun.run_job(options.mpi, ranks, command_of(entry), options.timeout,
                             env=environment(entry, folder, "log"), cwd=folder, job_env=entry.get("job_env"),
                             wrapper=wrapper)
    return (trace if os.path.exists(trace) else None), outcome


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="replace") as text:
        return [ADDRESS.sub("ADDRESS", line.rstrip("\n")) for line in text]


def without_operators(before, now, count):
    """The recorded log without what functions logged that are not called by a rank that runs alone: reduction
    operators, and functions of attributes in calls of files and windows."""
    if len(before) - len(now) != count:
        return before
    kept, at = [], 0
    for line in before:
        if at < len(now) and line == now[at]:
            kept.append(line)
            at += 1
    return kept


def compare(what, before, now):
    for i, (a, b) in enumerate(zip(before, now)):
        if a != b:
            raise Failure("%s differs in line %d: %s | %s" % (what, i + 1, a[:160], b[:160]))
    if len(before) != len(now):
        raise Failure("%s has %d lines, %d when it was recorded" % (what, len(now), len(before)))


def by_thread(lines):
    """The lines of each thread, its requests numbered in its own lines; as they are where there is one thread."""
    threads, numbers = {}, {}
    for line in lines:
        found = THREAD.search(line)
        threads.setdefault(found[1] if found else "", []).append(line)
    if len(threads) < 3:  # one that calls MPI, and those that begin and end it
        return {"": lines}
    for thread, own in threads.items():
        known = numbers.setdefault(thread, {})
        threads[thread] = [REQUEST.sub(lambda m: '"@R%d"' % known.setdefault(m[0], len(known)), line)  # noqa: B023
                           for line in own]
    return threads


def compare_logs(what, before, now):
    before, now = by_thread(before), by_thread(now)
    for thread in sorted(set(before) | set(now)):
        compare("%s%s" % (what, ", thread " + thread if thread else ""), before.get(thread, []), now.get(thread, []))


def alone(entry, rank, trace, folder, printed):
    """Runs one rank, whose output is added to `printed`; the reason where it is refused."""
    env = dict(os.environ, **environment(entry, folder, "alone"))
    done = subprocess.run([options.refrain, "solo", trace, "--rank", str(rank), "--write-files", "--"] +
                          command_of(entry), capture_output=True, env=env, cwd=folder, timeout=options.timeout,
                          check=False)
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if line.startswith("refrain")]
    is_refused = done.returncode == 5 and not entry.get("exit") == 5
    if is_refused or any("no rank has a message log" in line for line in said):
        return said[-1] if said else "refused"
    if done.returncode != entry.get("exit", 0):
        raise Failure("rank %d exits with %d: %s" % (rank, done.returncode, " | ".join(said)[:500]))
    if any("not in the log" in line for line in said):
        raise Failure("rank %d: %s" % (rank, said[-1]))
    printed.append(done.stdout)
    if entry["name"] in ASKED_BY_RECORDER:
        return None
    before, now = (lines_of(os.path.join(folder, "%s.%d" % (log, rank))) for log in ("log", "alone"))
    inside = re.search(r", (\d+) calls of (?:operators|attributes) left out", said[-1]) if said else None
    compare_logs("rank %d: its log" % rank, without_operators(before, now, int(inside[1])) if inside else before, now)
    return None


def printed_lines(outputs):
    """In the order of their text: a launcher mixes the lines of ranks."""
    text = b"\n".join(outputs).decode(errors="replace")
    return sorted(ADDRESS.sub("ADDRESS", line) for line in text.splitlines() if line)


def reason_of(entry, refused):
    return refused.get(" ".join([entry["name"]] + entry.get("args", []))) or refused.get(entry["name"])


def check(entry, ranks, refused):
    """None, or why it was left out."""
    folder = tempfile.mkdtemp(prefix="%s-%d-" % (entry["name"], ranks), dir=options.keep)
    try:
        trace, outcome = record(entry, ranks, folder)
        if trace is None:
            return "not recorded (exit status %d)" % outcome.status
        printed, listed = [], reason_of(entry, refused)
        reasons = [alone(entry, rank, trace, folder, printed) for rank in range(ranks)]
        found = next((r for r in reasons if r), None)
        if found and not listed:
            raise Failure("is refused: " + found)
        if not found and listed:
            raise Failure("is on the list of refused programs, and runs")
        if not found and not mpirun.may_lose_output(options.mpi):
            compare("what the ranks print", printed_lines([outcome.stdout]), printed_lines(printed))
        return found and "refused: " + listed
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def chosen(entry, refused_here):
    if options.only:
        return entry["name"] == options.only
    if options.sample:
        return entry["name"] in SAMPLE and not reason_of(entry, refused_here)
    return options.group in (None, entry["group"])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--refrain", "--programs", "--mpi"):
        parser.add_argument(name, required=True)
    for name in ("--group", "--only", "--keep"):
        parser.add_argument(name)
    parser.add_argument("--libraries", default="")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--timeout", type=float, default=180)
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        print("no launcher of", options.mpi)
        return SKIPPED
    with open(os.path.join(HERE, "..", "programs", "manifest.json"), encoding="utf-8") as text:
        manifest = json.load(text)["programs"]
    with open(os.path.join(HERE, "refused.json"), encoding="utf-8") as text:
        refused = json.load(text)
    refused_here = dict(refused["all"], **refused.get(options.mpi, {}))
    good, bad, left_out = 0, 0, 0
    for entry in manifest:
        program = os.path.join(options.programs, options.mpi, entry["name"])
        if not chosen(entry, refused_here) or not (os.path.exists(program) or "python" in entry):
            continue
        if options.mpi not in entry.get("mpi", [options.mpi]) or set(entry.get("record", [])) & set(FILTERS):
            continue
        for ranks in entry["ranks"][:1]:
            try:
                why = reason_of(entry, refused["not run"]) or check(entry, ranks, refused_here)
            except Failure as failure:
                bad += 1
                print("%s, %d ranks: %s" % (entry["name"], ranks, failure), flush=True)
                continue
            except subprocess.TimeoutExpired:
                bad += 1
                print("%s, %d ranks: does not end" % (entry["name"], ranks), flush=True)
                continue
            good += why is None
            left_out += why is not None
            if why:
                print("%s, %d ranks: left out: %s" % (entry["name"], ranks, why), flush=True)
    print("%d programs as they were recorded, %d left out, %d differ" % (good, left_out, bad))
    return 1 if bad else 0 if good else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
