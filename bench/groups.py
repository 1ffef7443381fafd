#!/usr/bin/env python3
"""How many groups of ranks compute alike: Table 2 of PHANTOM (2010), for programs of its kind.

usage: groups.py [--out DIR] [--only PROGRAM] [--ranks 16,32,64,128,256] [-k 10]

Each program runs under SimGrid's SMPI, where work takes simulated time (bench/programs/work.h): 10 ns a point, give or
take 2 %. It is recorded once with exact times, and `refrain similarity` groups its ranks. BT and SP run on squares: 36
and 144 stand for 32 and 128. Where scipy is there, the heights at which groups were joined are compared with those of
its complete linkage, for the smallest number of ranks. Writes DIR/groups.json and DIR/groups.csv.

Exit status 3 where a program has another number of groups than the paper's rule says: EP, CG, BT and SP one, LU and
Sweep3D nine, MG fewer than ranks; or where heights differ.
"""

import argparse
import csv
import json
import os
import sys

import common

SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's scipy is that one's

sys.path.insert(0, str(common.ROOT / "tests/support"))
import smpi  # noqa: E402

SQUARES = {32: 36, 128: 144}
TIMEOUT_SECONDS = 1800
SAME = 1e-9  # of a height; sums of whole nanoseconds
# Name: (source, flags, arguments, groups or None for fewer than ranks, squares only)
PROGRAMS = {
    "EP": ("ep", [], ["10"], 1, False),
    "CG": ("cg", [], ["1", "400"], 1, False),
    "LU": ("lu", [], ["3", "12"], 9, False),
    "MG": ("mg", [], ["2", "8"], None, False),
    "BT": ("bt", [], ["2", "6"], 1, True),
    "SP": ("bt", ["-DSCALAR_LINES"], ["2", "6"], 1, True),
    "Sweep3D strong": ("sweep3d", [], ["strong", "1"], 9, False),
    "Sweep3D weak": ("sweep3d", [], ["weak", "1"], 9, False),
}


def compile_program(name, folder):
    source, flags, _, _, _ = PROGRAMS[name]
    binary = folder / (name.replace(" ", "_").lower() + ".smpi")
    common.run(["smpicc", "-std=c11", "-O2", "-DWORK_NS=10", "-DWORK_NOISE=0.02", *flags, "-o", binary,
                common.ROOT / f"bench/programs/{source}.c", "-lm"])
    return binary


def record(binary, words, ranks, folder):
    trace = folder / "groups.rfn"
    command = smpi.command_line(ranks, [str(binary), *words],
                                [str(common.REFRAIN), "record", "-o", str(trace), "--timing", "exact"], str(folder))
    done = smpi.run(command, TIMEOUT_SECONDS)
    if done.status != 0:
        common.fail(f"{' '.join(command)}: exit status {done.status}\n{done.output}")
    return trace


def similarity(trace, percent):
    return json.loads(common.run([common.REFRAIN, "similarity", trace, "-k", percent, "--format", "json",
                                  "--vectors", f"{trace}.csv", "--force"]))


def vectors_of(path):
    """By rank: the times between its calls, as `refrain similarity` compares them."""
    vectors = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            vectors.setdefault(int(row["rank"]), []).append(int(row["ns"]))
    return vectors


def wrong_heights(vectors, found):
    """The largest difference from scipy's heights, in relation; None: no scipy."""
    try:
        from scipy.cluster.hierarchy import linkage
    except ImportError:
        return None
    worst = 0.0
    for sequence in found["sequences"]:
        if len(sequence["ranks"]) < 2:
            continue
        theirs = sorted(linkage([vectors[rank] for rank in sequence["ranks"]], "complete", "cityblock")[:, 2])
        ours = sorted(merge["height_ns"] for merge in sequence["merges"])
        if len(ours) != len(theirs):
            return float("inf")
        worst = max([worst] + [abs(a - b) / max(b, 1.0) for a, b in zip(ours, theirs)])
    return float(worst)


def ranks_of(text):
    """A list of ranks as the tool writes one: numbers, or [first, last]."""
    return [rank for part in text for rank in (range(part[0], part[1] + 1) if isinstance(part, list) else [part])]


def measure(name, ranks, binary, folder, percent, checks_heights):
    trace = record(binary, PROGRAMS[name][2], ranks, folder)
    found = similarity(trace, percent)
    for sequence in found["sequences"]:
        sequence["ranks"] = ranks_of(sequence["ranks"])
    wanted = PROGRAMS[name][3]
    groups = len(found["groups"])
    result = {"program": name, "ranks": ranks, "sequences": len(found["sequences"]), "groups": groups,
              "expected": wanted if wanted is not None else f"< {ranks}",
              "as_expected": groups == wanted if wanted is not None else groups < ranks}
    if checks_heights:
        worst = wrong_heights(vectors_of(f"{trace}.csv"), found)
        result["height_difference"] = worst
        result["as_expected"] = result["as_expected"] and (worst is None or worst <= SAME)
    os.unlink(trace)
    os.unlink(f"{trace}.csv")
    return result


def go_to_scipy():
    """Starts again with the system's Python where this one has no scipy."""
    try:
        import scipy  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM_PYTHON) and os.path.exists(SYSTEM_PYTHON):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])


def main():
    go_to_scipy()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    parser.add_argument("--ranks", default="16,32,64,128,256")
    parser.add_argument("-k", type=float, default=10, help="percent at which the tree is cut")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    if not common.has_smpi("no programs at many ranks"):
        return 0
    counts = [int(n) for n in arguments.ranks.split(",")]
    results = []
    for name, (_, _, _, _, is_square) in PROGRAMS.items():
        if arguments.only not in (None, name):
            continue
        binary = compile_program(name, folder)
        for i, ranks in enumerate(counts):
            ranks = SQUARES.get(ranks, ranks) if is_square else ranks
            common.progress(f"{name}, {ranks} ranks")
            results.append(measure(name, ranks, binary, folder, arguments.k, i == 0))
    common.progress("")
    header = ["program", "ranks", "sequences", "groups", "expected", "as_expected"]
    rows = [[r[column] for column in header] for r in results]
    common.print_table(header, rows)
    for r in results:
        if r.get("height_difference") is not None:
            print(f"{r['program']}, {r['ranks']} ranks: heights differ from scipy's by {r['height_difference']:.1e}")
    with open(folder / "groups.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    with open(folder / "groups.json", "w", encoding="utf-8") as file:
        json.dump({"percent": arguments.k, "programs": results}, file, indent=1)
    print(f"written: {folder / 'groups.json'}")
    return 0 if all(r["as_expected"] for r in results) else 3


if __name__ == "__main__":
    sys.exit(main())
