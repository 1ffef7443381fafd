#!/usr/bin/python3
"""Plug-ins of refrain live (plugin.cc): each that goes wrong is named, and nothing else changes.

    plugins.py --refrain build/refrain --corpus tests/corpus --plugins build/tests/live
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import expectations  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 300
NAME = "heat-1.5-exact"
options = None
# What stderr says of each.
WRONG = {"throws": "looks: this one throws", "crashes": "signal 11", "exits": "status 7",
         "loops": "longer than 1.0 s", "eats": "", "refuses": "refrain_plugin_add gave a failure",
         "starts_bad": "signal 6"}


def plugin(name):
    return os.path.join(options.plugins, "plugin_%s.so" % name)


def analyze(out, *words):
    return subprocess.run(
        [options.refrain, "live", "analyze", "--from", os.path.join(options.corpus, NAME + ".rfn"), "-o", out,
         "--interval", "100ms", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)


def left(out):
    """Bytes of what the job leaves, but for the pages, which name the file."""
    found = {}
    for name in (NAME + ".rfn", NAME + "/matrix.json", NAME + "/topology.json"):
        with open(os.path.join(out, name), "rb") as file:
            found[name] = file.read()
    return found


def processes_of_plugins():
    """Those that this test has started."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as file:
                if os.fsencode(os.path.join(options.plugins, "plugin_")) in file.read() and int(entry) != os.getpid():
                    found.append(entry)
        except (OSError, ValueError):
            pass
    return found


def check_all(folder):
    plain, out = os.path.join(folder, "plain"), os.path.join(folder, "out")
    expect(analyze(plain, "--speed", "1000").returncode == 0, "without plug-ins")
    words = [word for name in ["good", *WRONG, "floods"] for word in ("--plugin", plugin(name))]
    done = analyze(out, "--speed", "0.3", "--plugin-time", "1s", "--plugin-memory", "256M", *words)
    errors = done.stderr.decode().splitlines()
    expect(done.returncode == 0, "with all of them the analysis goes on: %s" % errors)
    for name, why in WRONG.items():
        mine = [line for line in errors if "plugin_%s" % name in line]
        expect(len(mine) == 1 and "is disabled" in mine[0] and why in mine[0], "%s is named: %s" % (name, mine))
    expect(not any("plugin_good" in line or "plugin_floods" in line for line in errors), "the others are not")
    answers = json.load(open(os.path.join(out, NAME, "plugins.json")))
    expect(answers.get("plugin_good", "").endswith(", ended " + os.path.join(out, NAME + ".rfn")) and
           int(answers["plugin_good"].split()[1].rstrip(",")) >= 3, "a good one answers: %s" %
           answers.get("plugin_good"))
    expect(len(answers.get("plugin_floods", "")) <= 65536, "an answer is bounded")
    expect(left(out) == left(plain), "what the job leaves is the same with and without them")
    expect(processes_of_plugins() == [], "no process is left")
    check_served_again(out)


def check_served_again(out):
    """What they said of a job stays when a service begins that finds the job ended."""
    jobs, path = os.path.join(out, "jobs"), os.path.join(out, NAME, "plugins.json")
    os.mkdir(jobs, mode=0o700)
    before = open(path).read()
    service = subprocess.Popen([options.refrain, "live", "serve", "--dir", jobs, "-o", out, "--interval", "100ms",
                                "--plugin", plugin("good")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    expect(b"http://127.0.0.1:" in service.stderr.readline(), "a service")
    time.sleep(1)  # some looks
    service.terminate()
    expect(service.wait(timeout=LIMIT_S) == 0 and open(path).read() == before, "what they said stays as it was")


def check_bad_input(folder):
    text = os.path.join(folder, "text.so")
    with open(text, "w") as file:
        file.write("no shared object\n")
    for path, status, what in ((plugin("old"), 5, "version"), (plugin("nothing"), 2, "refrain_plugin_version"),
                               (text, 2, ""), (os.path.join(folder, "none.so"), 2, "cannot be read")):
        done = analyze(os.path.join(folder, "bad"), "--plugin", path)
        lines = done.stderr.decode().splitlines()
        expect(done.returncode == status and len(lines) == 1 and what in lines[0],
               "%s: %d %s" % (os.path.basename(path), done.returncode, lines))
        expect(not os.path.exists(os.path.join(folder, "bad")), "and nothing is begun")


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("refrain", "corpus", "plugins"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refrain-plugins-") as folder:
        check_all(folder)
        check_bad_input(folder)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
