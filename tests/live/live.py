#!/usr/bin/python3
"""refrain live watch beside jobs whose state is known at each moment (watched.c).

    live.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched
            [--modules build/web/node_modules]
"""
import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

RANKS, STEPS, BYTES = 3, 100, 8000
# MPI_Init, MPI_Comm_rank, MPI_Comm_size and the ring.
CALLS = 3 + STEPS
LIMIT_S = 300
options = None


class Job:
    """A recorded job in a thread of this process, which goes on when go() says so."""

    def __init__(self, folder, name, end):
        self.folder, self.trace = folder, os.path.join(folder, name + ".rfn")
        self.spool = self.trace + ".spool"
        self.outcome = None
        self.end = end
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        preload = mpirun.shims(options.mpi, options.shim)
        command = [options.refrain, "record", "-o", self.trace, "--", options.program, self.folder, self.end]
        self.outcome = mpirun.run_job(options.mpi, RANKS, command, LIMIT_S, preload,
                                      {"REFRAIN_LIBRARY_PATH": options.libraries}, cwd=self.folder,
                                      stacks_to=None if self.end == "end" else open(os.devnull, "w"))

    def go(self, name):
        open(os.path.join(self.folder, name), "w").close()


def watch(*words, status=0):
    """Each line of the JSON."""
    done = subprocess.run([options.refrain, "live", "watch", "--format", "json", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LIMIT_S)
    if done.returncode != status:
        print(done.returncode, done.stderr.decode()[-300:])
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == status else []


def once(job, *words):
    looks = watch(job.spool, "--once", *words)
    return looks[0]["jobs"][0] if looks else None


def until(is_so, what):
    """The first thing that is_so() finds, or None when it finds nothing in time."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.1)
    expect(False, what + ": not in %d s" % LIMIT_S)
    return None


def in_ring(job):
    """The job when all ranks have made the ring's calls and compute."""
    def is_so():
        if not os.path.isdir(job.spool):
            return None
        now = once(job)
        return now if now and now["found"] == RANKS and now["by_rank"]["calls"] == [CALLS] * RANKS and \
            now["by_rank"]["state"] == ["computing"] * RANKS else None
    return until(is_so, "%s: all ranks have made %d calls" % (job.trace, CALLS))


def check_running(job):
    now = in_ring(job)
    if now is None:
        return
    functions = {f["call"]: f for f in now["functions"]}
    expect(now["state"] == "running" and now["ranks"] == RANKS and now["calls"] == RANKS * CALLS,
           "a job that computes: its calls")
    expect(functions["MPI_Sendrecv"]["count"] == RANKS * STEPS and
           functions["MPI_Sendrecv"]["bytes"] == RANKS * STEPS * BYTES, "its functions")
    expect(now["by_rank"]["call"] == ["MPI_Sendrecv"] * RANKS, "each rank's last call")
    expect(now["losses"] == [] and now["stuck"] == [] and not now["nobody_moves"], "nothing is wrong with it")
    job.go("go1")
    stuck = until(lambda: (lambda now: now if now and now["stuck"] else None)(once(job, "--stuck-after", "500ms")),
                  "a rank that waits for a message")
    if stuck:
        expect([(s["call"], s["ranks"]) for s in stuck["stuck"]] == [("MPI_Recv", [0])] and
               not stuck["nobody_moves"], "rank 0 is stuck in MPI_Recv, the others are not: %s" % stuck["stuck"])
        expect(stuck["by_rank"]["state"] == ["stuck"] + ["computing"] * (RANKS - 1), "and this is their state")


class Server:
    """`live watch --serve 0` of some spools, for the time of a `with`."""

    VERB = ("watch", "--serve", "0", "--format", "json")
    STDOUT = subprocess.DEVNULL

    def __init__(self, *words):
        self.words = words

    def __enter__(self):
        self.process = subprocess.Popen([options.refrain, "live", *self.VERB, "--interval", "200ms", *self.words],
                                        stdout=self.STDOUT, stderr=subprocess.PIPE)
        line = self.process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line.strip())
        self.port, self.token = (int(found.group(1)), found.group(2)) if found else (0, "")
        expect(found is not None, "the address is said: %s" % line.strip())
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)

    def get(self, path, **headers):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = {"Authorization": "Bearer " + self.token, **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def stream(self, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", "/events", headers={"Authorization": "Bearer " + self.token, **headers})
        return connection, connection.getresponse()


def events(answer, count):
    """(number, state) of the next events of a stream."""
    found, number = [], None
    while len(found) < count:
        line = answer.readline().decode().rstrip("\n")
        if line.startswith("id: "):
            number = int(line[4:])
        if line.startswith("data: "):
            found.append((number, json.loads(line[6:])))
    return found


def check_doors(server):
    """Who gets in."""
    for words, status, what in (({"Authorization": "none"}, 401, "no token"),
                                ({"Authorization": "Bearer " + "0" * 32}, 401, "a wrong token"),
                                ({"Authorization": "none", "Cookie": "refrain_token=" + "1" * 32}, 401,
                                 "a wrong cookie"),
                                ({"Authorization": "none", "Cookie": "a=b; refrain_token=" + server.token}, 200,
                                 "the cookie"),
                                ({"Host": "jobs.example.org:%d" % server.port}, 403, "a name of somebody else"),
                                ({}, 200, "the token")):
        found, headers, _ = server.get("/state.json", **words)
        expect(found == status and "default-src 'none'" in headers.get("Content-Security-Policy", ""),
               "%s: %d" % (what, found))
    found, headers, _ = server.get("/?token=" + server.token, Authorization="none")
    cookie = headers.get("Set-Cookie", "")
    expect(found == 302 and headers["Location"] == "/" and "HttpOnly" in cookie and "SameSite=Strict" in cookie,
           "the address gives a cookie and leads to the page")
    expect(server.get("/job/9/profile.json")[0] == 404 and server.get("/../etc/passwd")[0] == 404 and
           server.get("/job/-1/run.rfn")[0] == 404, "what is not there: 404")


def check_service(job, folder):
    with Server(job.spool, "--viewers", "2") as server:
        if not server.port:
            return
        check_doors(server)
        taken = subprocess.run([options.refrain, "live", "watch", job.spool, "--serve", str(server.port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=30)
        expect(taken.returncode == 2 and b"is taken" in taken.stderr, "a port that is taken: 2")
        state = json.loads(server.get("/state.json")[2])["jobs"][0]
        profile = json.loads(server.get("/job/0/profile.json")[2])
        matrix = json.loads(server.get("/job/0/matrix.json")[2])
        expect(sum(f["count"] for f in profile["functions"]) == state["calls"] == RANKS * CALLS, "profile of the job")
        expect(sorted((p["source"], p["dest"], p["messages"]) for p in matrix["pairs"]) ==
               [(r, (r + 1) % RANKS, STEPS) for r in range(RANKS)], "its matrix")
        part = os.path.join(folder, "part.rfn")
        with open(part, "wb") as file:
            file.write(server.get("/job/0/run.rfn")[2])
        dump = subprocess.run([options.refrain, "dump", part, "--rank", "0", "--format", "jsonl"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30)
        expect(len(dump.stdout.splitlines()) == CALLS, "a trace of everything until now")
        metrics = server.get("/metrics")[2].decode()
        expect('refrain_job_calls_total{job="%s"} %d\n' % (os.path.basename(job.trace), RANKS * CALLS) in metrics,
               "numbers for Prometheus")
        check_streams(server)
        check_page(server)


def check_streams(server):
    first, answer = server.stream()
    (number, state), (later, _) = events(answer, 2)
    expect(answer.getheader("Content-Type") == "text/event-stream" and later > number and
           state["jobs"][0]["ranks"] == RANKS, "events, one for each look")
    again, answer_again = server.stream(**{"Last-Event-ID": str(number)})
    (newest, _), = events(answer_again, 1)
    expect(newest >= later, "who comes back gets the newest at once")
    third, answer_third = server.stream()
    expect(answer_third.status == 503, "more viewers than --viewers: 503")
    for connection in (first, again, third):
        connection.close()


def check_page(server):
    browser, node = shutil.which("chromium"), shutil.which("node") or shutil.which("nodejs")
    if browser is None or node is None or not os.path.isdir(os.path.join(options.modules, "playwright-core")):
        return print("skip  no browser")
    done = subprocess.run(
        [node, os.path.join(HERE, "page.cjs"), "http://127.0.0.1:%d/?token=%s" % (server.port, server.token),
         "MPI_Sendrecv", "computing %d" % RANKS, "%d pairs" % RANKS, "running"],
        env={**os.environ, "REFRAIN_CHROMIUM": browser, "NODE_PATH": options.modules}, stdout=subprocess.PIPE,
        timeout=3 * LIMIT_S)
    expect(done.returncode == 0, "the page shows functions, states and the matrix %s" % done.stdout.decode())


def check_end(job):
    """Watched to its end, the job is the one of the trace."""
    words = [options.refrain, "live", "watch", job.spool, "--format", "json", "--interval", "200ms"]
    watcher = subprocess.Popen(words, stdout=subprocess.PIPE)
    time.sleep(0.5)
    job.go("go2")
    job.thread.join()
    looks = [json.loads(line) for line in watcher.communicate(timeout=LIMIT_S)[0].splitlines()]
    last = looks[-1]["jobs"][0]
    info = json.loads(subprocess.run([options.refrain, "info", job.trace, "--format", "json"], stdout=subprocess.PIPE,
                                     check=True).stdout)
    calls = [look["jobs"][0]["calls"] for look in looks]
    expect(job.outcome.status == 0 and watcher.returncode == 0 and last["state"] == "finished", "a job that ends: 0")
    expect(calls == sorted(calls) and calls[-1] == info["calls"], "calls only grow, and end as the trace: %s" % calls)


def check_deadlock(folder):
    job = Job(folder, "deadlock", "deadlock")
    for name in ("go1", "go2"):
        job.go(name)
    def is_so():
        if not os.path.isdir(job.spool):
            return None
        now = once(job, "--stuck-after", "1h")  # whatever the limit: nobody moves
        return now if now and now["nobody_moves"] else None
    now = until(is_so, "a deadlock")
    if now:
        expect([(s["call"], s["ranks"]) for s in now["stuck"]] == [("MPI_Recv", list(range(RANKS)))],
               "every rank is in MPI_Recv")
        expect([(r["rank"], r["call"]) for r in now["circle"]] == [(r, "MPI_Recv") for r in range(RANKS)],
               "and waits for the next one: %s" % now["circle"])
    # The two jobs at once, by the folder alone; the deadlock is ended by its limit or by us.
    done = subprocess.run([options.refrain, "live", "watch", "--once", "--stuck-after", "500ms"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    expect(done.returncode == 0 and b"none moves" in done.stdout and b"deadlock.rfn: running" in done.stdout,
           "the spools of a folder, as text")
    return job, now


def kill_ranks(now_job):
    for entry in os.listdir(now_job.spool):
        match = re.search(r"-(\d+)\.rank$", entry)
        if match:
            try:
                os.kill(int(match.group(1)), 9)
            except ProcessLookupError:
                pass


def check_death(job):
    kill_ranks(job)
    job.thread.join()
    looks = watch(job.spool, "--interval", "200ms", status=4)
    last = looks[-1]["jobs"][0] if looks else {}
    story = last.get("story", "")
    expect(last.get("state") == "died" and "died first" in story, "a job that was killed: 4, and who: %s" % story)
    done = subprocess.run([options.refrain, "recover", job.spool], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(done.returncode == 0 and os.path.exists(job.trace),
           "and recover makes its trace: %d %s" % (done.returncode, done.stderr.decode()))


def check_bad_input(folder):
    empty = os.path.join(folder, "empty.rfn.spool")
    os.mkdir(empty)
    with open(os.path.join(empty, "0-000000-x-1.rank"), "wb") as file:
        file.write(os.urandom(9000))
    for words, status, what in ((["watch", os.path.join(folder, "none.spool")], 1, "no such folder"),
                                (["watch", empty], 1, "a folder without a spool"),
                                (["watch", folder], 1, "a folder of something else"),
                                (["serve"], 2, "serve without a folder"),
                                (["serve", "--dir", os.path.join(folder, "none")], 2, "no folder to serve"),
                                (["serve", "--dir", folder, empty], 2, "a spool that it does not take"),
                                (["watch", empty, "--dir", folder], 2, "a folder that watch does not take"),
                                (["sreve"], 2, "what it cannot do"),
                                ([], 2, "not what to do"),
                                (["watch", empty, "--interval", "0"], 2, "no interval"),
                                (["watch", empty, "--viewers", "3"], 2, "viewers of no page"),
                                (["watch", empty, "--serve", "70000"], 2, "no port")):
        done = subprocess.run([options.refrain, "live", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=30)
        lines = done.stderr.decode().splitlines()
        expect(done.returncode == status and len(lines) == 1 and done.stdout == b"",
               "%s: %d, %s" % (what, done.returncode, lines))


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("refrain", "libraries", "shim", "mpi", "program", "modules"):
        parser.add_argument("--" + name, default="")
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of", options.mpi)
        return 77
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-live-") as folder:
        first, second = os.path.join(folder, "a"), os.path.join(folder, "b")
        os.mkdir(first)
        os.mkdir(second)
        job = Job(first, "run", "end")
        if in_ring(job) is not None:
            check_service(job, folder)
            check_running(job)
            check_end(job)
        hung, now = check_deadlock(second)
        if now:
            check_death(hung)
        check_bad_input(folder)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
