"""The threshold study of Mohror's thesis (sections 5.2.1 within a process, 5.3.1 between processes): each method
with a range of thresholds, and what becomes of size, time stamps and trends. For bench/trends.py --thresholds.

The same methods and thresholds as there, and the method auto, which has no place in it.
"""

import csv
import statistics

import common

RATIOS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
# By method; of absDiff in microseconds, of iter_k how many are kept. iter_avg has none.
THRESHOLDS = {
    "relDiff": RATIOS, "absDiff": tuple(10 ** n for n in range(1, 7)), "Manhattan": RATIOS, "Euclidean": RATIOS,
    "Chebyshev": RATIOS, "iter_k": (1, 10, 50, 100, 500, 1000), "avgWave": RATIOS, "haarWave": RATIOS,
    "auto": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
}
SCOPES = ("intra", "inter")
# What the thesis found best; of auto the one that is tried first.
CHOSEN = {
    "intra": {"relDiff": 0.8, "absDiff": 1e3, "Manhattan": 0.4, "Euclidean": 0.2, "Chebyshev": 0.2, "iter_k": 10,
              "avgWave": 0.2, "haarWave": 0.2, "auto": 0.1},
    "inter": {"relDiff": 0.8, "absDiff": 1e4, "Manhattan": 0.4, "Euclidean": 0.4, "Chebyshev": 0.4, "avgWave": 0.4,
              "haarWave": 0.4, "auto": 0.05},
}
HEADER = ["scope", "case", "method", "threshold", "retained", "bytes", "percent", "representatives", "matched",
          "distance_ns", "score", "time_score", "lost"]


def thresholds_of(scope, method):
    """Ascending. auto has half of it across ranks."""
    if method != "auto" or scope == "intra":
        return THRESHOLDS[method]
    return tuple(t / 2 for t in THRESHOLDS[method])


def methods_of(scope):
    return [m for m in THRESHOLDS if scope == "intra" or m != "iter_k"]


def words(scope, method):
    """Of `refrain evaluate`, for all thresholds of a method."""
    out = ["--scope", scope]
    for t in thresholds_of(scope, method):
        text = f"{t}us" if method == "absDiff" else f"{t:g}"
        # Across ranks it is the second threshold that counts; within them there is only the first.
        out += ["--method", f"{method}:{text}" if scope == "intra" else f"{method}:{text}:{text}"]
    return out


class Study:
    """Rows of `refrain evaluate` by scope, method, threshold and case."""

    def __init__(self):
        self.rows, self.cases = {}, []

    def add(self, case, scope, method, said):
        if case not in self.cases:
            self.cases.append(case)
        for threshold, row in zip(thresholds_of(scope, method), said["methods"], strict=True):
            used = row["threshold_across_ranks" if scope == "inter" else "threshold"]
            if row["method"].partition(":")[0] != method or abs(used - threshold) > 1e-9 * threshold:
                common.fail(f"asked for {method}:{threshold}, got {row['method']} with threshold {used}")
            self.rows[scope, method, threshold, case] = row

    def look(self, case, ask):
        """`ask` puts the words to `refrain evaluate` about the case's trace."""
        for scope in SCOPES:
            for method in methods_of(scope):
                self.add(case, scope, method, ask(*words(scope, method)))

    def of(self, scope, method, threshold):
        return [self.rows[scope, method, threshold, case] for case in self.cases]

    def right(self, scope, method, threshold):
        return sum(row["retained"] for row in self.of(scope, method, threshold))

    def percent(self, scope, method, threshold):
        """Mean over the cases of the size in percent of the exact trace."""
        return statistics.mean(row["percent"] for row in self.of(scope, method, threshold))

    def distance_us(self, scope, method, threshold):
        """Median over the cases of the approximation distance."""
        return statistics.median(row["approximation_distance_ns"] for row in self.of(scope, method, threshold)) / 1e3

    def print(self):
        for scope in SCOPES:
            print(f"\n{scope}, by threshold: cases of {len(self.cases)} whose trends are retained, mean percent of the "
                  "full trace, median distance in us (*: the thesis's choice; of auto the first one tried)")
            rows = []
            for method in methods_of(scope):
                cells = []
                for t in thresholds_of(scope, method):
                    star = "*" if t == CHOSEN[scope].get(method) else ""
                    cells.append(f"{star}{t:g}: {self.right(scope, method, t)} {self.percent(scope, method, t):.0f} % "
                                 f"{self.distance_us(scope, method, t):.3g}")
                rows.append([method] + cells)
            common.print_table([""] * (1 + max(map(len, THRESHOLDS.values()))), rows)

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            for (scope, method, threshold, case), row in self.rows.items():
                writer.writerow([scope, case, method, f"{threshold:g}", "yes" if row["retained"] else "no",
                                 row["bytes"], f"{row['percent']:.2f}", row["representatives"],
                                 f"{row['degree_of_matching']:.4f}", round(row["approximation_distance_ns"]),
                                 f"{row['score']:.4f}", f"{row['time_score']:.4f}", row["lost"]])
