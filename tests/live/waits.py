#!/usr/bin/python3
"""Waits on line: beside a job in which one rank is late, and of its trace received again (late.c).

    waits.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program late
             [--modules build/web/node_modules]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import live  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

RANKS, LATE = 3, 2
LIMIT_S = 300
options = None


class Job(threading.Thread):
    """The program, recorded with some times, until end() is called."""

    def __init__(self, folder, name, timing):
        super().__init__(daemon=True)
        self.folder, self.timing = folder, timing
        self.trace = os.path.join(folder, name + ".rfn")
        self.spool = self.trace + ".spool"
        self.outcome = None
        self.start()

    def run(self):
        preload = mpirun.shims(options.mpi, options.shim)
        command = [options.refrain, "record", "--timing", self.timing, "-o", self.trace, "--", options.program,
                   self.folder]
        self.outcome = mpirun.run_job(options.mpi, RANKS, command, LIMIT_S, preload,
                                      {"REFRAIN_LIBRARY_PATH": options.libraries}, cwd=self.folder)

    def end(self):
        open(os.path.join(self.folder, "end"), "w").close()
        self.join()


class Watcher:
    """Each look of `live watch`, as it comes."""

    def __init__(self, spool):
        self.looks = []
        self.process = subprocess.Popen([options.refrain, "live", "watch", spool, "--format", "json", "--interval",
                                         "250ms"], stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.looks.append(json.loads(line)["jobs"][0])

    def until(self, is_so, what):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            for look in self.looks:
                if is_so(look):
                    return look
            time.sleep(0.1)
        expect(False, what + ": not in %d s" % LIMIT_S)
        return None

    def finish(self):
        self.thread.join(LIMIT_S)
        return self.process.wait(LIMIT_S)


def refrain(*words):
    return subprocess.run([options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)


def ns_by_pattern(waits):
    return {p["pattern"]: p["ns"] for p in waits["patterns"] if p["ns"] > 0}


def check_equal(what, waits, trace):
    """What was found while the job ran is what `refrain waits` finds in its trace.

    The verb tells apart what the recorder itself made ranks wait, which the forward sweep cannot."""
    said = json.loads(refrain("waits", trace, "--format", "json").stdout)
    inner = {p["pattern"]: 1e9 * p["own_seconds"] for p in said["patterns"] if p["own_seconds"] > 0}
    online = ns_by_pattern(waits)
    expect(waits["is_whole"] and set(inner) <= set(online), "%s: its patterns: %s, %s" % (what, online, inner))
    recorder_ns = 1e9 * said["recorder"]["waiting_seconds"]
    expect(all(online[p] >= ns - 2 for p, ns in inner.items()) and
           abs(sum(online.values()) - sum(inner.values()) - recorder_ns) <= 2 * len(online) + 2,
           "%s: %d ns of waiting are those of the trace, %.0f, and %.0f for the recorder" %
           (what, sum(online.values()), sum(inner.values()), recorder_ns))


def most(waits, column):
    by = waits["by_rank"]
    return max(zip(by[column], by["rank"]))[1] if by["rank"] else None


def check_running(timing, folder):
    job = Job(folder, "late", timing)
    if live.until(lambda: os.path.isdir(job.spool), timing + ": a job") is None:
        return None
    watcher = Watcher(job.spool)
    if timing == "exact":
        look = watcher.until(lambda look: look["state"] == "running" and
                             look["waits"]["recent_ns"] > 1e8 and look["waits"]["swept_until_s"] > 1,
                             "waits of a job that runs")
        if look:
            waits = look["waits"]
            late_ns = ns_by_pattern(waits).get("late_sender", 0)
            expect(late_ns > 0.5 * waits["ns"] and late_ns > 2e8, "late senders, most of all: %s" % waits["patterns"])
            expect(most(waits, "causing_ns") == LATE and most(waits, "recent_causing_ns") == LATE,
                   "for rank %d, which is late: %s" % (LATE, waits["by_rank"]))
            expect(waits["lag_s"] < 2 and waits["why_not"] == "" and waits["stopped"] == "" and
                   waits["late_calls"] == 0, "%.2f s behind the run" % waits["lag_s"])
            check_shown(job)
    else:
        time.sleep(2)
    job.end()
    status = watcher.finish()
    last = watcher.looks[-1]
    expect(job.outcome.status == 0 and status == 0 and last["state"] == "finished", timing + ": a job that ends")
    check_equal(timing + " on line", last["waits"], job.trace)
    expect(most(last["waits"], "causing_ns") == LATE, timing + ": rank %d was late" % LATE)
    return job.trace


def check_shown(job):
    """As text and on the page."""
    text = refrain("live", "watch", job.spool, "--once").stdout.decode()
    expect("Late sender" in text and "waited for: rank %d " % LATE in text, "as text: %s" % text)
    with live.Server(job.spool) as server:
        if not server.port:
            return
        # The address is said before the first look is there.
        jobs = live.until(lambda: json.loads(server.get("/state.json")[2])["jobs"], "a look of the page")
        if not jobs:
            return
        expect(ns_by_pattern(jobs[0]["waits"]).get("late_sender", 0) > 0, "in /state.json")
        expect('refrain_job_waiting_seconds_total{job="late.rfn"}' in server.get("/metrics")[2].decode(),
               "for Prometheus")
        browser, node = shutil.which("chromium"), shutil.which("node") or shutil.which("nodejs")
        if browser is None or node is None or not os.path.isdir(os.path.join(options.modules, "playwright-core")):
            return print("skip  no browser")
        done = subprocess.run(
            [node, os.path.join(HERE, "page.cjs"), "http://127.0.0.1:%d/?token=%s" % (server.port, server.token),
             "Waits", "Late sender", "Others waited for it", "running"],
            env={**os.environ, "REFRAIN_CHROMIUM": browser, "NODE_PATH": options.modules}, stdout=subprocess.PIPE,
            timeout=3 * LIMIT_S)
        expect(done.returncode == 0, "on the page %s" % done.stdout.decode())


def check_again(trace, folder):
    """As if it ran now, by the events of the page."""
    process = subprocess.Popen([options.refrain, "live", "analyze", "--from", trace, "-o",
                                os.path.join(folder, "again"), "--speed", "0.5", "--interval", "100ms", "--port", "0"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    line = process.stderr.readline().decode().strip()
    address, _, token = line.rpartition("/?token=")
    server = live.Server()
    server.port, server.token = int(address.rpartition(":")[2]), token
    connection, answer = server.stream()
    last, is_on_the_way = None, False
    for line in answer:
        if not line.startswith(b"data: "):
            continue
        last = json.loads(line[6:])["jobs"][0]["waits"]
        is_on_the_way = is_on_the_way or (not last["is_whole"] and last["recent_ns"] > 0 and
                                          most(last, "causing_ns") == LATE)
    connection.close()
    expect(is_on_the_way, "the same of a recorded run, on the way")
    if last:
        check_equal("received again", last, trace)
    expect(process.wait(LIMIT_S) == 0, "and it ends")


def check_none(folder):
    """Without times of single calls one line says why."""
    job = Job(folder, "none", "stats")
    if live.until(lambda: os.path.isdir(job.spool), "a job with statistics") is None:
        return
    time.sleep(1)
    done = refrain("live", "watch", job.spool, "--once")
    lines = [line for line in done.stdout.decode().splitlines() if "waits" in line]
    expect(len(lines) == 1 and "--timing exact" in lines[0], "why there are none: %s" % lines)
    job.end()


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("refrain", "libraries", "shim", "mpi", "program", "modules"):
        parser.add_argument("--" + name, default="")
    live.options = options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of", options.mpi)
        return 77
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-waits-") as folder:
        traces = {}
        for timing in ("exact", "bins:0.02"):
            place = os.path.join(folder, timing.partition(":")[0])
            os.mkdir(place)
            traces[timing] = check_running(timing, place)
        if traces["exact"]:
            check_again(traces["exact"], folder)
        place = os.path.join(folder, "stats")
        os.mkdir(place)
        check_none(place)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
