#!/usr/bin/env python3
"""The tables of trace profiling for 18 programs of known waiting: what each method keeps, at how many bytes.

usage: trends.py [--out DIR] [--only CASE] [--iterations N] [--segments loops|marks] [--refrain PATH] [--thresholds]
writes DIR/trends.csv and DIR/trends.html: for each case what an analyst would see, method by method. With
--thresholds the threshold study of the thesis as well: its table, DIR/trends_thresholds.csv, and its charts in the page

The programs of tests/programs/trends run under SimGrid's SMPI, where work takes simulated time, so that
a run is the same every time. Each is recorded once with exact times; `refrain evaluate` does the rest: the
nine methods at their default thresholds and auto, within ranks (intra), across them (inter), both
(combined). Beside each method stands in how many cases people saw the right trends in Mohror's thesis
(sections 5.2.2.3, 5.3.2.3, 5.4.3). auto rounds the starts of segments, which any method may do and the
thesis's do not: avgWave with starts as coarse stands below the tables.

That a trend is retained is a rule, by which auto goes itself. So there is a second look, which it knows
nothing of: the wait that a case is named after, however small, in the reduced trace against the full one.

Exit status 3 where auto is right in less than 18 cases intra or 16 combined, or takes more bytes than
avgWave in one of the two.
"""

import argparse
import csv
import functools
import json
import os
import sys

import common
import trends_page
import trends_thresholds

sys.path[:0] = [str(common.ROOT / "tests" / part) for part in ("support", "trends")]
import cases  # noqa: E402
import mpirun  # noqa: E402

METHODS = ["relDiff", "absDiff", "Manhattan", "Euclidean", "Chebyshev", "iter_k", "iter_avg", "avgWave", "haarWave",
           "auto"]
# Programs of 18, by scope. It does not say how many relDiff has right in inter.
THESIS = {
    "intra": {"relDiff": 14, "absDiff": 13, "Manhattan": 17, "Euclidean": 17, "Chebyshev": 13, "iter_k": 12,
              "iter_avg": 6, "avgWave": 17, "haarWave": 16},
    "inter": {"absDiff": 14, "Manhattan": 11, "Euclidean": 12, "Chebyshev": 9, "avgWave": 12, "haarWave": 12},
    "combined": {"relDiff": 10, "absDiff": 8, "Manhattan": 9, "Euclidean": 9, "Chebyshev": 7, "iter_k": 6,
                 "iter_avg": 4, "avgWave": 9, "haarWave": 9},
}
AIMS = {"intra": 18, "combined": 16}
COARSE = "avgWave with starts as auto"
# As in `refrain evaluate`: of the severity, and of the longest one of a rank.
TOLERANCE, RANK_TOLERANCE = 0.1, 0.15
TIMEOUT_SECONDS = 240
HEADER = ["scope", "case", "ranks", "segments", "full_bytes", "method", "threshold", "retained", "bytes", "percent",
          "model_percent", "representatives", "matched", "distance_ns", "score", "time_score", "lost", "own_off",
          "own_rank_off"]


def compile_program(name, folder):
    source = common.ROOT / "tests/programs/trends"
    binary = folder / ("trends_" + name)
    common.run(["smpicc", "-std=c11", "-O2", "-D_GNU_SOURCE", "-DREFRAIN_TRENDS_SMPI", f"-I{source}",
                f"-I{common.ROOT / 'include'}", "-o", binary, source / (name + ".c")])
    return binary


def record(case, binary, iterations, folder):
    trace = folder / (case.name + ".rfn")
    command = [str(binary), case.name] + ([str(iterations)] if iterations else [])
    outcome = mpirun.run_job("smpi", case.ranks, command, TIMEOUT_SECONDS, (),
                             wrapper=[str(common.REFRAIN), "record", "--timing", "exact", "-o", str(trace), "--"])
    if outcome.status != 0:
        common.fail(f"{case.name}: exit status {outcome.status}\n{outcome.stderr.decode()}")
    return trace


def ask(trace, segments, *words):
    command = [common.REFRAIN, "evaluate", "--format", "json", "--segments", segments, *words, trace]
    return json.loads(common.run(command))


