#!/usr/bin/python3
"""--top N cuts lines, never sums, in every verb that has it.

    totals.py --refrain build/refrain --corpus tests/corpus

The law, on the text: a line that --top N shows is a line of --top 0, number by number, and for every list that is cut
a line "others (K)" holds the sum of the lines that it stands for. JSON and CSV have all rows, whatever --top says.
"""
import argparse
import glob
import os
import re
import subprocess
import unittest

options = None
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "B": 1, "KiB": 1024.0, "MiB": 1024.0 ** 2, "%": 1.0}
OTHERS = re.compile(r"^others \((\d+)\)$")


def number(cell):
    """(value, half of its last digit's unit) of "1 204", "17.5 ms", "9.02 KiB" or "12.5 %"; None for a word."""
    match = re.fullmatch(r"(?:>= )?(\d[\d ]*)(?:\.(\d+))?(?: ([a-zA-Z%]+))?", cell)
    if not match or (match[3] and match[3] not in UNITS):
        return None
    unit = UNITS.get(match[3], 1)
    value = float(match[1].replace(" ", "") + "." + (match[2] or "0")) * unit
    step = unit * 10.0 ** -len(match[2] or "")
    # Times are printed with three digits: 218 ms may stand for 218.4 ms.
    return value, step / 2 + (1e-9 if match[3] else 0)


class Line:
    def __init__(self, text):
        self.depth = len(text) - len(text.lstrip())
        self.cells = [c for c in re.split(r"  +", text.strip().rstrip("#").strip()) if c]
        marks = [OTHERS.match(c) for c in self.cells]
        self.others = next((int(m[1]) for m in marks if m), 0)
        self.key = tuple(self.cells)


def sections(text):
    """Tables: lists of lines, by the title that stands before them."""
    out, title = {}, None
    for line in text.splitlines():
        if not line.strip():
            title = None
        elif title is None:
            title = line.split(",")[0] + ("" if line.startswith(" ") else ":")
            out.setdefault(title, [])
        elif not line.strip().startswith(("... and", "--top")):
            out[title].append(Line(line))
    return out


class TopCutsLines(unittest.TestCase):
    def run_verb(self, *words, statuses=(0,)):
        done = subprocess.run([options.refrain, *words], capture_output=True, timeout=120, check=False)
        self.assertIn(done.returncode, statuses, "%s: %s" % (" ".join(words), done.stderr.decode()))
        return done.stdout.decode()

    def commands(self):
        for trace in sorted(glob.glob(os.path.join(options.corpus, "*.rfn"))):
            timed = "exact" in trace or "bins" in trace or "segments" in trace
            yield ("profile", trace)
            for by in ("function", "site", "callpath", "group", "rank"):
                yield ("profile", "--by", by, trace)
            yield ("waits", trace)
            if timed:
                yield ("waits", "--pattern", "collective", trace)
        yield ("diff", os.path.join(options.corpus, "heat-1.1.rfn"), os.path.join(options.corpus, "heat-1.2-exact.rfn"))

    def statuses(self, words):
        return (0, 5) if words[0] == "waits" else (0,)

    def test_lines_are_those_of_all_and_others_add_up(self):
        cut_lists = 0
        for words in self.commands():
            whole = sections(self.run_verb(*words, "--top", "0", statuses=self.statuses(words)))
            for top in ("1", "2", "5"):
                part = sections(self.run_verb(*words, "--top", top, statuses=self.statuses(words)))
                self.assertEqual(list(part), list(whole), words)
                for title, lines in part.items():
                    known = [line.key for line in whole[title]]
                    for line in lines:
                        if line.others == 0:
                            self.assertIn(line.key, known, "%s --top %s: %s" % (words, top, title))
                    cut_lists += self.check_sums(words, top, title, lines, whole[title])
        self.assertGreater(cut_lists, 100)

    def check_sums(self, words, top, title, part, whole):
        """What `others` says is what the lines that are missing say. Returns how many such lines there are."""
        others = [line for line in part if line.others]
        if not others:
            return 0
        if title.startswith("Call paths"):
            return self.check_tree(words, part, whole)
        missing = whole[len(part) - 1:]
        self.assertIs(part[-1], others[0])
        self.assertEqual(len(missing), others[0].others, (words, top, title))
        names = whole[0].cells
        for name in ("calls", "time", "waits", "cost", "in MPI"):
            if name not in names:
                continue
            at_end = len(names) - names.index(name)
            column = [line.cells[-at_end] if at_end <= len(line.cells) else None for line in missing]
            if None in column or not all(map(number, column)) or at_end > len(others[0].cells):
                continue
            stated = number(others[0].cells[-at_end])
            if stated is None:
                continue
            values = [number(c) for c in column]
            slack = sum(v[1] for v in values) + stated[1] + 0.01 * stated[0]
            where = str((words, top, title, name))
            self.assertAlmostEqual(sum(v[0] for v in values), stated[0], delta=slack, msg=where)
        return 1

    def check_tree(self, words, part, whole):
        """The outermost lines, others among them, add up to the same."""
        def total(lines):
            column = lines[0].cells.index("time") - len(lines[0].cells)
            least = min(line.depth for line in lines[1:])
            return sum(number(line.cells[column])[0] for line in lines[1:] if line.depth == least)

        self.assertAlmostEqual(total(part), total(whole), delta=0.02 * total(whole), msg=str(words))
        return 1

    def test_data_has_everything(self):
        for words in self.commands():
            for form in ("json", "csv") if words[0] != "diff" else ("json",):
                one, all_ = (self.run_verb(*words, "--format", form, "--top", top, statuses=self.statuses(words))
                             for top in ("1", "0"))
                self.assertEqual(one, all_, words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--corpus", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=["totals.py"] + rest)
