#!/usr/bin/python3
"""What `record --timing segments:METHOD` writes is what `refrain reduce` makes of the same run.

    segments.py --refrain build/refrain --mpi mpich --programs build/tests/segments/mpich [--only methods]

The recorder writes its trace and, with --exact-copy, one with exact times; `refrain reduce` of the
second must have the same times as the first, byte for byte. Segments from marks are matched while the
program runs, by the rank's own clock: they are the same segments, and no call is further from the exact
one than the trace says. Exit status: 0 all good, 1 something is
wrong, 77 nothing could run.
"""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import timing  # noqa: E402
from timing import INCOMPLETE, expect, mpirun, options, refrain  # noqa: E402


def times_of(path):
    """The bytes of the section of times, number 64, which is the last one. (What is before it is written
    again from what was read, with durations quantised once more.)"""
    with open(path, "rb") as f:
        data = f.read()
    table = data[32:32 + struct.unpack_from("<I", data, 24)[0]]
    last = table[-14:]
    expect(last[0] == 64, "the last section of %s is %d", path, last[0])
    return data[-struct.unpack_from("<I", last, 2)[0]:]


class Run:
    """A program that was recorded, with an exact copy."""

    def __init__(self, name, ranks, words, record, env=None, status=0, wrapper=(), shims=()):
        self.folder = os.path.join(options.work, name)
        os.makedirs(self.folder)
        self.trace, self.exact = (os.path.join(self.folder, f) for f in ("run.rfn", "exact.rfn"))
        program = os.path.join(options.programs, words[0])
        if not os.path.exists(program):
            program = os.path.join(options.more_programs, words[0])
        command = [program] + [str(w) for w in words[1:]]
        recorder = list(wrapper) + [options.refrain, "record", "-o", self.trace] + list(record)
        settings = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_LOG": os.path.join(self.folder, "log")}
        settings.update(env or {})
        preload = mpirun.shims(options.mpi, options.shim)
        self.outcome = mpirun.run_job(options.mpi, ranks, command, 120, preload + list(shims), settings,
                                      wrapper=recorder, cwd=self.folder)
        expect(status is None or self.outcome.status == status, "exit status %d: %s", self.outcome.status,
               self.outcome.stderr.decode()[-400:])

    def info(self, status=0):
        return json.loads(refrain("info", "--format", "json", self.trace, status=status))

    def reduced(self, method, *words, status=0):
        """The exact copy, reduced."""
        path = os.path.join(self.folder, "reduced.rfn")
        refrain("reduce", "--force", "--method", method, "-o", path, *words, self.exact, status=status)
        return path


def compare(name, method, words, ranks=4, program=("segmented", 120), env=None, record=(), status=0):
    run = Run(name, ranks, program, ["--timing", "segments:" + method, "--exact-copy", "exact.rfn"] +
              list(words) + list(record), env)
    # Without a threshold `refrain reduce` looks at what auto keeps, and a recorder cannot.
    other = run.reduced("auto:0.1" if method == "auto" else method, *words, status=status)
    expect(times_of(run.trace) == times_of(other), "%s: not what `refrain reduce` makes of it", name)
    expect(refrain("info", run.exact, status=status).count("timing       exact"), "%s: the copy is not exact", name)
    refrain("check", run.trace, status=status)
    return run


METHODS = ("relDiff", "absDiff", "Manhattan", "Euclidean", "Chebyshev", "iter_k", "iter_avg", "avgWave", "haarWave",
           "auto")


def methods():
    for method in METHODS:
        run = compare(method, method, [])
        info = run.info()
        expect(info["complete"] and not info["losses"], "losses %r", info["losses"])
        expect(info["timing"].startswith("segments:" + method), "timing %r", info["timing"])
        expect(info["segments"]["segments"] > 4 * 120, "segments %r", info["segments"])


def thresholds():
    for method in ("absDiff:50us:2ms", "avgWave:0.4:0.1", "auto:0.03:0.2", "iter_k:3", "relDiff:0"):
        run = compare("threshold-" + method.replace(":", "-"), method, [])
        expect(run.info()["timing"].startswith("segments:" + method.split(":")[0]), "timing %r", run.info()["timing"])


