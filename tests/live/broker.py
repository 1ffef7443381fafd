#!/usr/bin/python3
"""refrain live feed and serve through a NATS broker on loopback, which the service starts (--listen).

    broker.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched

One job ends, one dies, while the feed, and then the service with the broker, are killed; one is over before the feed
looks; and messages that nobody of ours sent mark the job that they name, and no other.
"""
import argparse
import glob
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import live  # noqa: E402
import expectations  # noqa: E402
import serve  # noqa: E402
from live import CALLS, LIMIT_S, RANKS, expect, until  # noqa: E402


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Service(serve.Service):
    """`live serve --listen`: the line of the broker comes before that of the page."""

    def __enter__(self):
        self.process = subprocess.Popen([live.options.refrain, "live", *self.VERB, "--interval", "200ms", *self.words],
                                        stdout=self.STDOUT, stderr=subprocess.PIPE)
        self.broker = self.process.stderr.readline().decode().strip()
        line = self.process.stderr.readline().decode().strip()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})$", line)
        self.port, self.token = (int(found.group(1)), found.group(2)) if found else (0, "")
        expect(found is not None, "the address is said: %s %s" % (self.broker, line))
        return self


class Feed:
    def __init__(self, jobs_dir, url, token):
        self.words = [live.options.refrain, "live", "feed", "--dir", jobs_dir, "--to", url, "--token", token,
                      "--interval", "200ms"]

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        said = self.process.communicate(timeout=60)[0].decode()
        if expectations.failures:
            print("feed:", said)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def publish(port, token, subject, payload):
    """What a stranger who knows the token may send."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        reader = s.makefile("rb")
        reader.readline()
        s.sendall(b'CONNECT {"verbose":false,"auth_token":"%s"}\r\nPUB %s %d\r\n%s\r\nPING\r\n' %
                  (token.encode(), subject.encode(), len(payload), payload))
        line = reader.readline()
        while line and not line.startswith(b"PONG"):
            line = reader.readline()
        expect(line.startswith(b"PONG"), "the broker took it")


def run_of(jobs_dir, name):
    for path in glob.glob(os.path.join(jobs_dir, "*.job")):
        with open(path) as file:
            if "/%s.rfn\n" % name in file.read():
                return os.path.basename(path)[:-4]
    return None


def check_jobs(folder, jobs_dir, out):
    for name in "abcd":
        os.mkdir(os.path.join(folder, name))
    port = free_port()
    url, token_file = "nats://127.0.0.1:%d" % port, os.path.join(out, "nats.token")
    serve_words = ("--listen", str(port), "-o", out)
    seen_all = lambda s: (lambda j: j if len(j) == 3 and all(x["calls"] == RANKS * CALLS for x in j.values())  # noqa
                          else None)(s.jobs())
    with Service(*serve_words) as service:
        if not service.port:
            return
        expect(url in service.broker and token_file in service.broker, "where feeds send to: " + service.broker)
        for name in ("nats.conf", "nats.token", "nats.log", "serve.address"):
            expect(stat.S_IMODE(os.stat(os.path.join(out, name)).st_mode) == 0o600, name + " is of its user alone")
        with open(token_file) as file:
            token = file.read().strip()
        second = subprocess.run([live.options.refrain, "live", "serve", "--listen", str(port), "-o", folder],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        expect(second.returncode == 2 and b"is taken" in second.stderr and len(second.stderr.splitlines()) == 1,
               "a port that is taken: 2")
        wrong = os.path.join(folder, "wrong")
        with open(wrong, "w") as file:
            file.write("0" * 32)
        os.chmod(wrong, 0o644)
        refused = subprocess.run(Feed(jobs_dir, url, wrong).words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=60)
        expect(refused.returncode == 2 and b"chmod 600" in refused.stderr, "a token that others may read: 2")
        os.chmod(wrong, 0o600)
        refused = subprocess.run(Feed(jobs_dir, url, wrong).words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=60)
        expect(refused.returncode == 1 and len(refused.stderr.splitlines()) == 1, "a wrong token: %s" % refused.stderr)
        lives = serve.LiveJob(os.path.join(folder, "a"), "lives", "end", jobs_dir, "--timing", "exact")
        dies = serve.LiveJob(os.path.join(folder, "b"), "dies", "deadlock", jobs_dir)
        forged = serve.LiveJob(os.path.join(folder, "c"), "forged", "end", jobs_dir)
        with Feed(jobs_dir, url, token_file) as feed:
            seen = until(lambda: seen_all(service), "the jobs are there")
            feed.kill()
        if not seen:
            return
        look = service.get("/look.json")[2].decode()
        expect('"clock_error_s":' in look and '"clock_error_s":null' not in look, "clocks are compared")
        # A message of a rank that is none, and one that jumps over others.
        run = run_of(jobs_dir, "forged")
        publish(port, token, "refrain.%s.1" % run, b"x" * 100)
        publish(port, token, "refrain.x.y", b"of no job")
        service.process.send_signal(signal.SIGKILL)
        service.process.wait()
    dies.go("go1")
    with Service(*serve_words) as service, Feed(jobs_dir, url, token_file) as feed:
        seen = until(lambda: (lambda j: j if len(j) == 3 and j["dies.rfn"]["stuck"] else None)(service.jobs()),
                     "all is there again, and a rank is stuck")
        expect(seen and seen["dies.rfn"]["stuck"][0]["call"] == "MPI_Recv", "of the job that has gone on")
        publish(port, token, "refrain.%s.2" % run, b"y" * 100)
        marked = until(lambda: (lambda j: j if any(x["rank"] == 2 for x in j["forged.rfn"]["losses"]) else None)(
            service.jobs()), "a forged message marks its job")
        if marked:
            expect(not marked["lives.rfn"]["losses"] and not marked["dies.rfn"]["losses"], "and no other job")
            expect("not a message of refrain" in str(marked["forged.rfn"]["losses"]), "which says why: %s"
                   % marked["forged.rfn"]["losses"])
        live.kill_ranks(dies)
        dies.thread.join()
        seen = until(lambda: (lambda j: j if j["dies.rfn"]["state"] == "died" else None)(service.jobs()), "one died")
        expect(seen and "died first" in seen["dies.rfn"]["story"], "who died first")
        for job in (lives, forged):
            job.go("go1")
            job.go("go2")
            job.thread.join()
        until(lambda: (lambda j: j["lives.rfn"]["state"] == "finished" and j["forged.rfn"]["state"] != "running")(
            service.jobs()), "the others ended")
        serve.check_left(out, "lives", lives.trace)
        serve.check_left(out, "dies", None)
        feed.kill()
        # Over before anybody looked: its own trace is sent.
        short = serve.LiveJob(os.path.join(folder, "d"), "short", "end", jobs_dir)
        for name in ("go1", "go2"):
            short.go(name)
        short.thread.join()
        with Feed(jobs_dir, url, token_file) as feed:
            until(lambda: service.jobs().get("short.rfn", {}).get("state") == "finished", "one that was short")
            serve.check_left(out, "short", short.trace)
            expect(until(lambda: not glob.glob(os.path.join(jobs_dir, "*.job")), "the files of jobs go"),
                   "nothing of the jobs is left in the folder")
        expect(not glob.glob(os.path.join(out, "*.came")), "nor of traces that came")
    with Service(*serve_words) as service:
        seen = until(lambda: (lambda j: j if len(j) == 4 else None)(service.jobs()), "jobs of earlier")
        expect(seen and seen["lives.rfn"]["state"] == "finished" and seen["dies.rfn"]["state"] == "died",
               "each of them once: %s" % list(seen or ()))


def check_limit(folder, jobs_dir, out):
    """More than a job may send."""
    port = free_port()
    os.mkdir(os.path.join(folder, "e"))
    with Service("--listen", str(port), "-o", out, "--job-bytes", "5632") as service, \
            Feed(jobs_dir, "nats://127.0.0.1:%d" % port, os.path.join(out, "nats.token")):
        much = serve.LiveJob(os.path.join(folder, "e"), "much", "end", jobs_dir, "--timing", "exact")
        until(lambda: service.jobs().get("much.rfn"), "a job that will send too much")
        # Somebody else who may look, from the first message on.
        with serve.Service("--from", "nats://127.0.0.1:%d" % port, "--token", os.path.join(out, "nats.token"), "-o",
                           os.path.join(folder, "out3")) as other:
            until(lambda: other.jobs().get("much.rfn", {}).get("calls", 0) == RANKS * CALLS, "another one has it too")
        for name in ("go1", "go2"):
            much.go(name)
        much.thread.join()
        seen = until(lambda: (lambda j: j if j["state"] not in ("running", "finishing") else None)(
            service.jobs()["much.rfn"]), "it ends all the same")
        expect(seen and seen["state"] == "finished" and "--job-bytes" in str(seen["losses"]) and not seen["story"],
               "and is marked: %s" % (seen and seen["losses"]))


def check_bad_input(folder, jobs_dir):
    for words, status, what in (
            (["feed", "--dir", jobs_dir], 2, "no broker"),
            (["feed", "--dir", jobs_dir, "--to", "http://x"], 2, "no URL of one"),
            (["feed", "--dir", jobs_dir, "--to", "nats://127.0.0.1:1"], 1, "nobody there"),
            (["serve", "--from", "nats://127.0.0.1:1", "-o", folder], 1, "nobody there to receive from"),
            (["serve", "--from", "run.rfn", "-o", folder], 2, "a trace is no broker"),
            (["serve", "-o", folder], 2, "no place that jobs come from"),
            (["serve", "--dir", jobs_dir, "--listen", "4222", "-o", folder], 2, "two of them")):
        done = subprocess.run([live.options.refrain, "live", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60)
        expect(done.returncode == status and len(done.stderr.splitlines()) == 1,
               "%s: %d %s" % (what, done.returncode, done.stderr.decode()))


def main():
    parser = argparse.ArgumentParser()
    for name in ("refrain", "libraries", "shim", "mpi", "program", "modules"):
        parser.add_argument("--" + name, default="")
    live.options = parser.parse_args()
    if live.mpirun.launcher(live.options.mpi) is None:
        print("skip  no launcher of", live.options.mpi)
        return 77
    if shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin") is None:
        print("skip  no nats-server")
        return 77
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-broker-") as folder:
        jobs_dir = os.path.join(folder, "jobs")
        os.mkdir(jobs_dir, 0o700)
        none = subprocess.run([live.options.refrain, "live", "feed", "--dir", jobs_dir, "--to", "nats://127.0.0.1:1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)
        if none.returncode == 5:
            expect(b"libnats" in none.stderr and len(none.stderr.splitlines()) == 1, "a build without: 5, a line")
            print("skip  this build has no libnats")
            return 1 if expectations.failures else 77
        check_bad_input(folder, jobs_dir)
        check_jobs(folder, jobs_dir, os.path.join(folder, "out"))
        check_limit(folder, jobs_dir, os.path.join(folder, "out2"))
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
