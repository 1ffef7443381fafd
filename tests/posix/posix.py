#!/usr/bin/python3
"""refrain record --posix on: what a program called is what `profile --posix` says, and nothing else is.

    posix.py --refrain build/refrain --libraries build/src/tracer --mpi mpich --program io_calls --fortified io_calls_2
             [--fortran io_fortran] [--shim yield_shim.so]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 300
RANKS = 3
options = None


def refrain(*words):
    return subprocess.run([options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)


class Job:
    """A recorded run in a folder of its own."""

    def __init__(self, folder, mode, *words, program=None, ranks=RANKS, env=None, beside=()):
        self.folder = os.path.join(folder, "_".join((mode,) + words).replace("/", "_"))
        os.makedirs(self.folder, exist_ok=True)
        self.trace = os.path.join(self.folder, "t.rfn")
        settings = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_OUTPUT": self.trace,
                    "REFRAIN_TEST_DIR": self.folder, "REFRAIN_TEST_LOG": os.path.join(self.folder, "log"),
                    **(env or {})}
        command = [options.refrain, "record", *words, "--", program or options.program, mode]
        preload = mpirun.shims(options.mpi, options.shim)
        self.done = mpirun.run_job(options.mpi, ranks, command, LIMIT_S, preload, settings, cwd=self.folder,
                                   beside=beside)

    def log(self, rank):
        """{function: (calls, errors, bytes)} of what the rank says that it did."""
        with open(os.path.join(self.folder, "log.%d" % rank), encoding="ascii") as file:
            lines = [line.split() for line in file]
        return {words[0]: tuple(map(int, words[1:])) for words in lines}

    def profile(self, trace=None):
        done = refrain("profile", trace or self.trace, "--posix", "--format", "json")
        return json.loads(done.stdout) if done.returncode in (0, 4) else None


def of_rank(profile, rank):
    out = {}
    for row in profile["functions"]:
        for use in row["by_rank"]:
            if use["rank"] == rank:
                out[row["function"]] = (use["calls"], use["errors"], use["bytes"])
    return out


def difference(did, counted):
    return {name: (did.get(name), counted.get(name)) for name in set(did) | set(counted)
            if did.get(name) != counted.get(name)}


def check_mode(folder, mode, *words, program=None, name=None, env=None):
    job = Job(folder, mode, *words, program=program, env=env)
    what = "%s %s" % (name or mode, " ".join(words))
    if job.done.status != 0:
        return expect(False, "%s: %s" % (what, job.done.stderr.decode()[-500:]))
    profile = job.profile()
    if profile is None:
        return expect(False, what + ": no profile")
    for rank in range(RANKS):
        wrong = difference(job.log(rank), of_rank(profile, rank))
        expect(not wrong, "%s, rank %d: (calls, errors, bytes) as done and as counted differ: %s" % (what, rank, wrong))
    expect(refrain("check", job.trace).returncode == 0, what + ": the trace is a good one")
    check_sums(profile, what)
    return job


def check_sums(profile, what):
    """The rows are the sums of their ranks, and times make sense."""
    for row in profile["functions"]:
        uses = row["by_rank"]
        sums = all(row[key] == sum(use[key] for use in uses) for key in ("calls", "errors", "bytes", "time_ns"))
        ends = all(row[key + "_of_a_rank"]["min"] == min(use[key] for use in uses) and
                   row[key + "_of_a_rank"]["max"] == max(use[key] for use in uses)
                   for key in ("calls", "bytes", "time_ns"))
        times = all(0 <= use["min_ns"] <= use["max_ns"] <= use["time_ns"] < LIMIT_S * 10**9 for use in uses)
        expect(sums and ends and times and row["ranks"] == len(uses), "%s: the row of %s" % (what, row["function"]))
    expect(all(profile[key] == sum(row[key] for row in profile["functions"])
               for key in ("calls", "errors", "bytes", "time_ns")), what + ": the sums of all functions")


def check_forms(folder):
    """Text, CSV, info, the option that is not there."""
    job = check_mode(folder, "files", name="for forms", env={"REFRAIN_POSIX": "on"})  # as --posix on
    if job is None:
        return
    text = refrain("profile", job.trace, "--posix", "--top", "0").stdout.decode()
    rows = {row["function"]: row for row in job.profile()["functions"]}
    lines = {line.split()[0]: line for line in text.splitlines()
             if line.startswith("  ") and not line.startswith("  ...")}
    expect(all(name in lines for name in rows) and "errors" in lines["function"], "text has the functions")
    expect(any(" 33 " in line and "10 to 12 (rank 2)" in line for line in lines.values() if "write " in line),
           "text: calls, least and most: %s" % lines.get("write"))
    csv = refrain("profile", job.trace, "--posix", "--format", "csv").stdout.decode().splitlines()
    expect(csv[0].startswith("function,calls,errors,bytes,time_ns") and len(csv) == 1 + len(rows) and
           any(line.startswith("open,6,3,0,") for line in csv), "csv")
    csv = refrain("profile", job.trace, "--posix", "--by", "rank", "--format", "csv").stdout.decode().splitlines()
    expect("2,write,12,0,1200," in " ".join(csv), "csv by rank")
    table = refrain("profile", job.trace, "--posix", "--by", "rank", "--top", "0").stdout.decode()
    expect(len(table.splitlines()) == 1 + sum(row["ranks"] for row in rows.values()), "text by rank")
    info = refrain("info", job.trace).stdout.decode()
    line = [line for line in info.splitlines() if line.startswith("  POSIX ")]
    calls = sum(row["calls"] for row in rows.values())
    expect(len(line) == 1 and "%d functions, %d calls" % (len(rows), calls) in line[0], "info: %s" % line)
    expect(json.loads(refrain("info", job.trace, "--format", "json").stdout)["has_posix"], "info as JSON")
    stats = refrain("stats", job.trace).stdout.decode()
    expect("posix" in stats, "stats names the section")
    for words, status in ((["--posix", "--by", "site"], 2), (["--posix", "--from-ns", "1ms"], 2)):
        done = refrain("profile", job.trace, *words)
        is_refused = done.returncode == status and len(done.stderr.splitlines()) == 1
        expect(is_refused, "profile %s: %s" % (words, done.stderr))
    without = Job(folder, "files")
    done = refrain("profile", without.trace, "--posix")
    expect(without.done.status == 0 and done.returncode == 5 and b"--posix on" in done.stderr,
           "without the option: %s" % done.stderr)
    expect("POSIX" not in refrain("info", without.trace).stdout.decode(), "without the option, info")


def check_nothing(folder):
    """Files of the recorder and memory and sockets of the MPI library are not the program's."""
    for words in (["--posix", "on"], ["--posix", "on", "--timing", "exact", "--memory", "1M"],
                  ["--posix", "on", "--without", "p2p"], ["--posix", "on", "--spool", "off"],
                  ["--posix", "on", "--buffers", "on", "--timing", "exact", "--no-compress", "--buffer", "64K"]):
        check_mode(folder, "messages", *words)


