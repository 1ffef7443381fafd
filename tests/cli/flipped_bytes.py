#!/usr/bin/python3
"""A flipped byte of a trace changes no answer: a verb gives the one it gave before, or refuses the file.

    flipped_bytes.py --refrain build/release/refrain [--traces heat-1.5-exact.rfn ...] [--every 7] [--seed 1]

Takes traces of tests/corpus, flips one bit of a byte at a time, and runs each verb. The same answer is right where the
verb does not need what was damaged (times of single calls, say). Else the exit status is 1 (5 where the damaged byte
now asks for a newer release), one line on stderr names the file and a byte of it, and no output file is left.
Without --every, a sample of bytes: of each part of the section of times some, and others anywhere.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "corpus")
GOOD, FAILED, UNSUPPORTED = 0, 1, 5
SAMPLE = ("heat-1.5-exact.rfn", "heat-1.5-segments.rfn")
WINDOW = ["--from-ns", "1000", "--to-ns", "900000000"]
VERBS = {
    "info": ["info", "T"], "info_json": ["info", "--format", "json", "T"], "dump": ["dump", "T"],
    "check": ["check", "T"], "stats": ["stats", "T"],
    "profile": ["profile", "--format", "json", "T"],
    "matrix": ["matrix", "--format", "csv", "T"],
    "profile_window": ["profile", "--format", "json", *WINDOW, "T"],
    "matrix_window": ["matrix", "--format", "csv", *WINDOW, "T"], "waits": ["waits", "--format", "json", "T"],
    "iterations": ["iterations", "--format", "json", "T"], "similarity": ["similarity", "T"],
    "diff": ["diff", "--format", "json", "GOOD", "T"], "baseline": ["check", "--baseline", "GOOD", "T"],
    "evaluate": ["evaluate", "T"], "reduce": ["reduce", "T", "-o", "OUT"],
    "cluster": ["cluster", "T", "-o", "OUT", "--k", "1"],
    "cluster_auto": ["cluster", "T", "-o", "OUT", "--k", "auto:0.5"],
    "csv": ["convert", "--to", "csv", "T", "-o", "OUT"],
    "perfetto": ["convert", "--to", "perfetto", "T", "-o", "OUT"],
    "ti": ["convert", "--to", "ti", "T", "-o", "OUT"], "report": ["report", "T", "-o", "OUT"],
    "proxy": ["proxy", "T", "-o", "OUT", "--no-resolve"], "dry_run": ["replay", "--dry-run", "--format", "json", "T"],
}
# They print what they can tell before they come to the damage, or list what is wrong.
PRINTS_FIRST = ("info", "info_json", "dump", "check", "baseline")
options = None


class Files:
    """The trace, a good copy of it, and what verbs write, in a folder of their own."""

    def __init__(self, folder, data):
        self.folder, self.data = folder, data
        self.trace, self.good = os.path.join(folder, "t.rfn"), os.path.join(folder, "good.rfn")
        for path in (self.trace, self.good):
            self.write(path, data)

    @staticmethod
    def write(path, data):
        with open(path, "wb") as file:
            file.write(data)

    def take_outputs(self):
        """Names and contents, which go."""
        found = {}
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if path in (self.trace, self.good):
                continue
            for folder, _, files in os.walk(path) if os.path.isdir(path) else [(self.folder, [], [name])]:
                for file in files:
                    with open(os.path.join(folder, file), "rb") as opened:
                        found[os.path.relpath(os.path.join(folder, file), self.folder)] = opened.read()
            if os.path.isdir(path):
                found[name + "/"] = b""
                shutil.rmtree(path)
            else:
                os.remove(path)
        return found

    def answer(self, verb):
        places = {"T": self.trace, "GOOD": self.good, "OUT": os.path.join(self.folder, "out")}
        words = [places.get(word, word) for word in VERBS[verb]]
        done = subprocess.run([options.refrain] + words, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace"), self.take_outputs()


def refusal_error(verb, answer):
    """None where the answer is a clear refusal; else what it is."""
    status, printed, said, left = answer
    if status not in (FAILED, UNSUPPORTED):
        return "another answer, with exit status %d" % status
    if len(said.splitlines()) != 1 or "t.rfn" not in said:
        return "not one line that names the file: %r" % said[:300]
    if verb not in ("check", "baseline") and not re.search(r"byte \d+", said):
        return "no byte is named: %r" % said[:300]
    if left:
        return "left behind: %s" % ", ".join(sorted(left))
    if printed and verb not in PRINTS_FIRST:
        return "printed before it refused: %r" % printed[:100]
    return None


def places_of(data, rng):
    """The bytes to flip. The section of times is the last one, and its last 8 bytes tell how long its index is."""
    if options.every:
        return range(rng.randrange(options.every), len(data), options.every)
    index = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return sorted({index - 1, index - rng.randrange(2, 200), index + rng.randrange(20), len(data) - 8, len(data) - 1,
                   rng.randrange(32), rng.randrange(64, index // 2)})


def check_trace(name, rng):
    """How many answers were the same, how many refusals, and what is wrong."""
    with open(os.path.join(CORPUS, name), "rb") as file:
        data = file.read()
    same, refused, wrong = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="refrain-flipped-") as folder:
        files = Files(folder, data)
        good = {verb: files.answer(verb) for verb in VERBS}
        for place in places_of(data, rng):
            bad, bit = bytearray(data), rng.randrange(8)
            bad[place] ^= 1 << bit
            files.write(files.trace, bytes(bad))
            for verb in VERBS:
                answer = files.answer(verb)
                # A verb that refuses the good trace (it has no times, say) may say the same of this one.
                if answer == good[verb] and (verb != "check" or answer[0] != GOOD):
                    same += 1
                    continue
                error = refusal_error(verb, answer)
                refused += error is None
                if error:
                    wrong.append("%s, bit %d of byte %d, %s: %s" % (name, bit, place, verb, error))
    return same, refused, wrong


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--traces", nargs="+", default=SAMPLE)
    parser.add_argument("--every", type=int, help="each so-manieth byte of the whole file")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.refrain = os.path.abspath(options.refrain)
    all_wrong = 0
    for name in options.traces:
        same, refused, wrong = check_trace(name, random.Random(options.seed))
        all_wrong += len(wrong)
        print("%s: %d answers as before, %d refusals, %d wrong" % (name, same, refused, len(wrong)), *wrong, sep="\n")
        # Damage in the times is nothing to a profile, and damage elsewhere is refused by all.
        if same == 0 or refused == 0:
            all_wrong += 1
            print("FAIL  %s: the sample has only one kind of bytes" % name)
    return 1 if all_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
