#!/usr/bin/python3
"""refrain live serve beside jobs that come and go: one ends, one dies, and the service is killed in between.

    serve.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched
             [--modules build/web/node_modules]
"""
import argparse
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import live  # noqa: E402
import expectations  # noqa: E402
from live import CALLS, LIMIT_S, RANKS, expect, until  # noqa: E402

KEYS = ["name", "state", "ranks", "calls", "calls_per_s", "event_bytes_per_s", "stream_bytes", "lag_s", "blocked_s",
        "losses", "stuck", "nobody_moves", "circle", "story", "loop", "waits", "hosts"]


class LiveJob(live.Job):
    """A job that tells of itself in a folder."""

    def __init__(self, folder, name, end, live_dir, *more):
        self.words = ["--live-dir", live_dir, *more]
        super().__init__(folder, name, end)

    def run(self):
        preload = live.mpirun.shims(live.options.mpi, live.options.shim)
        command = [live.options.refrain, "record", "-o", self.trace, *self.words, "--", live.options.program,
                   self.folder, self.end]
        self.outcome = live.mpirun.run_job(
            live.options.mpi, RANKS, command, LIMIT_S, preload, {"REFRAIN_LIBRARY_PATH": live.options.libraries},
            cwd=self.folder, stacks_to=None if self.end == "end" else open(os.devnull, "w"))


class Service(live.Server):
    """`live serve` of a folder, for the time of a `with`."""

    VERB = ("serve", "--stuck-after", "500ms")
    STDOUT = subprocess.PIPE

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        out, err = self.process.communicate(timeout=60)
        if expectations.failures:
            print(out.decode(), err.decode())

    def jobs(self):
        state = json.loads(self.get("/state.json")[2])
        return {job["name"]: job for job in state["jobs"]}


