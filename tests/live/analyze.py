#!/usr/bin/python3
"""refrain live analyze: a recorded run, received as if it ran now, is the run that was recorded.

    analyze.py --refrain build/refrain --corpus tests/corpus
"""
import argparse
import base64
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import expectations  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 300
# Traces of every kind of times. Of segments the calls are there, without times.
WHOLE = ["heat-1.1-spreads", "heat-1.2", "heat-1.4-gaps", "heat-1.4-exact", "heat-1.5", "heat-1.5-exact",
         "heat-1.5-bins"]
options = None


def refrain(*words):
    return subprocess.run([options.refrain, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S)


def analyze(trace, out, *words):
    return refrain("live", "analyze", "--from", trace, "-o", out, "--speed", "50", "--interval", "100ms", *words)


def said(trace, verb):
    """What a verb says, but for the name of the trace."""
    done = refrain(verb, trace, "--format", "json")
    return without_name(done.stdout) if done.returncode == 0 else None


def without_name(text):
    data = json.loads(text)
    data.pop("trace", None)
    return data


def check_equal(name, out):
    trace, received = os.path.join(options.corpus, name + ".rfn"), os.path.join(out, name + ".rfn")
    done = analyze(trace, out)
    lines = done.stdout.decode().splitlines()
    expect(done.returncode == 0 and lines and "finished" in lines[-1], "%s: received: %s" % (name, done.stderr))
    dumps = [refrain("dump", path, "--format", "jsonl").stdout for path in (trace, received)]
    expect(len(dumps[0]) > 0 and dumps[0] == dumps[1], name + ": dump is that of the recorded run")
    expect(refrain("check", received).returncode == 0, name + ": the received trace is a good one")
    # Files of older versions have times and totals at another precision, which the copy rounds again.
    is_old = name < "heat-1.4"
    for verb in ("matrix",) if is_old else ("profile", "matrix", "waits"):
        recorded, path = said(trace, verb), os.path.join(out, name, verb + ".json")
        if recorded is None:
            expect(not os.path.exists(path), "%s: nothing to say of %s" % (name, verb))
            continue
        with open(path) as file:
            expect(without_name(file.read()) == recorded, "%s: %s.json is that of the recorded run" % (name, verb))


def index_of(out):
    """The data of the index page."""
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        text = file.read()
    found = re.search(r'id="data">([^<]*)<', text)
    blob = zlib.decompress(base64.b64decode(found.group(1)), -15)
    return json.loads(blob[4:4 + int.from_bytes(blob[:4], "little")])


def check_index(out):
    """A job that is added to a folder takes no other one out of its index."""
    if not os.path.exists(os.path.join(out, "index.html")):
        return print("skip  a build without pages")
    files = sorted(entry["file"] for entry in index_of(out)["traces"])
    expect(files == sorted(name + ".html" for name in WHOLE), "the index leads to all jobs: %s" % files)
    with open(os.path.join(out, "report.tex"), encoding="ascii") as file:
        text = file.read()
    expect(text.count("\\part{") == len(WHOLE) and text.count("\\section{") > 5 * len(WHOLE) and
           text.endswith("\\end{document}\n"), "and the document has a chapter of each")


def load(*path):
    with open(os.path.join(*path), "rb") as file:
        return json.loads(file.read())


def edges_of(kind):
    return {(s, d): (h, b) for s, d, h, b in zip(kind["source"], kind["dest"], kind["edge_hits"], kind["edge_bytes"])}


def check_topology(name, out):
    """Against each call that `dump` shows, and against the matrix."""
    calls = calls_of(os.path.join(out, name + ".rfn"))
    topology = load(out, name, "topology.json")
    kinds = {kind["call"]: kind for kind in topology["kinds"]}
    compared = 0
    for function, partner, turned in (("MPI_Send", "dest", False), ("MPI_Isend", "dest", False),
                                      ("MPI_Recv", "source", True), ("MPI_Irecv", "source", True)):
        counted = collections.Counter()
        for call in calls:
            peer = call["args"].get(partner)
            if call["call"] == function and isinstance(peer, int) and peer >= 0:
                counted[(peer, call["rank"]) if turned else (call["rank"], peer)] += 1
        if counted:
            compared += sum(counted.values())
            expect({ends: hits for ends, (hits, _) in edges_of(kinds[function]).items()} == dict(counted),
                   "%s: topology of %s is that of its calls" % (name, function))
    expect(compared > 100, "%s: %d calls were compared" % (name, compared))
    summed = collections.Counter()
    for kind in topology["kinds"]:
        for ends, (_, size) in edges_of(kind).items():
            summed[ends] += size
    matrix = {(p["source"], p["dest"]): p["bytes"] for p in load(out, name, "matrix.json")["pairs"]}
    expect({e: s for e, s in summed.items() if s} == {e: s for e, s in matrix.items() if s},
           "%s: bytes of all kinds are those of the matrix" % name)
    expect(all(kind["time_ns"] > 0 for kind in topology["kinds"]), "%s: each kind took time" % name)


def check_maps(name, out):
    """Against each call that `dump` shows."""
    counted = collections.Counter((c["call"], c["rank"]) for c in calls_of(os.path.join(out, name + ".rfn")))
    maps = load(out, name, "maps.json")
    expect(maps["ranks_a_row"] == 1 and maps["bins"] > 1, "%s: %d rows, %d bins" % (name, maps["rows"], maps["bins"]))
    mapped, is_sum = collections.Counter(), True
    for function in maps["functions"]:
        for rank, calls in enumerate(function["density"]["calls"]):
            mapped[(function["call"], rank)] += calls
            for what in ("calls", "bytes"):
                row = function["temporal"][what][rank * maps["bins"]:(rank + 1) * maps["bins"]]
                is_sum = is_sum and sum(row) == function["density"][what][rank]
    expect(+mapped == counted, "%s: the density map counts each call of each rank" % name)
    expect(is_sum, "%s: the temporal maps add up to it" % name)
    by_bin = [sum(column) for column in zip(*(
        [sum(f["temporal"]["calls"][r * maps["bins"] + b] for r in range(maps["rows"])) for b in range(maps["bins"])]
        for f in maps["functions"]))]
    expect(sum(1 for calls in by_bin if calls) > 1, "%s: calls are at several times: %s" % (name, by_bin))


def check_keep(folder):
    """The part that is kept is what `convert` makes of the same part."""
    name = "heat-1.5-exact"
    trace, out = os.path.join(options.corpus, name + ".rfn"), os.path.join(folder, "kept")
    begins = [json.loads(line)["begin_ns"] for line in
              refrain("dump", trace, "--rank", "0", "--format", "jsonl").stdout.splitlines()]
    first, last = begins[len(begins) // 4], begins[3 * len(begins) // 4]
    done = analyze(trace, out, "--keep", "ranks 0, 2-3, %dns..%dns" % (first, last), "--to", "csv")
    expect(done.returncode == 0, "a part is kept: %s" % done.stderr.decode())
    other = os.path.join(folder, "converted.csv")
    refrain("convert", os.path.join(out, name + ".rfn"), "--to", "csv", "--ranks", "0,2-3", "--from-ns",
            "%dns" % first, "--to-ns", "%dns" % last, "-o", other)
    with open(other, "rb") as one, open(os.path.join(out, name + ".csv"), "rb") as two:
        mine, theirs = one.read(), two.read()
    whole = refrain("dump", trace, "--format", "jsonl").stdout.splitlines()
    expect(mine == theirs and len(whole) > 2 * len(mine.splitlines()) > len(whole) // 3,
           "and it is what `convert` makes of this part")


def calls_of(trace):
    """Calls of each rank in order, without their times."""
    lines = [json.loads(line) for line in refrain("dump", trace, "--format", "jsonl").stdout.splitlines()]
    return [{k: v for k, v in line.items() if not k.endswith("_ns")} for line in lines]


def check_segments(out):
    name = "heat-1.5-segments"
    trace = os.path.join(options.corpus, name + ".rfn")
    done = analyze(trace, out)
    expect(done.returncode == 0 and calls_of(trace) == calls_of(os.path.join(out, name + ".rfn")),
           "segments: the calls are those of the recorded run")


def check_bad_input(folder):
    good = os.path.join(folder, "heat.rfn")
    shutil.copy(os.path.join(options.corpus, "heat-1.5.rfn"), good)
    with open(good, "rb") as file:
        half = file.read()[:300]
    cut = os.path.join(folder, "cut.rfn")
    with open(cut, "wb") as file:
        file.write(half)
    for words, status, what in (
            (["live", "analyze"], 2, "no trace"),
            (["live", "analyze", "--from", os.path.join(folder, "none.rfn")], 1, "a trace that is not there"),
            (["live", "analyze", "--from", cut], 1, "half a trace"),
            (["live", "analyze", "--from", good, "--speed", "0"], 2, "no speed"),
            (["live", "analyze", "--from", good, "--keep", "ranks 0"], 2, "a part, and no format"),
            (["live", "analyze", "--from", good, "--to", "csv", "--keep", "ranks x"], 2, "ranks that are none"),
            (["live", "analyze", "--from", good, "--to", "csv", "--keep", "0-3"], 2, "a part that is none"),
            (["live", "analyze", "--from", good, "--to", "csv", "--keep", "20s..10s"], 2, "a time that goes back"),
            (["live", "analyze", "--from", good, "--to", "csv", "--keep", ".."], 2, "no time"),
            (["live", "analyze", "--from", good, "--to", "nothing"], 2, "no such format"),
            (["live", "analyze", "--from", good, "--speed", "1000000", "-o", folder], 2,
             "a trace that would replace itself"),
            (["live", "analyze", "--from", os.path.join(options.corpus, "ring-1.5-lead-ends.rfn")], 5,
             "ranks that stand for others")):
        done = refrain(*words)
        expect(done.returncode == status and len(done.stderr.splitlines()) == 1,
               "%s: %d, %s" % (what, done.returncode, done.stderr.decode()))
    expect(os.path.getsize(good) > len(half), "and it is still there")
    check_useless(folder, good)


def check_useless(folder, trace):
    """Options that have no use in one form of `live` and one in another."""
    watch, recorded = ["watch", "none.rfn.spool"], ["analyze", "--from", trace, "-o", os.path.join(folder, "useless")]
    serve, own = ["serve", "--dir", folder], ["serve", "--listen", "4222"]
    broker, feed = ["serve", "--from", "nats://127.0.0.1:1"], ["feed", "--dir", folder, "--to", "nats://127.0.0.1:1"]
    for form, words in ((recorded, ("--dir x", "--token x", "--creds x", "--ca x", "--listen 4222", "--job-bytes 1M",
                                    "--stuck-after 3s", "--once", "--format json", "--mpi mpich", "--serve 0",
                                    "x.spool", "--viewers 3", "--plugin-time 1s", "--plugin-memory 1G",
                                    "--names full")),
                        (watch, ("--dir x", "--port 0", "--from x.rfn", "--speed 2", "--token x", "--keep 1s..",
                                 "-o x", "--to otf2", "--plugin x.so", "--verbosity brief", "--mpi mpich",
                                 "--viewers 3")),
                        (serve, ("--token x", "--ca x", "--job-bytes 1M", "--speed 2", "--once", "--serve 0",
                                 "x.spool")),
                        (own, ("--token x", "--creds x", "--format json")), (broker, ("--speed 2", "--mpi openmpi")),
                        (feed, ("--top 3", "--port 0", "--plugin x.so", "--stuck-after 3s", "--job-bytes 1M", "-o x"))):
        for word in words:
            done = refrain("live", *form, *word.split())
            lines = done.stderr.decode().splitlines()
            expect(done.returncode == 2 and len(lines) == 1, "%s %s has no use: %d, %s" %
                   (form[0], word, done.returncode, lines))


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("refrain", "corpus"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory(prefix="refrain-analyze-") as folder:
        for name in WHOLE:
            check_equal(name, os.path.join(folder, "out"))
        check_index(os.path.join(folder, "out"))
        for name in ("heat-1.5-exact", "heat-1.5-bins"):
            check_topology(name, os.path.join(folder, "out"))
            check_maps(name, os.path.join(folder, "out"))
        check_keep(folder)
        check_segments(os.path.join(folder, "out"))
        check_bad_input(folder)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