def check_sets(folder):
    """What each of the options leaves out of MPI is not taken for the program's."""
    for words in ([], ["--without", "io"], ["--only", "p2p"]):
        check_mode(folder, "mpi_io", "--posix", "on", *words)
    job = Job(folder, "mpi_io", "--posix", "on", "--start-paused")
    profile = job.profile() if job.done.status == 0 else None
    expect(profile is not None and profile["functions"] == [], "nothing is counted while recording is paused")


def check_dying(folder):
    job = Job(folder, "dies", "--posix", "on")
    expect(job.done.status != 0, "the job died")
    found = os.path.join(job.folder, "recovered.rfn")
    done = refrain("recover", job.trace + ".spool", "-o", found)
    profile = job.profile(found)
    if profile is None:
        return expect(False, "recover: %s %s" % (done.stdout, done.stderr))
    for rank in range(RANKS):
        expect(of_rank(profile, rank) == {"open": (1, 0, 0), "write": (25, 0, 250), "close": (1, 0, 0)},
               "rank %d that died: %s" % (rank, of_rank(profile, rank)))
    check_sums(profile, "recovered")


def check_fortran(folder):
    if not options.fortran:
        return print("skip  no Fortran compiler")
    job = Job(folder, "fortran", "--posix", "on", program=options.fortran)
    profile = job.profile() if job.done.status == 0 else None
    if profile is None:
        return expect(False, "Fortran: %s" % job.done.stderr.decode()[-500:])
    for rank in range(RANKS):
        sizes = sum(os.path.getsize(os.path.join(job.folder, "fortran.%d%s" % (rank, end))) for end in ("", ".raw"))
        counted = of_rank(profile, rank)
        for function in ("read", "write"):
            bytes_ = sum(counted.get(f, (0, 0, 0))[2] for f in (function, function + "v"))
            expect(bytes_ == sizes, "Fortran, rank %d: %s of %d bytes, files have %d" % (rank, function, bytes_, sizes))
        opened = counted.get("open", (0, 0, 0))
        expect(opened[0] - opened[1] == 4, "Fortran, rank %d: four files opened: %s" % (rank, counted))