def evaluate(trace, segments):
    """Verdicts by scope and method."""
    said = ask(trace, segments, "--by-rank")
    verdicts = {(row["scope"], row["method"].partition(":")[0]): row for row in said["methods"]}
    for scope in AIMS:
        step = str(verdicts[scope, "auto"]["start_step_ns"])
        coarse = ask(trace, segments, "--scope", scope, "--method", "avgWave", "--start-step", step)
        verdicts[scope, COARSE] = coarse["methods"][0]
    return said, verdicts


def own_wait(trace, case):
    """Seconds by rank of what the case is named after."""
    by_rank = {}
    for found in json.loads(common.run([common.REFRAIN, "waits", "--format", "json", trace]))["patterns"]:
        paths = found["call_paths"] if found["pattern"] == case.pattern else ()
        for row in (row for path in paths if path["call"] == case.call for row in path["ranks"]):
            by_rank[row["rank"]] = by_rank.get(row["rank"], 0) + row["seconds"]
    return by_rank


def add_own_waits(trace, case, segments, verdicts):
    """How far it is off in reduced traces: all of it, and of the rank where that is most."""
    full, reduced = own_wait(trace, case), trace.with_suffix(".reduced.rfn")
    for (scope, method), row in verdicts.items():
        if scope not in AIMS or method == COARSE:
            continue
        across = ["--across-ranks", "off"] if scope == "intra" else []
        common.run([common.REFRAIN, "reduce", trace, "-o", reduced, "--force", "--segments", segments, "--method",
                    method, *across])
        back = own_wait(reduced, case)
        row["own_off"] = sum(back.values()) / sum(full.values()) - 1
        worst = max(abs(back.get(rank, 0) - full.get(rank, 0)) for rank in {*full, *back})
        row["own_rank_off"] = worst / max(full.values())
    reduced.unlink()


def rows_of(case, said, verdicts):
    for (scope, method), row in verdicts.items():
        yield [scope, case.name, case.ranks, row["segments"], said["full_bytes"], method,
               row["method"].partition(":")[2] or "-", "yes" if row["retained"] else "no", row["bytes"],
               f"{row['percent']:.2f}", f"{row['model_percent']:.2f}", row["representatives"],
               f"{row['degree_of_matching']:.4f}", round(row["approximation_distance_ns"]), f"{row['score']:.4f}",
               f"{row['time_score']:.4f}", row["lost"],
               *(f"{row[key]:.4f}" if key in row else "-" for key in ("own_off", "own_rank_off"))]


def methods_of(results, scope):
    return [m for m in METHODS if any((scope, m) in verdicts for _, verdicts in results.values())]


def cell(row):
    """Trends, percent of the full trace, degree of matching."""
    return f"{'yes' if row['retained'] else ' no'} {row['percent']:5.1f} {row['degree_of_matching']:.3f}"


def right(results, scope, method):
    return sum(verdicts[scope, method]["retained"] for _, verdicts in results.values())


def size(results, scope, method):
    return sum(verdicts[scope, method]["bytes"] for _, verdicts in results.values())


def model_percent(results, scope, method):
    """Of conventional traces of all cases, by the size models of section 4.4: nothing is compressed."""
    whole = sum(said["full_model_bytes"] for said, _ in results.values())
    return 100 * sum(verdicts[scope, method]["model_bytes"] for _, verdicts in results.values()) / whole


def print_scope(results, scope):
    methods, count = methods_of(results, scope), len(results)
    rows = [[case] + [cell(verdicts[scope, m]) for m in methods] for case, (_, verdicts) in results.items()]
    rows.append(["right"] + [f"{right(results, scope, m)} of {count}" for m in methods])
    rows.append(["in the thesis"] + [f"{THESIS[scope][m]} of 18" if m in THESIS[scope] else "-" for m in methods])
    rows.append(["bytes"] + [size(results, scope, m) for m in methods])
    rows.append(["% by model"] + [f"{model_percent(results, scope, m):.1f}" for m in methods])
    print(f"\n{scope}: trends retained, percent of the full trace, degree of matching")
    common.print_table([""] + methods, rows)


