#!/usr/bin/python3
"""Real programs at many ranks, under SMPI: the trace is whole, true, and no larger than at few ranks.

    scale.py --refrain build/refrain --programs DIR --libraries build/src/tracer [--only NAME] [--ranks 64,1024]

Of every program of support/regular.py: the number of calls of every rank, the peers of the sends of some
ranks, and the bytes of the file but for the totals, a byte a rank at most. Exit status: 0 all good, 1 something
differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import regular  # noqa: E402
import smpi  # noqa: E402

BYTES_A_RANK = {"totals": 1, "ranks": 0}  # of sections
BYTES_ONCE = {"totals": 96, "ranks": 2}   # scales; no places of ranks, no pieces of the recorder's work


class Failure(Exception):
    """One line that says what differs."""


def refrain(options, *words):
    done = subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        raise Failure("`refrain %s` exits with %d: %s" % (" ".join(words), done.returncode,
                                                          done.stderr.decode(errors="replace").strip()))
    return done.stdout.decode()


def record(options, program, ranks, folder):
    # The path is a part of the file: equally long for all.
    trace = os.path.join(folder, "%s-%05d.rfn" % (program.name, ranks))
    wrapper = [options.refrain, "record", "--quiet", "-o", trace]
    words = [os.path.join(options.programs, program.name), str(program.iterations)]
    environment = dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries)
    done = smpi.run(smpi.command_line(ranks, words, wrapper, folder, program.settings), 120, environment)
    if done.status != 0 or "refrain:" in done.output:
        raise Failure("exit status %d: %s" % (done.status, done.output.strip()[-400:]))
    return trace, done


def check_counts(options, program, ranks, trace):
    refrain(options, "check", trace)
    info = json.loads(refrain(options, "info", "--format", "json", trace))
    want = program.calls(ranks, program.iterations)
    if not info["complete"] or info["losses"]:
        raise Failure("the trace is not whole: %s" % info["losses"])
    if info["ranks"] != ranks or info["calls"] != ranks * want:
        raise Failure("%d ranks with %d calls instead of %d with %d each" % (
            info["ranks"], info["calls"], ranks, want))


def sends_of(options, rank, trace):
    peers = []
    for line in refrain(options, "dump", "--rank", str(rank), "--format", "jsonl", trace).splitlines():
        call = json.loads(line)
        if call["call"] in ("MPI_Send", "MPI_Isend", "MPI_Sendrecv"):
            peers.append(call["args"]["dest"])
    return peers


def check_peers(options, program, ranks, trace):
    for rank in (0, 1, ranks // 2 + 3, ranks - 1):
        want = program.sends(rank, ranks) * program.iterations
        have = sends_of(options, rank, trace)
        if have != want:
            raise Failure("rank %d sends to %s instead of %s" % (rank, have[:12], want[:12]))


def bytes_not_by_rank(options, ranks, trace):
    stats = json.loads(refrain(options, "stats", "--format", "json", trace))
    by_rank = 0
    for section, bytes_a_rank in BYTES_A_RANK.items():
        stored = sum(s["stored_bytes"] for s in stats["sections"] if s["section"] == section)
        if stored > bytes_a_rank * ranks + BYTES_ONCE[section]:
            raise Failure("section %s of %d ranks takes %d bytes" % (section, ranks, stored))
        by_rank += round(stored)
    return os.path.getsize(trace) - by_rank


def check_program(options, program, folder):
    sizes = []
    for ranks in [min(int(word), program.test_ranks) for word in options.ranks.split(",")]:
        trace, done = record(options, program, ranks, folder)
        check_counts(options, program, ranks, trace)
        check_peers(options, program, ranks, trace)
        size = bytes_not_by_rank(options, ranks, trace)
        print("%-20s %5d ranks: %5d bytes not by rank, %5.1f s, %4d MB" % (
            program.name, ranks, size, done.seconds, done.peak_bytes >> 20), flush=True)
        if sizes and size - sizes[0][1] > regular.may_grow(program, sizes[0][0], ranks):
            raise Failure("%d bytes at %d ranks, %d at %d" % (sizes[0][1], sizes[0][0], size, ranks))
        sizes.append((ranks, size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--programs", "--libraries"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--ranks", default="64,1024", help="with commas between")
    parser.add_argument("--only")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="refrain-scale-") as folder:
        for program in regular.PROGRAMS:
            if options.only and program.name != options.only:
                continue
            try:
                check_program(options, program, folder)
            except Failure as failure:
                failed += 1
                print("FAIL  %s: %s\n      again: %s --only %s" % (
                    program.name, failure, " ".join(sys.argv), program.name), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