def across():
    """Numbers of ranks that are no powers of two, and all ways to share."""
    for ranks in (1, 3, 5):
        for way in ("off", "groups", "segments"):
            for method in ("avgWave", "auto"):
                compare("across-%d-%s-%s" % (ranks, way, method), method, ["--across-ranks", way], ranks,
                        ("segmented", 40))


def times_of_calls(path, status=0):
    lines = (json.loads(line) for line in refrain("dump", "--format", "jsonl", path, status=status).splitlines())
    return [(line["rank"], line["call"], line["begin_ns"], line["end_ns"]) for line in lines]


def matched(name, method, words, ranks=3, program=("segmented", 120), record=(), status=0):
    """Matched while the program ran."""
    run = Run(name, ranks, program, ["--timing", "segments:" + method, "--segments", "marks",
                                     "--exact-copy", "exact.rfn"] + list(words) + list(record))
    other = run.reduced("auto:0.1" if method == "auto" else method, "--segments", "marks", *words, status=status)
    if options.mpi == "smpi":  # all ranks have one clock
        expect(times_of(run.trace) == times_of(other), "%s: not what `refrain reduce` makes of it", name)
    ours = run.info(status)["segments"]
    reduced = json.loads(refrain("info", "--format", "json", other, status=status))["segments"]
    for key in ("segments", "contexts", "source", "across_ranks"):
        expect(ours[key] == reduced[key], "%s: %s is %r, and %r after the fact", name, key, ours[key], reduced[key])
    # A match may hang by a nanosecond.
    expect(abs(ours["representatives"] - reduced["representatives"]) <= 2 + reduced["representatives"] // 50,
           "%s: %r and, after the fact, %r", name, ours, reduced)
    most = ours["error_ns"] + ours["start_step_ns"]
    true = times_of_calls(run.exact, status)
    kept = times_of_calls(run.trace, status)
    expect(len(true) == len(kept) > 0, "%s: %d calls, and %d exactly", name, len(kept), len(true))
    for (rank, call, begin, end), (_, name_of, kept_begin, kept_end) in zip(true, kept):
        expect(call == name_of and abs(begin - kept_begin) <= most and abs(end - kept_end) <= most,
               "%s: rank %d: %s from %r to %r, kept as %r to %r: more than %d ns off", name, rank, call, begin, end,
               kept_begin, kept_end, most)
    refrain("check", run.trace, status=status)
    return run


def marks():
    for method in ("avgWave", "auto", "iter_avg", "relDiff", "haarWave:0.3:0.1", "iter_k:2"):
        run = matched("marks-" + method.split(":")[0], method, [])
        contexts = set(run.info()["segments"]["contexts"])
        # SimGrid has no MPI_Pcontrol.
        expected = {"halo", "solve"} if options.mpi == "smpi" else {"halo", "solve", "phase_4"}
        expect(expected <= contexts, "contexts %r", contexts)


def marks_across():
    for ranks, way in ((1, "off"), (4, "off"), (5, "segments")):
        matched("marks-%d-%s" % (ranks, way), "avgWave", ["--across-ranks", way], ranks, ("segmented", 40))


def marks_of_threads():
    """A matcher for each of them; no thread has marks, so that a segment ends where it would be too long."""
    matched("marks-threads", "Euclidean", [], 2, ("threads",))


def marks_in_little_memory():
    """The tables of calls begin anew while segments are under way."""
    matched("marks-memory", "relDiff:0.01", [], 2, ("random_mix", 3, 4000), ["--memory", "4M"])


def marks_without_spool():
    matched("marks-no-spool", "auto", [], 2, ("segmented", 700), ["--spool", "off"])