def refrain(*words, status=0):
    done = subprocess.run([live.options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT_S)
    if done.returncode != status:
        print(words, done.returncode, done.stderr.decode()[-300:])
    return done.stdout if done.returncode == status else None


def check_page(service):
    """Both jobs, in a browser."""
    browser, node = shutil.which("chromium"), shutil.which("node") or shutil.which("nodejs")
    if browser is None or node is None or not os.path.isdir(os.path.join(live.options.modules, "playwright-core")):
        return print("skip  no browser")
    done = subprocess.run(
        [node, os.path.join(HERE, "page.cjs"), "http://127.0.0.1:%d/?token=%s" % (service.port, service.token),
         "@lives.rfn", "lives.rfn", "running", "dies.rfn", "died", "%d pairs" % RANKS],
        env={**os.environ, "REFRAIN_CHROMIUM": browser, "NODE_PATH": live.options.modules}, stdout=subprocess.PIPE,
        timeout=3 * LIMIT_S)
    expect(done.returncode == 0, "the page shows both jobs %s" % done.stdout.decode())


def same_dump(first, second):
    """Both traces have the same calls, with the same parameters and times."""
    dumps = [refrain("dump", path, "--format", "jsonl") for path in (first, second)]
    if None not in dumps and dumps[0] != dumps[1]:
        lines = [d.decode().splitlines() for d in dumps]
        print(len(lines[0]), len(lines[1]), next((p for p in zip(*lines) if p[0] != p[1]), None))
    return dumps[0] is not None and dumps[0] == dumps[1] and len(dumps[0].splitlines()) > RANKS * CALLS


def check_left(out, name, trace):
    """What a job leaves."""
    mine = os.path.join(out, name + ".rfn")
    if not until(lambda: os.path.exists(os.path.join(out, name + ".html")), "the report of " + name):
        return
    for verb in ("profile", "matrix", "waits"):
        path = os.path.join(out, name, verb + ".json")
        said = refrain(verb, mine, "--format", "json")
        if said is None:
            continue
        with open(path, "rb") as file:
            expect(json.loads(file.read()) == json.loads(said), "%s.json is what `refrain %s` says" % (verb, verb))
    if trace is not None:
        expect(same_dump(trace, mine), "%s: dump of the received trace is dump of the recorded one" % name)
        expect(refrain("check", mine) is not None, "and it is a good one")
    with open(os.path.join(out, "index.html")) as file:
        expect(len(file.read()) > 1000, "the index")


def check_jobs(folder, jobs_dir, out):
    a, b = os.path.join(folder, "a"), os.path.join(folder, "b")
    os.mkdir(a)
    os.mkdir(b)
    with Service("--dir", jobs_dir, "-o", out) as service:
        if not service.port:
            return
        lives = LiveJob(a, "lives", "end", jobs_dir, "--timing", "exact")
        dies = LiveJob(b, "dies", "deadlock", jobs_dir)
        seen = until(lambda: (lambda j: j if len(j) == 2 and all(x["calls"] == RANKS * CALLS for x in j.values())
                              else None)(service.jobs()), "both jobs are there")
        if not seen:
            return
        expect(list(seen["lives.rfn"]) == KEYS, "the state has what programs rely on: %s" % list(seen["lives.rfn"]))
        told = [name for name in os.listdir(jobs_dir) if name.endswith(".job")]
        expect(len(told) == 2 and all(stat.S_IMODE(os.stat(os.path.join(jobs_dir, n)).st_mode) == 0o600
                                      for n in told), "a file of each job, for its user alone")
        dies.go("go1")
        stuck = until(lambda: (lambda j: j if j["dies.rfn"]["stuck"] else None)(service.jobs()), "a rank is stuck")
        expect(stuck and stuck["dies.rfn"]["stuck"][0]["call"] == "MPI_Recv" and not stuck["lives.rfn"]["stuck"],
               "of one job, not of the other")
        # Both go on without us; one of them dies.
        address = (service.port, service.token)
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    live.kill_ranks(dies)
    dies.thread.join()
    with Service("--dir", jobs_dir, "-o", out) as service:
        expect((service.port, service.token) == address, "killed and started again it has the same address")
        second = subprocess.run([live.options.refrain, "live", "serve", "--dir", jobs_dir, "-o", out],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        expect(second.returncode == 2 and len(second.stderr.splitlines()) == 1, "a second one of the folder: 2")
        other = tempfile.mkdtemp(dir=folder)
        taken = subprocess.run([live.options.refrain, "live", "serve", "--dir", other, "-o", other, "--port",
                                str(service.port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        expect(taken.returncode == 2 and b"is taken" in taken.stderr, "a port that is taken: 2")
        seen = until(lambda: (lambda j: j if len(j) == 2 and j["dies.rfn"]["state"] == "died" else None)(
            service.jobs()), "one died")
        expect(seen and seen["lives.rfn"]["state"] == "running" and
               any(loss["reason"] == "died_first" for loss in seen["dies.rfn"]["losses"]),
               "who died first is a loss of its trace")
        expect(service.get("/state.json", Authorization="Bearer " + "0" * 32)[0] == 401, "a wrong token: 401")
        expect("died first" in seen["dies.rfn"]["story"] and seen["lives.rfn"]["loop"]["most"] == live.STEPS and
               seen["lives.rfn"]["loop"]["call"] == "MPI_Sendrecv", "who died first, and how far the other one is: %s"
               % seen["lives.rfn"]["loop"])
        metrics = service.get("/metrics")[2].decode()
        expect('refrain_job_running{job="dies.rfn"} 0' in metrics and 'refrain_job_running{job="lives.rfn"} 1' in
               metrics, "numbers of both for Prometheus")
        check_page(service)
        check_left(out, "dies", None)
        lives.go("go1")
        lives.go("go2")
        lives.thread.join()
        until(lambda: service.jobs()["lives.rfn"]["state"] == "finished", "the other ended")
        check_left(out, "lives", lives.trace)
        expect(until(lambda: not [n for n in os.listdir(jobs_dir) if n.endswith(".job")], "the files of jobs go"),
               "nothing of the jobs is left in the folder")
    pages = [os.path.join(out, name + ".html") for name in ("lives", "dies")]
    written = [os.stat(page).st_mtime_ns for page in pages]
    with Service("--dir", jobs_dir, "-o", out) as service:
        seen = until(lambda: (lambda j: j if len(j) == 2 else None)(service.jobs()), "jobs of earlier")
        expect([os.stat(page).st_mtime_ns for page in pages] == written, "what they left is not made again")
        profile = service.get("/job/0/profile.json")
        topology = json.loads(service.get("/job/0/topology.json?cells=2")[2])
        maps = json.loads(service.get("/job/0/maps.json")[2])
        expect(profile[0] == 200 and topology["ranks_a_cell"] == 2 and maps["ranks"] == RANKS,
               "and they can be asked as before")
        expect(seen and seen["lives.rfn"]["state"] == "finished" and seen["dies.rfn"]["state"] == "died",
               "jobs of earlier are shown")


def check_bad_input(folder, jobs_dir):
    job = ["record", "-o", os.path.join(folder, "x.rfn")]
    for words, status, what in (
            ([*job, "--live-dir", os.path.join(folder, "none"), live.options.program], 2, "no folder for --live-dir"),
            ([*job, "--live-dir", jobs_dir, "--spool", "off", live.options.program], 2, "no spool to look at")):
        done = subprocess.run([live.options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60)
        expect(done.returncode == status and len(done.stderr.splitlines()) == 1,
               "%s: %d %s" % (what, done.returncode, done.stderr.decode()))
    open_to_all = os.path.join(folder, "open")
    os.mkdir(open_to_all)
    os.chmod(open_to_all, 0o777)
    done = subprocess.run([live.options.refrain, "live", "serve", "--dir", open_to_all, "-o", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    expect(done.returncode == 2 and b"others may write" in done.stderr, "a folder that others may write to: 2")


def main():
    parser = argparse.ArgumentParser()
    for name in ("refrain", "libraries", "shim", "mpi", "program", "modules"):
        parser.add_argument("--" + name, default="")
    live.options = parser.parse_args()
    if live.mpirun.launcher(live.options.mpi) is None:
        print("skip  no launcher of", live.options.mpi)
        return 77
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-serve-") as folder:
        jobs_dir = os.path.join(folder, "jobs")
        os.mkdir(jobs_dir, 0o700)
        check_bad_input(folder, jobs_dir)
        check_jobs(folder, jobs_dir, os.path.join(folder, "out"))
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
