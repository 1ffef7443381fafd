#!/usr/bin/python3
"""Options of `refrain record` that decide what is recorded: their words, their environment variables,
and what MPI libraries do inside of a call that is left out.

    control.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so
               --programs mpich=build/tests/programs/mpich ...
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
import trace_log  # noqa: E402
from expectations import expect  # noqa: E402


class Runner:
    def __init__(self, options, mpi, programs, folder):
        self.options, self.mpi, self.programs, self.folder = options, mpi, programs, folder
        self.said = ""

    def record(self, program, *words, env=None, arguments=(), ranks=2):
        """The trace's path, or None when the job failed."""
        trace = os.path.join(self.folder, "t.rfn")
        if os.path.exists(trace):
            os.remove(trace)
        settings = {"REFRAIN_LIBRARY_PATH": self.options.libraries, "REFRAIN_OUTPUT": trace,
                    "REFRAIN_TEST_DIR": self.folder, "REFRAIN_TEST_LOG": os.path.join(self.folder, "log"),
                    **(env or {})}
        command = [self.options.refrain, "record"] + list(words) + [
            "--", os.path.join(self.programs, program)] + list(arguments)
        preload = mpirun.shims(self.mpi, self.options.shim)
        done = mpirun.run_job(self.mpi, ranks, command, 90, preload, settings, cwd=self.folder)
        self.said = done.stderr.decode(errors="replace")
        if done.status != 0:
            print(self.said[-500:])
        return trace if done.status == 0 and os.path.exists(trace) else None

    def ask(self, *words):
        return subprocess.run([self.options.refrain] + list(words), stdout=subprocess.PIPE,
                              check=True, timeout=60).stdout.decode()

    def calls(self, trace, rank=0):
        return [l["call"] for l in trace_log.read_dump(
            self.ask("dump", trace, "--rank", str(rank), "--format", "jsonl"))]

    def info(self, trace):
        return json.loads(self.ask("info", trace, "--format", "json"))


def left_out(info):
    return {l["detail"]: l["calls"] for l in info["losses"] if l["reason"] == "left_out"}


def check_variables(run):
    """Each option and its environment variable do the same."""
    for words, env, filtered in (
            (["--only", "coll"], {"REFRAIN_ONLY": "coll"}, "--only coll"),
            (["--without", "p2p,comm"], {"REFRAIN_WITHOUT": "p2p,comm"}, "--without p2p,comm"),
            (["--comm", "self"], {"REFRAIN_COMM": "self"}, "--comm self"),
            (["--min-bytes", "20", "--max-bytes", "1K"], {"REFRAIN_MIN_BYTES": "20", "REFRAIN_MAX_BYTES": "1K"},
             "--min-bytes 20 --max-bytes 1K"),
            (["--start-paused"], {"REFRAIN_START_PAUSED": "1"}, None)):
        by_word = run.record("p2p_blocking", *words)
        one = (run.calls(by_word), run.info(by_word)) if by_word else None
        by_variable = run.record("p2p_blocking", env=env)
        two = (run.calls(by_variable), run.info(by_variable)) if by_variable else None
        what = "%s %s" % (run.mpi, " ".join(words))
        if one is None or two is None:
            expect(False, what + ": no trace")
            continue
        expect(one[0] == two[0], what + " and its variable record the same calls")
        expect(left_out(one[1]) == left_out(two[1]) and left_out(one[1]), what + " leaves the same calls out")
        expect(one[1].get("filter") == filtered == two[1].get("filter"), what + " is named in the trace")
        expect(one[1]["complete"], what + ": what was asked to be left out does not make it incomplete")
    trace = run.record("p2p_blocking", "--start-paused")
    expect(trace and run.calls(trace) == ["MPI_Init", "MPI_Finalize"], run.mpi + " --start-paused: begin and end")
    trace = run.record("buffers", env={"REFRAIN_BUFFERS": "on"})
    expect(trace and '"heap#0' in run.ask("dump", trace, "--format", "jsonl"), run.mpi + " REFRAIN_BUFFERS=on")


def check_inside(run):
    """What the MPI library calls inside of a call that is left out is no call of the program."""
    for option in ("--without", "--only"):
        word = "io" if option == "--without" else "comm,type,group,info,env,coll,p2p"
        trace = run.record("files", option, word, env={"REFRAIN_QUIET": "0"})
        if not trace:
            expect(False, "%s files %s %s: no trace" % (run.mpi, option, word))
            continue
        calls = "{:,}".format(sum(left_out(run.info(trace)).values())).replace(",", " ")
        expect("losses: left_out (%s calls); next" % calls in run.said, "one loss of %s calls: %s" % (calls, run.said))
        for rank in range(2):
            log = [l["call"] for l in trace_log.read_log(os.path.join(run.folder, "log.%d" % rank))]
            gone = set(left_out(run.info(trace)))
            want = [c for c in log if not c.startswith("MPI_File_") and c not in ("MPI_Wait", "MPI_Waitall")]
            got = [c for c in run.calls(trace, rank) if c not in ("MPI_Wait", "MPI_Waitall")]
            kept = [c for c in want if c not in gone or c in got]
            expect(got == kept and gone, "%s files %s %s, rank %d: %d calls of the program" % (
                run.mpi, option, word, rank, len(got)))


