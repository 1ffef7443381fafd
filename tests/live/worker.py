#!/usr/bin/python3
"""The worker of refrain live analyze in a job: page and plug-ins; killed and stopped, it goes on.

    worker.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched
              --plugins build/tests/live [--hang]
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import live  # noqa: E402
import expectations  # noqa: E402
import mpirun  # noqa: E402
from live import CALLS, LIMIT_S, RANKS, expect, until  # noqa: E402

SKIPPED = 77
options = None


class Launch:
    """The program and an analyser in one launch, until end(); get() asks the analyser's page."""

    get = live.Server.get

    def __init__(self, title, *words, interval="200ms"):
        self.folder = os.path.join(options.work, title)
        os.makedirs(self.folder)
        self.trace, self.live = os.path.join(self.folder, "w.rfn"), os.path.join(self.folder, "live")
        analyser = [options.refrain, "live", "analyze", "-o", self.live, "--interval", interval, *words]
        program = [options.refrain, "record", "-o", self.trace, "--live", "--", options.program, self.folder]
        preload = mpirun.shims(options.mpi, options.shim)
        argv = mpirun.command_line(options.mpi, RANKS, program, preload, {"REFRAIN_LIBRARY_PATH": options.libraries},
                                   beside=[mpirun.Beside(analyser, 2)])
        env = dict(mpirun.job_environment(options.mpi), REFRAIN_QUIET="1")
        self.err_path = os.path.join(self.folder, "err")
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.err_path, "w"), env=env, cwd=self.folder)

    def err(self):
        with open(self.err_path) as file:
            return file.read()

    def log(self):
        path = os.path.join(self.live, "analyze.log")
        return open(path).read() if os.path.exists(path) else "no log"

    def find_page(self):
        found = until(lambda: re.search(r"refrain: http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", self.err()),
                      "the address is said")
        self.port, self.token = (int(found.group(1)), found.group(2)) if found else (0, "")

    def state(self):
        try:
            jobs = json.loads(self.get("/state.json")[2])["jobs"]
        except (OSError, ValueError):
            return None  # nobody is there
        return jobs[0] if jobs else None

    def shows_the_ring(self):
        return until(lambda: (lambda job: job and job["calls"] == RANKS * CALLS)(self.state()), "the page has the ring")

    def worker(self):
        """The process that works: a child of one that was started with the same line."""
        parents = {}
        for entry in os.listdir("/proc"):
            try:
                with open("/proc/%s/cmdline" % entry, "rb") as file:
                    is_ours = os.fsencode(self.live) in file.read().split(b"\0")
                with open("/proc/%s/stat" % entry) as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if is_ours:
                parents[int(entry)] = parent
        return next((child for child, parent in parents.items() if parent in parents), None)

    def end(self):
        for name in ("go1", "go2"):
            open(os.path.join(self.folder, name), "w").close()
        return self.process.wait(timeout=LIMIT_S)

    def check_left(self, what):
        status = self.end()
        expect(status == 0, "%s: status %d: %s" % (what, status, self.err()))
        received = os.path.join(self.live, "watched.rfn")
        dumps = [subprocess.run([options.refrain, "dump", path], stdout=subprocess.PIPE).stdout
                 for path in (self.trace, received)]
        expect(len(dumps[0]) > 0 and dumps[0] == dumps[1], "%s: the received trace: %s" % (what, self.log()))
        expect(not os.path.exists(os.path.join(self.live, "jobs")), "%s: nothing is left of the work" % what)

    def answers(self):
        path = os.path.join(self.live, "watched", "plugins.json")
        return json.load(open(path)) if os.path.exists(path) else {}


def plugin(name):
    return ["--plugin", os.path.join(options.plugins, "plugin_%s.so" % name)]


def check_page_and_plugins():
    """Killed twice: the address stays, and the third time there are no plug-ins."""
    run = Launch("page", "--port", "0", "--stuck-after", "300ms", *plugin("good"), *plugin("crashes"))
    run.find_page()
    run.shows_the_ring()
    expect(run.get("/state.json", Authorization="Bearer " + "0" * 32)[0] == 401, "a wrong token: 401")
    open(os.path.join(run.folder, "go1"), "w").close()
    stuck = until(lambda: (lambda job: job and job["stuck"])(run.state()), "rank 0 is stuck, by --stuck-after")
    expect(stuck and stuck[0]["call"] == "MPI_Recv", "in MPI_Recv: %s" % stuck)
    expect(until(lambda: "plugin_crashes" in run.log() and "is disabled" in run.log(), "one plug-in crashes"),
           "which the log says: %s" % run.log())
    for start in (2, 3):
        before = run.worker()
        os.kill(before, signal.SIGKILL)
        expect(until(lambda: run.worker() not in (None, before) and run.state(), "start %d of the worker" % start),
               "at the same address: %s" % run.log())
    expect(run.log().count("was ended by signal 9: it begins again\n") == 1 and
           run.log().count("was ended by signal 9: it begins again, without plug-ins\n") == 1,
           "the log says so: %s" % run.log())
    plugins = json.loads(run.get("/look.json")[2])["plugins"]
    expect(plugins == [], "the third worker has no plug-ins: %s" % plugins)
    run.check_left("killed twice")


def check_plugins_to_the_end():
    """Of a job that ends before the second look, too."""
    run = Launch("plugins", *plugin("good"), interval="10s")
    run.check_left("plug-ins")
    said = run.answers().get("plugin_good", "")
    expect(said.endswith(", ended " + os.path.join(run.live, "watched.rfn")), "it has got the trace: %s" % said)
    expect("refrain" not in run.err(), "nothing on stderr: %s" % run.err())


def check_port_is_taken():
    """The program needs no page."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        run = Launch("taken", "--port", str(other.getsockname()[1]))
        run.check_left("a port that is taken")
        lines = run.err().splitlines()
        expect(len(lines) == 1 and "is taken" in lines[0], "one line: %s" % lines)


def check_hang():
    """One that is stopped is killed after 15 s."""
    run = Launch("hang", "--port", "0")
    run.find_page()
    run.shows_the_ring()
    stopped = run.worker()
    os.kill(stopped, signal.SIGSTOP)
    expect(until(lambda: run.worker() not in (None, stopped) and run.state(), "another worker"),
           "the log: " + run.log())
    expect("the analysis hung: it begins again\n" in run.log(), "which the log says: %s" % run.log())
    run.check_left("stopped")


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("refrain", "mpi", "program", "libraries", "plugins"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    parser.add_argument("--hang", action="store_true", help="this alone, which takes half a minute")
    options = parser.parse_args()
    for name in ("refrain", "program", "libraries", "shim", "plugins"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    if mpirun.launcher(options.mpi) is None or not mpirun.starts_several(options.mpi):
        print("skip  no launcher of %s that starts several programs" % options.mpi)
        return SKIPPED
    options.work = tempfile.mkdtemp(prefix="refrain-worker-")
    try:
        if options.hang:
            check_hang()
        else:
            check_page_and_plugins()
            check_plugins_to_the_end()
            check_port_is_taken()
    finally:
        shutil.rmtree(options.work, ignore_errors=True)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