def check_live(folder):
    """An analyser in the job changes no count; its trace and its maps have what the recorder's trace has, also when the
    job runs again from that."""
    if not mpirun.starts_several(options.mpi) or not options.live:
        return print("skip  no analyser in a job here")
    out = os.path.join(folder, "live")
    analyser = mpirun.Beside([options.refrain, "live", "analyze", "-o", out, "--interval", "100ms"])
    job = Job(folder, "lasts", "--live", "--posix", "on", beside=[analyser])
    profile = job.profile() if job.done.status == 0 else None
    if profile is None:
        return expect(False, "live: %s" % job.done.stderr.decode()[-500:])
    for rank in range(RANKS):
        expect(not difference(job.log(rank), of_rank(profile, rank)), "live, rank %d" % rank)
    in_job = os.path.basename(options.program)
    received = job.profile(os.path.join(out, in_job + ".rfn"))
    expect(received is not None and all(of_rank(received, r) == of_rank(profile, r) for r in range(RANKS)),
           "the received trace counts the same")
    with open(os.path.join(out, in_job, "maps.json"), encoding="utf-8") as file:
        check_maps(json.load(file), "in the job")
    name = os.path.splitext(os.path.basename(job.trace))[0]
    again = os.path.join(folder, "again")
    done = refrain("live", "analyze", "--from", job.trace, "-o", again, "--speed", "50", "--interval", "100ms")
    copy = job.profile(os.path.join(again, name + ".rfn")) if done.returncode == 0 else None
    expect(copy is not None and copy["functions"] == profile["functions"], "a recorded run as if live counts the same")
    with open(os.path.join(again, name, "maps.json"), encoding="utf-8") as file:
        check_maps(json.load(file), "as if live")


def check_maps(maps, where):
    rows = {f["call"]: f for f in maps["functions"] if f.get("kind") == "posix"}
    expect(sorted(rows) == ["close", "open", "write"], "maps of POSIX functions, %s: %s" % (where, sorted(rows)))
    write = rows.get("write")
    if write is None:
        return
    density = write["density"]
    expect(density["calls"] == [40] * RANKS and density["bytes"] == [400] * RANKS,
           "density of write, %s: %s" % (where, density))
    sums = [sum(write["temporal"][what]) for what in ("calls", "bytes")]
    expect(sums == [40 * RANKS, 400 * RANKS], "temporal map of write, %s: %s" % (where, sums))


def check_wrong_values(folder):
    for value in ("yes", "ON", "1"):
        job = Job(folder, "files", "--posix", value, ranks=1)
        said = job.done.stderr.decode()
        expect(job.done.status == 2 and "--posix" in said, "--posix '%s' is refused: %s" % (value, said[-200:]))


def main():
    global options
    parser = argparse.ArgumentParser()
    for word in ("--refrain", "--libraries", "--mpi", "--program", "--fortified"):
        parser.add_argument(word, required=True)
    parser.add_argument("--fortran", default="")
    parser.add_argument("--shim", default="")
    parser.add_argument("--live", action="store_true", help="there is a relay for this MPI")
    options = parser.parse_args()
    for word in ("refrain", "libraries", "program", "fortified", "fortran"):
        if getattr(options, word):
            setattr(options, word, os.path.abspath(getattr(options, word)))
    if not mpirun.launcher(options.mpi):
        print("skip  no launcher")
        return 77
    folder = tempfile.mkdtemp(prefix="refrain-posix-")
    try:
        for mode in ("files", "stdio"):
            for program in (options.program, options.fortified):
                check_mode(folder, mode, "--posix", "on", program=program,
                           name=mode + (", fortified" if program == options.fortified else ""))
        for mode in ("forks", "threads", "signals", "callbacks"):
            check_mode(folder, mode, "--posix", "on")
        check_sets(folder)
        check_nothing(folder)
        check_forms(folder)
        check_dying(folder)
        check_fortran(folder)
        check_live(folder)
        check_wrong_values(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d failures" % expectations.failures)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