def messages(run, trace, ranks):
    """Tags (each message has its own) that were sent, and that were received, on all ranks."""
    sent, received = [], []
    for rank in range(ranks):
        for line in trace_log.read_dump(run.ask("dump", trace, "--rank", str(rank), "--format", "jsonl")):
            if line["call"] in ("MPI_Isend", "MPI_Irecv"):
                other = (line["args"]["dest"] if line["call"] == "MPI_Isend" else rank)
                (sent if line["call"] == "MPI_Isend" else received).append((line["args"]["tag"], other))
    return sorted(sent), sorted(received)


def check_sizes(run, ranks=3):
    """Messages by size, completed in orders that nobody knows beforehand: both ends or neither."""
    for words, bounds in ((["--min-bytes", "300"], ("300", "9999999")), (["--max-bytes", "300"], ("0", "300")),
                          (["--min-bytes", "30", "--max-bytes", "3000", "--memory", "64K"], ("30", "3000"))):
        for seed in ("1", "2"):
            what = "%s control_size_mix %s, seed %s" % (run.mpi, " ".join(words), seed)
            trace = run.record("control_size_mix", *words, arguments=bounds + (seed, "150"), ranks=ranks)
            if not trace:
                expect(False, what + ": no trace")
                continue
            base = os.path.join(run.folder, "log")
            logs = [trace_log.read_log("%s.%d" % (base, r)) for r in range(ranks)]
            dumps = [trace_log.read_dump(run.ask("dump", trace, "--rank", str(r), "--format", "jsonl"))
                     for r in range(ranks)]
            try:
                trace_log.compare_all(logs, dumps, "exact", "control_size_mix.c")
                problem = ""
            except trace_log.Difference as e:
                problem = ": %s" % e
            expect(not problem, what + " has what the program says" + problem)
            sent, received = messages(run, trace, ranks)
            expect(sent == received and sent, "%s: %d messages, both ends of each" % (what, len(sent)))
            gone = [int(open("%s.%d.gone" % (base, r)).read()) for r in range(ranks)]
            counts = left_out(run.info(trace))
            expect(sum(counts.values()) == sum(gone) > 0,
                   "%s: %d calls left out, the program says %d" % (what, sum(counts.values()), sum(gone)))


def check_killed(run, ranks=2):
    """What a job that was killed leaves: all but what a receive without an end holds back."""
    spool = os.path.join(run.folder, "t.rfn.spool")
    shutil.rmtree(spool, ignore_errors=True)
    what = run.mpi + " control_size_dies"
    run.record("control_size_dies", "--min-bytes", "100", arguments=("100", "9999999"), ranks=ranks)
    trace = os.path.join(run.folder, "recovered.rfn")
    subprocess.run([run.options.refrain, "recover", spool, "-o", trace], stdout=subprocess.DEVNULL, timeout=60)
    if not os.path.exists(trace):
        return expect(False, what + ": nothing was recovered")
    ask = lambda *words: subprocess.run(  # noqa: E731
        [run.options.refrain, *words], stdout=subprocess.PIPE, timeout=60).stdout.decode()
    for rank in range(ranks):
        log = trace_log.read_log(os.path.join(run.folder, "log.%d" % rank))
        dump = trace_log.read_dump(ask("dump", trace, "--rank", str(rank), "--format", "jsonl"))
        same = len(log) == len(dump) and all(
            a["call"] == b["call"] and all(b["args"][k] == v for k, v in a["args"].items()) for a, b in zip(log, dump))
        expect(same and len(log) > 10, "%s, rank %d: %d calls recovered, %d logged" % (what, rank, len(dump), len(log)))
    held = [l["calls"] for l in json.loads(ask("info", trace, "--format", "json"))["losses"]
            if l["reason"] == "held_back"]
    # MPI_Irecv, two barriers; a send to nowhere has no bytes and is left out.
    expect(held == [3] * ranks, "%s: %s calls were held back" % (what, held))


def check_words(options):
    for words, said in ((["--only", "p2q"], "'p2q'"), (["--only", "MPI_Send"], "one end of a message"),
                        (["--without", "MPI_Wait"], "follows"), (["--buffers", "all"], "'all'"),
                        (["--min-bytes", "many"], "'many'"), (["--max-bytes", "-3"], "'-3'"),
                        (["--min-bytes", "2K", "--max-bytes", "1K"], "--max-bytes 1K")):
        done = subprocess.run([options.refrain, "record"] + words + ["/bin/true"], stderr=subprocess.PIPE,
                              timeout=60)
        text = done.stderr.decode()
        expect(done.returncode == 2 and said in text and text.count("\n") == 1, "usage: " + " ".join(words))
    done = subprocess.run([options.refrain, "record", "--only", "coll", "--start-paused", "mpiexec", "./app"],
                          stderr=subprocess.PIPE, timeout=60)
    expect(b"mpiexec refrain record --only coll --start-paused ./app" in done.stderr, "a launcher behind record")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--shim", default="")
    parser.add_argument("--programs", action="append", default=[], metavar="MPI=DIR")
    options = parser.parse_args()
    for name in ("refrain", "libraries", "shim"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    check_words(options)
    for pair in options.programs:
        mpi, programs = pair.split("=", 1)
        if mpirun.launcher(mpi) is None:
            print("skip  no launcher of %s here" % mpi)
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = Runner(options, mpi, os.path.abspath(programs), folder)
            check_variables(run)
            check_inside(run)
            check_sizes(run)
            check_killed(run)
    print("%d failed" % expectations.failures)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