def small_spool():
    """What is matched while the program runs does not fill the spool."""
    sizes = []
    for way in ("marks", "loops"):
        run = Run("small-" + way, 1, ["segmented", 3000, "many", 0],
                  ["--timing", "segments:relDiff", "--segments", way], status=None)
        spool = run.trace + ".spool"
        sizes.append(max(os.path.getsize(os.path.join(spool, f)) for f in os.listdir(spool)))
        refrain("recover", spool)
        info = run.info(status=INCOMPLETE)
        expect(not [x for x in info["losses"] if x["reason"] == "times_missing"], "losses %r", info["losses"])
        expect(info["segments"]["segments"] > 2900, "segments %r", info["segments"])
        refrain("check", run.trace, status=INCOMPLETE)
    # A call takes more than 2 bytes exactly.
    expect(sizes[0] + 300000 < sizes[1], "spool files of %d bytes, and of %d with all times", *sizes)


def crossed_marks():
    run = Run("crossed", 2, ["segmented", 20, "crossed"], ["--timing", "segments:avgWave", "--segments", "marks"])
    said = run.outcome.stderr.decode()
    expect("8 ends of regions without a begin" in said, "says %r", said[-400:])
    expect("2 regions were still open" in said, "says %r", said[-400:])


def functions():
    run = matched("functions", "avgWave", [], 2, ("functions",), ["--functions", "on"])
    names = {context.split("_")[0] for context in run.info()["segments"]["contexts"]}
    expect(len(names) == 5 and all(name.startswith("functions+0x") for name in names), "contexts %r", names)


def threads():
    """Several locations a rank."""
    for program in ("threads", "threads_come_and_go"):
        for method in ("avgWave", "auto"):
            compare(program + "-" + method, method, [], 3, (program,))


def sizes():
    """No two iterations are equal: loops are those of functions and call paths."""
    for method in ("avgWave", "auto"):
        run = compare("sizes-" + method, method, [], 3, ("segmented", 400, "sizes"))
        segments = run.info()["segments"]
        expect(segments["segments"] > 3 * 400, "segments %r", segments)
        expect(any("_loop_" in context for context in segments["contexts"]), "contexts %r", segments["contexts"])


def by_environment():
    run = Run("environment", 2, ["segmented", 40], [],
              env={"REFRAIN_TIMING": "segments:haarWave:0.5", "REFRAIN_SEGMENTS": "marks",
                   "REFRAIN_ACROSS_RANKS": "off", "REFRAIN_EXACT_COPY": "exact.rfn"})
    segments = run.info()["segments"]
    expect((segments["method"], segments["source"], segments["across_ranks"]) == ("haarWave:0.5", "marks", "off"),
           "segments %r", segments)
    expect(refrain("info", run.exact).count("timing       exact"), "the copy is not exact")


def no_spool():
    compare("no-spool", "auto", [], 3, ("segmented", 700), record=["--spool", "off"])


def little_memory():
    """The tables of calls begin anew many times, and the representatives are bounded as well."""
    run = Run("little-memory", 3, ["random_mix", 3, 6000],
              ["--timing", "segments:relDiff:0.01", "--exact-copy", "exact.rfn", "--memory", "1M"])
    info = run.info()
    expect(info["complete"] and not info["losses"], "losses %r", info["losses"])
    other = run.reduced("relDiff:0.01", "--memory", "1")
    expect(times_of(run.trace) == times_of(other), "not what `refrain reduce --memory 1` makes of it")


def sessions():
    """Processes without a communicator of all: nobody can match across them. Nothing is lost."""
    run = Run("sessions", 3, ["sessions_only"], ["--timing", "segments:avgWave"], status=None)
    if run.outcome.status == timing.SKIPPED:
        return "skip: no sessions"
    expect(b"the times of all calls, for `refrain reduce`" in run.outcome.stderr, "not a word: %r",
           run.outcome.stderr[-300:])
    expect(run.info()["timing"] == "exact", "timing %r", run.info()["timing"])
    refrain("reduce", "-o", run.exact, run.trace)
    return None


