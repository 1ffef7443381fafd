#!/usr/bin/python3
"""refrain live feed and serve through a NATS broker on loopback, which the service starts (--listen).

    broker.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched

One job ends, one dies, while the feed, and then the service with the broker, are killed; one is over before the feed
looks; and messages that nobody of ours sent mark the job that they name, and no other.
"""
import argparse
import glob
import json
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
        self.output = tempfile.TemporaryFile("a+b")  # to which the feed appends while said() reads
        self.process = subprocess.Popen(self.words, stdout=self.output, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=60)
        if expectations.failures:
            print("feed:", self.said())

    def said(self):
        self.output.seek(0)
        return self.output.read().decode()

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


def kill_broker(service, port):
    """Of `serve --listen`, which starts it again."""
    with open("/proc/%d/task/%d/children" % (service.process.pid, service.process.pid)) as file:
        children = file.read().split()
    expect(len(children) == 1, "the broker is the only child: %s" % children)
    for child in children:
        os.kill(int(child), signal.SIGKILL)

    def answers():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0
    until(lambda: not answers(), "the broker is gone")
    until(answers, "the broker is there again")


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
        kill_broker(service, port)
        until(lambda: "sent from its begin" in feed.said(), "what the broker may have lost is sent again")
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
            for name in ("lives", "short"):  # the second was over before anybody looked
                hosts = service.jobs()[name + ".rfn"]["hosts"]
                expect([host["ranks"] for host in hosts] == [serve.RANKS], "the host of %s: %s" % (name, hosts))
                with open(os.path.join(out, name, "maps.json")) as file:
                    calls = sum(sum(f["density"]["calls"]) for f in json.load(file)["functions"])
                expect(calls == service.jobs()[name + ".rfn"]["calls"], "all calls of %s are in its maps" % name)
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


def make_certificate(folder, name, authority, names):
    """NAME.pem and NAME.key; `authority`: the name of the one that signs, None: itself."""
    path = lambda end: os.path.join(folder, end)  # noqa: E731
    run = lambda *words: subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL,  # noqa: E731
                                        stderr=subprocess.DEVNULL, timeout=60)
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-keyout", path(name + ".key"), "-subj", "/CN=" + name)
    if authority is None:
        run(*new, "-x509", "-days", "2", "-out", path(name + ".pem"))
        return
    with open(path(name + ".names"), "w") as file:
        file.write("subjectAltName=%s\n" % names)
    run(*new, "-out", path(name + ".req"))
    run("x509", "-req", "-in", path(name + ".req"), "-CA", path(authority + ".pem"), "-CAkey", path(authority + ".key"),
        "-CAcreateserial", "-days", "2", "-out", path(name + ".pem"), "-extfile", path(name + ".names"))


def check_tls(folder, jobs_dir, out):
    """A broker of `--listen` that was given a certificate; jobs go through it encrypted, or not at all."""
    if shutil.which("openssl") is None:
        print("left out  TLS: no openssl to make certificates with")
        return
    port = free_port()
    file = lambda name: os.path.join(folder, name)  # noqa: E731
    make_certificate(folder, "authority", None, "")
    make_certificate(folder, "stranger", None, "")
    make_certificate(folder, "broker", "authority", "IP:127.0.0.1")
    make_certificate(folder, "elsewhere", "authority", "DNS:elsewhere.example")
    listen = ("--listen", str(port), "-o", out)
    with Service(*listen):
        pass
    config = os.path.join(out, "nats.conf")
    with open(config) as made:
        plain = made.read()
    with open(config, "a") as made:
        made.write('tls { cert_file: "%s", key_file: "%s" }\n' % (file("broker.pem"), file("broker.key")))
    words = lambda scheme, *more: Feed(jobs_dir, "%s://127.0.0.1:%d" % (scheme, port),  # noqa: E731
                                       os.path.join(out, "nats.token")).words + list(more)
    os.mkdir(file("f"))
    with Service(*listen, "--ca", file("authority.pem")) as service:
        expect("tls://127.0.0.1:%d" % port in service.broker and "--ca " + file("authority.pem") in service.broker,
               "feeds are told of TLS: " + service.broker)
        for status, what, line in (
                (1, "another authority", words("tls", "--ca", file("stranger.pem"))),
                (1, "an authority that the system does not know", words("nats")),
                (1, "a file without a certificate", words("tls", "--ca", config)),
                (2, "no such file", words("tls", "--ca", file("none.pem")))):
            done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            expect(done.returncode == status and len(done.stderr.splitlines()) == 1 and b"(null)" not in done.stderr,
                   "%s: %d %s" % (what, done.returncode, done.stderr.decode()))
        feed = Feed(jobs_dir, "tls://127.0.0.1:%d" % port, os.path.join(out, "nats.token"))
        feed.words += ["--ca", file("authority.pem")]
        with feed:
            job = serve.LiveJob(file("f"), "hidden", "end", jobs_dir)
            for name in ("go1", "go2"):
                job.go(name)
            job.thread.join()
            until(lambda: service.jobs().get("hidden.rfn", {}).get("state") == "finished", "a job by TLS")
            serve.check_left(out, "hidden", job.trace)
    with open(config, "w") as made:
        made.write(plain + 'tls { cert_file: "%s", key_file: "%s" }\n' % (file("elsewhere.pem"), file("elsewhere.key")))
    done = subprocess.run([live.options.refrain, "live", "serve", *listen, "--ca", file("authority.pem")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    expect(done.returncode == 1 and b"mismatch" in done.stderr.splitlines()[-1],
           "a certificate for another host: %d %s" % (done.returncode, done.stderr.decode()))


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
        check_tls(folder, jobs_dir, os.path.join(folder, "out4"))
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
