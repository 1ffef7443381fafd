#!/usr/bin/python3
"""`refrain convert` with many channels: little --memory makes the same bytes, over temporary files; and what
a signal ends leaves nothing behind. Needs no MPI.

    channels.py --refrain build/release/refrain --maker build/release/tests/report/report_trace
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from formats import ALL, FORMATS, bytes_of, check_memory, lacks, run_tests  # noqa: E402
from readers import check  # noqa: E402

CORPUS = os.path.join(HERE, "..", "corpus", "heat-1.2-exact.rfn")
options = None


def make(folder, *words):
    path = os.path.join(folder, "-".join(map(str, words)) + ".rfn")
    subprocess.run([options.maker, *map(str, words), path], check=True, timeout=100)
    return path


def test_memory(converter):
    traces = [make(converter.folder, "exchange", 40), make(converter.folder, "tags", 3, 300), CORPUS]
    for trace in traces:
        for more in ((), ("--ranks", "1-2")):
            check_memory(converter, trace, ("0", "2K", "1.5M"), *more)
    left = [name for name in os.listdir(converter.folder) if name.startswith(".")]
    check(not left, "left behind: %s" % left)


def test_bound(converter):
    """The peak follows --memory: 90 000 channels take some 15 MB."""
    trace = make(converter.folder, "exchange", 300)

    def peak(target, size):
        output = converter.output(target) + "-bound" + (".prv" if target == "paraver" else "")
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execv(converter.refrain, [converter.refrain, "convert", trace, "--to", target, "--force", "-o", output,
                                         "--memory", size])
        _, status, usage = os.wait4(child, 0)
        check(status == 0, "%s: status %d" % (target, status))
        return usage.ru_maxrss * 1024

    for target in ("goal", "paraver"):
        free, little = peak(target, "4G"), peak(target, "1M")
        check(little < free - (8 << 20), "%s: %d bytes with 1M, %d with 4G" % (target, little, free))


def test_full_disk(converter):
    """What sorts outside of memory fails like any output."""
    trace = make(converter.folder, "exchange", 40)

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

    for target in (name for name, one in FORMATS.items() if one.tables):
        output = os.path.join(converter.folder, "full" + FORMATS[target].suffix)
        before = sorted(os.listdir(converter.folder))
        done = converter.run(trace, target, "--memory", "0", output=output, preexec_fn=limited,
                             restore_signals=False)
        if done.returncode == 5:
            continue
        check(done.returncode == 1 and "temporary file" in done.stderr and len(done.stderr.splitlines()) == 1,
              "%s: status %d, %s" % (target, done.returncode, done.stderr))
        check(sorted(os.listdir(converter.folder)) == before, "%s leaves something" % target)


def hidden(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def test_signals(converter):
    """As a terminal, a batch system or `kill` ends it: no hidden file remains, an old output stays."""
    trace = make(converter.folder, "exchange", 400)
    folder = os.path.join(converter.folder, "signals")
    for number, target in enumerate(ALL):
        end = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
        os.mkdir(folder)
        output = os.path.join(folder, "out" + FORMATS[target].suffix)
        first = converter.run(CORPUS, target, output=output)
        if lacks(target, first):
            shutil.rmtree(folder)
            continue
        want = bytes_of([os.path.join(folder, name) for name in os.listdir(folder)])
        # Its records take paraver so long that no file of its own is there yet.
        child = subprocess.Popen([converter.refrain, "convert", trace, "--to", target, "--force", "-o", output],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while not hidden(folder) and child.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        check(child.poll() is None, "%s: it ended before the signal" % target)
        check(hidden(folder), "%s: no temporary to leave behind" % target)
        child.send_signal(end)
        check(child.wait(60) == -end, "%s: status %d" % (target, child.returncode))
        check(not hidden(folder), "%s: %s remains" % (target, hidden(folder)))
        check(bytes_of([os.path.join(folder, name) for name in os.listdir(folder)]) == want,
              "%s: the old output has changed" % target)
        shutil.rmtree(folder)


def test_names(converter):
    """What could not be written is named."""
    where = os.path.join(converter.folder, "no", "such")
    for target in ALL:
        done = converter.run(CORPUS, target, output=where)
        check(done.returncode == 5 or re.search(r"cannot (write|make) the " + FORMATS[target].what, done.stderr),
              "%s: %s" % (target, done.stderr))
    for words, name in ((("diff", CORPUS, CORPUS), "comparison"), (("report", CORPUS, "--format", "json"), "data"),
                        (("report", CORPUS, "--format", "latex"), "document"), (("reduce", CORPUS), "trace")):
        done = subprocess.run([converter.refrain, *words, "-o", where], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        check(done.returncode == 1 and "cannot write the " + name in done.stderr, "%s: %s" % (words, done.stderr))


def test_bad_sizes(converter):
    for size in ("", "x", "-1", "1.5", "64MB"):
        done = converter.run(CORPUS, "goal", "--memory=" + size)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, "%r: %s" % (size, done.stderr))


def main():
    global options  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--maker", required=True)
    options = parser.parse_args()
    options.maker = os.path.abspath(options.maker)
    return run_tests((test_memory, test_bound, test_full_disk, test_signals, test_names, test_bad_sizes),
                     options.refrain)


if __name__ == "__main__":
    sys.exit(main())