def no_room():
    """A rank without the memory to match its segments: all keep exact times, and nothing is lost."""
    run = Run("no-room", 3, ["segmented", 60], ["--timing", "segments:avgWave"], shims=[options.small_malloc])
    expect(b"rank 1: no memory to match its segments" in run.outcome.stderr, "not a word: %r",
           run.outcome.stderr[-300:])
    info = run.info()
    expect(info["timing"] == "exact" and info["complete"] and not info["losses"], "%r", info)
    refrain("check", run.trace)
    refrain("reduce", "--method", "avgWave", "-o", run.exact, run.trace)


def disagreement():
    """Other segments on one rank."""
    script = os.path.join(options.work, "one_other.sh")
    with open(script, "w") as f:
        f.write('#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] && export REFRAIN_SEGMENTS=marks\n'
                'exec "$@"\n')
    os.chmod(script, 0o755)
    run = Run("disagreement", 3, ["segmented", 20], [], env={"REFRAIN_TIMING": "segments:avgWave"}, wrapper=[script])
    expect(b"do not agree about --timing" in run.outcome.stderr, "not a word: %r", run.outcome.stderr[-300:])
    expect(run.info()["timing"] == "stats", "timing %r", run.info()["timing"])


def recovered():
    """A rank is killed: segments of all that was done until then."""
    for words in ([], ["--segments", "marks", "--across-ranks", "off"]):
        run = Run("recovered-%d" % len(words), 4, ["segmented", 1200, "die", 2],
                  ["--timing", "segments:avgWave:0.3"] + words, status=None)
        expect(not os.path.exists(run.trace), "a job that died wrote a trace")
        spool = run.trace + ".spool"
        refrain("recover", "--keep", spool)
        info = run.info(status=INCOMPLETE)
        expect(info["timing"].startswith("segments:avgWave:0.3"), "timing %r", info["timing"])
        expect(info["segments"]["source"] == ("marks" if words else "loops"), "segments %r", info["segments"])
        expect(info["segments"]["across_ranks"] == ("off" if words else "groups"), "segments %r", info["segments"])
        expect(info["segments"]["segments"] > 3 * 590, "segments %r", info["segments"])
        expect(not [x for x in info["losses"] if x["reason"] == "times_missing"], "losses %r", info["losses"])
        expect(os.listdir(run.folder).count("run.rfn") == 1 and
               not [f for f in os.listdir(run.folder) if "exact" in f], "left: %r", os.listdir(run.folder))
        refrain("check", run.trace, status=INCOMPLETE)


def wrong_words():
    for words in (["--timing", "segments"], ["--timing", "segments:"], ["--timing", "segments:mean"],
                  ["--timing", "segments:avgWave:-1"], ["--timing", "segments:iter_avg:1"],
                  ["--timing", "segments:auto", "--segments", "calls"],
                  ["--timing", "segments:auto", "--across-ranks", "all"],
                  ["--timing", "exact", "--segments", "marks"]):
        done = subprocess.run([options.refrain, "record"] + words + ["--", os.path.join(options.programs, "segmented")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=options.work,
                              env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
        expect(done.returncode == 2, "%r: exit status %d", words, done.returncode)
        expect(len(done.stderr.splitlines()) == 1, "%r: says %r", words, done.stderr)


TESTS = {"methods": methods, "thresholds": thresholds, "across": across, "marks": marks,
         "marks_across": marks_across, "marks_of_threads": marks_of_threads,
         "marks_in_little_memory": marks_in_little_memory, "marks_without_spool": marks_without_spool,
         "small_spool": small_spool, "crossed_marks": crossed_marks,
         "functions": functions, "threads": threads, "sizes": sizes, "by_environment": by_environment,
         "no_spool": no_spool,
         "little_memory": little_memory, "sessions": sessions, "no_room": no_room,
         "disagreement": disagreement, "recovered": recovered, "wrong_words": wrong_words}


# What ranks do that are threads of one process, without a spool, is what else could be different.
SMPI_TESTS = ("methods", "thresholds", "across", "marks", "marks_across")


if __name__ == "__main__":
    sys.exit(timing.run_tests(__doc__, TESTS, required=["more-programs"], optional=["small-malloc"],
                             on_smpi=SMPI_TESTS))
