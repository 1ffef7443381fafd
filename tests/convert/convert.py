#!/usr/bin/python3
"""`refrain convert` on the traces of the corpus: every format says what the trace does; options, bad
input, full disks. Needs no MPI.

    convert.py --refrain build/release/refrain
"""

import argparse
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import readers  # noqa: E402
from formats import ALL, FORMATS, run_tests  # noqa: E402
from readers import check  # noqa: E402

CORPUS = os.path.join(HERE, "..", "corpus")
STATS, EXACT = os.path.join(CORPUS, "heat-1.2.rfn"), os.path.join(CORPUS, "heat-1.2-exact.rfn")


def leftovers(folder, before):
    return sorted(set(os.listdir(folder)) - set(before))


def test_corpus(converter):
    for name in sorted(os.listdir(CORPUS)):
        if name.endswith(".rfn"):
            said = converter.check(os.path.join(CORPUS, name))
            has_times = any(word in name for word in ("exact", "bins", "segments", "ends"))
            for target, one in said.items():
                check(one["times"] == ("trace" if has_times else FORMATS[target].times),
                      "%s to %s: times %s" % (name, target, one["times"]))
                check(one["bytes"] > 0 and one["ranks"] == 4, "%s: %s" % (target, one))


def test_built_times(converter):
    """The output itself says that its times are built."""
    if converter.convert(STATS, "otf2") is not None:
        with open(os.path.join(converter.output("otf2"), "traces.otf2"), encoding="utf-8",
                  errors="replace") as file:
            check("Times are built" in file.read(), "otf2: no word about its times")
    if converter.convert(STATS, "perfetto") is not None:
        with open(converter.output("perfetto"), "rb") as file:
            check(b"times are built from mean durations" in file.read(), "perfetto: no word")
    converter.convert(STATS, "paraver")
    with open(converter.output("paraver")[:-4] + ".pcf", encoding="utf-8") as file:
        check("Times are built" in file.read(), "paraver: no word")
    done = subprocess.run([converter.refrain, "convert", STATS, "--to", "goal", "--force", "-o",
                           converter.output("goal")], check=False, stdout=subprocess.PIPE, text=True)
    check("built from mean durations" in done.stdout.splitlines()[-1], "the last line says nothing")
    # A rank's time in MPI is what was recorded, and so is the time between its calls.
    converter.convert(STATS, "paraver")
    info = json.loads(subprocess.run([converter.refrain, "profile", STATS, "--format", "json"],
                                     check=True, stdout=subprocess.PIPE).stdout)
    total = {r["rank"]: r["in_mpi_ns"] for r in info["ranks"]}
    found = dict.fromkeys(total, 0)
    with open(converter.output("paraver"), encoding="ascii") as file:
        for line in file:
            fields = line.split(":")
            if fields[0] == "1" and fields[7].strip() != "1":
                found[int(fields[3]) - 1] += int(fields[6]) - int(fields[5])
    for rank, ns in total.items():
        check(abs(found[rank] - ns) <= 0.01 * ns, "rank %d: %d ns, not %d" % (rank, found[rank], ns))