def own_is_right(row):
    return abs(row["own_off"]) <= TOLERANCE and row["own_rank_off"] <= RANK_TOLERANCE


def print_own(results, scope):
    rows = [[case] + [f"{'yes' if own_is_right(row) else ' no'} {100 * row['own_off']:+6.1f} "
                      f"{100 * row['own_rank_off']:4.0f}" for row in (verdicts[scope, m] for m in METHODS)]
            for case, (_, verdicts) in results.items()]
    count = {m: sum(own_is_right(verdicts[scope, m]) for _, verdicts in results.values()) for m in METHODS}
    rows.append(["right"] + [f"{count[m]} of {len(results)}" for m in METHODS])
    print(f"\n{scope}, the wait that a case is named after: percent too long, and how far a rank's is off, at most, "
          "in percent of the longest of a rank")
    common.print_table([""] + METHODS, rows)


def print_missed(results):
    for case, (_, verdicts) in results.items():
        for (scope, method), row in verdicts.items():
            if method == "auto" and not row["retained"]:
                print(f"auto, {scope}, {case}: {row['lost']}")


def aims_are_met(results):
    good = True
    for scope, aim in AIMS.items():
        count, auto, wave = right(results, scope, "auto"), size(results, scope, "auto"), size(results, scope, "avgWave")
        print(f"auto, {scope}: right on {count} of {len(results)} (aim: {aim} of 18), {auto} bytes, "
              f"{100 * auto / wave:.0f} % of avgWave's")
        print(f"{COARSE}, {scope}: right on {right(results, scope, COARSE)}, {size(results, scope, COARSE)} bytes")
        good = good and auto <= wave and (len(results) < len(cases.CASES) or count >= aim)
    return good


def write_page(folder, chosen, results, study):
    charts = [(case.name, case.ranks, scope, [results[case.name][1][scope, m] for m in methods_of(results, scope)])
              for case in chosen for scope in THESIS]
    (folder / "trends.html").write_text(trends_page.page(charts, study), encoding="utf-8")
    if study is not None:
        study.write(folder / "trends_thresholds.csv")
    print(f"written: {folder / 'trends.csv'}, {folder / 'trends.html'}")


def main():
    parser = argparse.ArgumentParser(description="What methods of trace profiling keep of known waiting.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--only", choices=[case.name for case in cases.CASES])
    parser.add_argument("--iterations", type=int, help="of every program, instead of its own number")
    parser.add_argument("--segments", choices=["loops", "marks"], default="loops")
    parser.add_argument("--refrain", help="the program (./refrain)")
    parser.add_argument("--thresholds", action="store_true", help="the threshold study as well")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    if not common.has_smpi("trends are left out"):
        return 0
    chosen = [case for case in cases.CASES if arguments.only in (None, case.name)]
    binaries = {name: compile_program(name, folder) for name in sorted({case.program for case in chosen})}
    results, table, study = {}, [], trends_thresholds.Study() if arguments.thresholds else None
    for case in chosen:
        common.progress(f"{case.name}, {case.ranks} ranks")
        trace = record(case, binaries[case.program], arguments.iterations, folder)
        said, verdicts = evaluate(trace, arguments.segments)
        add_own_waits(trace, case, arguments.segments, verdicts)
        if study is not None:
            study.look(case.name, functools.partial(ask, trace, arguments.segments))
        os.unlink(trace)
        results[case.name] = said, verdicts
        table += rows_of(case, said, verdicts)
    common.progress("")
    iterations = arguments.iterations or "100 to 1000 (sweeps 12)"
    print(f"{len(chosen)} cases, {iterations} iterations each, segments from {arguments.segments}; trends as "
          f"`refrain evaluate` has them, in the thesis as people saw them")
    for scope in THESIS:
        print_scope(results, scope)
    for scope in AIMS:
        print_own(results, scope)
    if study is not None:
        study.print()
    print()
    print_missed(results)
    good = aims_are_met(results)
    with open(folder / "trends.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *table])
    write_page(folder, chosen, results, study)
    return 0 if good else 3


if __name__ == "__main__":
    sys.exit(main())