def test_selection(converter):
    calls = readers.dumped(converter.refrain, EXACT)
    ends = sorted(c["end_ns"] for c in calls)
    first, last = ends[len(ends) // 3], ends[2 * len(ends) // 3]
    inside = [c for c in calls if c["end_ns"] >= first and c["begin_ns"] <= last]
    check(0 < len(inside) < len(calls), "the window proves nothing")
    window = ("--from-ns", str(first), "--to-ns", str(last))
    some = [c for c in calls if c["rank"] in (0, 2, 3)]
    for target in ALL:
        said = converter.convert(EXACT, target, *window)
        if said is None:
            continue
        check(said["calls"] == len(inside), "%s: %d calls in the window" % (target, said["calls"]))
        if target == "csv":
            readers.check_csv(converter.output(target), inside)
        if target == "goal":
            readers.check_goal(converter.output(target))
        if target == "ti":
            readers.check_ti(converter.output(target), {})
        if target == "otf2" and readers.have("otf2-print"):
            records = readers.otf2_records(converter.output(target))
            check(records["ENTER"] == len(inside), "otf2: enters in the window")
        said = converter.convert(EXACT, target, "--ranks", "0,2-3")
        check(said["ranks"] == 3 and said["calls"] == len(some), "%s: --ranks" % target)
        if target == "goal":
            ranks = readers.check_goal(converter.output(target))
            check(len(ranks) == 3, "goal: ranks")
            check(any(o[0] == "send" for operations, _ in ranks for o in operations.values()),
                  "goal: the messages of the chosen ranks among each other")
            check(said["not_held"], "goal: nothing is said of messages to the others")
        if target == "otf2" and readers.have("otf2-print"):
            check(readers.otf2_records(converter.output(target))["ENTER"] == len(some), "otf2: --ranks")
        said = converter.convert(EXACT, target, "--rank", "1")
        check(said["ranks"] == 1 and said["calls"] == len(calls) // 4, "%s: --rank" % target)
    whole = converter.convert(EXACT, "ti", "--flops", "1e9")
    check(whole["calls"] == len(calls), "--flops")
    with open(os.path.join(converter.output("ti"), "rank-0.txt"), encoding="ascii") as file:
        text = file.read()
    check(" compute " in text and " sleep " not in text, "ti: --flops")


def test_split(converter):
    """Files of a limited size, what is open goes on in the next one."""
    said = converter.convert(EXACT, "perfetto", "--max-file-bytes", "20000")
    if said is None or not readers.have("protoc"):
        return
    check(len(said["files"]) > 2, "perfetto: %s" % said["files"])
    for path in said["files"]:
        check(os.path.getsize(path) <= 20000 + 4096, "%s is too large" % path)
    readers.check_perfetto(said["files"], readers.dumped(converter.refrain, EXACT),
                           readers.matrix(converter.refrain, EXACT))


def expect(done, status, *words):
    lines = done.stderr.splitlines()
    check(done.returncode == status, "status %d, not %d: %s" % (done.returncode, status, done.stderr))
    check(len(lines) == 1 and lines[0].startswith("refrain: "), "stderr: %r" % done.stderr)
    for word in words:
        check(word in lines[0], "%r says nothing of %r" % (lines[0], word))


def test_bad_input(converter):
    run = converter.run
    expect(run(EXACT, "gif"), 2, "gif")
    known = re.search(r"is none of ([\w, ]+) \(", run(EXACT, "gif").stderr).group(1).split(", ")
    check(sorted(known) == sorted(ALL), "formats: %s; those of formats.py: %s" % (known, ALL))
    expect(run(EXACT + "x", "csv"), 1, "heat")
    for ranks in ("7", "0-9", "2-1", "a", "1,", "", ",", "1-", "-1", "99999999999999999999"):
        if ranks:
            expect(run(EXACT, "csv", "--ranks=" + ranks), 2)
    expect(run(EXACT, "csv", "--rank", "4"), 2, "ranks 0 to 3")
    expect(run(EXACT, "csv", "--from-ns", "9", "--to-ns", "8"), 2, "later")
    expect(run(STATS, "csv", "--from-ns", "9"), 5, "--timing exact")
    for target in ALL:
        expect(run(EXACT, target, output=os.path.join(converter.folder, "no", "where")), 1, "where")
    for path in (STATS, converter.folder):  # a file, a folder that no conversion made
        for target in ALL:
            size = os.path.getsize(path)
            output = path if target != "paraver" else os.path.join(converter.folder, "there.prv")
            if target == "paraver":
                with open(output, "w", encoding="ascii") as file:
                    file.write("mine")
                size = os.path.getsize(output)
            expect(run(EXACT, target, output=output), 2, "--force")
            check(os.path.getsize(output) == size, "%s: what was there has changed" % target)
        expect(run(EXACT, "otf2", "--force", output=converter.folder), 2, "traces.otf2")
        expect(run(EXACT, "csv", "--force", output=converter.folder), 2, "folder")
    check(os.path.isdir(converter.folder), "the folder is gone")
    # What is no file is never replaced, even by whom nothing stops.
    pipe = os.path.join(converter.folder, "pipe")
    for target in ALL:
        path = pipe + (".prv" if target == "paraver" else "")
        if not os.path.exists(path):
            os.mkfifo(path)
        expect(run(EXACT, target, "--force", output=path), 2, "device or a pipe")
        check(stat.S_ISFIFO(os.stat(path).st_mode), "%s: the pipe is gone" % target)
    for words in (("diff", EXACT, EXACT), ("report", EXACT, "--format", "json")):
        done = subprocess.run([converter.refrain, *words, "--force", "-o", pipe], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        expect(done, 2, "device or a pipe")
        check(stat.S_ISFIFO(os.stat(pipe).st_mode), "%s: the pipe is gone" % words[0])


def test_full_stdout(converter):
    for words in (("diff", EXACT, EXACT), ("report", EXACT, "--format", "json")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([converter.refrain, *words], check=False, stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60)
        expect(done, 1, "stdout", "No space left")


def limited():
    """Files of 1 KiB at most: what is written beyond fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


def test_full_disk(converter):
    for target in ALL:
        output = os.path.join(converter.folder, "full" + FORMATS[target].suffix)
        before = os.listdir(converter.folder)
        done = converter.run(EXACT, target, output=output, preexec_fn=limited, restore_signals=False)
        if done.returncode == 5:
            continue
        expect(done, 1, "full")
        check(not leftovers(converter.folder, before),
              "%s leaves %s" % (target, leftovers(converter.folder, before)))


def test_replaces(converter):
    """--force replaces, and leaves nothing else behind."""
    before = None
    for _ in range(2):
        for target in ALL:
            converter.convert(EXACT, target)
        now = sorted(os.listdir(converter.folder))
        check(before in (None, now), "%s, then %s" % (before, now))
        before = now
    check(not [n for n in before if n.startswith(".")], "temporary files: %s" % before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    options = parser.parse_args()
    tests = (test_corpus, test_built_times, test_selection, test_split, test_bad_input,
             test_full_disk, test_full_stdout, test_replaces)
    return run_tests(tests, options.refrain)


if __name__ == "__main__":
    sys.exit(main())
