"""Tables of PHANTOM (2010), section 7.3, for `./dev bench predict --tables`: predictions beside a regression.

Work takes the same time per cell in all runs of a program: such that the program without work takes 30 % of its time
on 64 ranks of the first machine. Runs are those of bench/predict.py: measured under SMPI, predicted from a run on
another machine.

Table 3 and figure 10: the programs on a fat tree; time measured, predicted with its interval, and by regression
(`refrain predict --regression`) over runs on 4 to 64 ranks of that machine (16 to 64 of a dragonfly). `best`: the
model of the regression that comes nearest, as the paper reports it, which needs the measured time. Figure 12: comp,
comm and sync of rank 0 on the most ranks.
Figure 13: Sweep3D on three machines whose network, processors and topology differ.

Files: predict_table3.csv, predict_figure12.csv, predict_figure13.csv.
"""

import csv
import json

import common
import groups
import predict

SHARE = 0.3
TRAINING = (4, 8, 16, 32, 64)
SQUARES = {8: 9, 32: 36, 128: 144}
PARTS = ("comp_ns", "comm_ns", "sync_ns")
MOST_FIGURE_13 = 0.05


def network(latency_ns, bandwidth, overheads):
    return {"link_latency_ns": latency_ns, "bandwidth": bandwidth, "overheads": overheads, "spread": predict.SPREAD}


# Topology, network, and how fast processors are beside those of the recorded run.
MACHINES = {
    "A": ("fat_tree", predict.TARGET, 1.0),
    "B": ("torus", network(600, 2.5e9, (250, 300)), 1.6),
    "C": ("dragonfly", network(800, 4e9, (150, 200)), 2.3),
}
TABLE_3 = ["program", "ranks", "measured_s", "predicted_s", "error", "low_s", "high_s", "inside", "regression_s",
           "regression_error", "best_regression_error"]
FIGURE_12 = ["program", "ranks", "predicted_s", "comp_s", "comm_s", "sync_s", "comp", "comm", "sync"]
FIGURE_13 = ["machine", *TABLE_3]


class Program:
    """One program on machines of one kind; traces of its runs there, for a regression."""

    def __init__(self, name, machine, folder, seeds):
        self.name, self.machine, self.folder, self.seeds = name, machine, folder, seeds
        self.words, self.is_square = groups.PROGRAMS[name][2], groups.PROGRAMS[name][4]
        self.work_ns, self.traces = None, []

    def target(self, ranks, machine=None):
        kind, links, speed = MACHINES[machine or self.machine]
        count = SQUARES.get(ranks, ranks) if self.is_square else ranks
        return predict.Target(kind, count, self.folder, links, speed)

    def binary(self, seed, speed=1.0):
        return predict.compile_program(self.name, self.folder, self.work_ns / speed, seed)

    def train(self):
        self.work_ns, _ = predict.work_for(self.name, SHARE, self.target(64, "A"), self.words, self.folder)
        # A dragonfly has 16 routers.
        for ranks in (n for n in TRAINING if n % 16 == 0 or MACHINES[self.machine][0] != "dragonfly"):
            target = self.target(ranks)
            self.traces.append(self.folder / f"training-{ranks}.rfn")
            target.record([self.binary(1, target.speed), *self.words], self.traces[-1], is_on_target=True)

    def row(self, ranks):
        """Of TABLE_3, and what `refrain predict` says."""
        target = self.target(ranks)
        trace = self.folder / "predict.rfn"
        target.record([self.binary(0), *self.words], trace)
        runs = [target.measured([self.binary(seed, target.speed), *self.words])[0]
                for seed in range(1, self.seeds + 1)]
        measured = sum(runs) / len(runs)
        said = target.said("predict", trace)
        trace.unlink()
        low, high = (ns * 1e-9 for ns in said["interval_ns"])
        regression = json.loads(common.run([common.REFRAIN, "predict", "--regression", *self.traces, "--ranks",
                                            target.ranks, "--measured", f"{measured:.9f}", "--format", "json"]))
        best = min((model["error_percent"] for model in regression["models"]), key=abs)
        predicted = said["predicted_ns"] * 1e-9
        error = (measured - predicted) / measured
        return [self.name, target.ranks, f"{measured:.6f}", f"{predicted:.6f}", f"{error:.5f}", f"{low:.6f}",
                f"{high:.6f}", f"{sum(low <= t <= high for t in runs)}/{len(runs)}",
                f"{regression['predicted_ns'] * 1e-9:.6f}", f"{regression['error_percent'] / 100:.5f}",
                f"{best / 100:.5f}"], said


def figure_12(row, said):
    parts = [said["ranks"][0][part] * 1e-9 for part in PARTS]
    return [*row[:2], row[3], *(f"{part:.6f}" for part in parts), *(f"{part / sum(parts):.3f}" for part in parts)]


def write(folder, name, header, rows):
    common.progress("")
    print(name)
    common.print_table(header, rows)
    with open(folder / f"predict_{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    print(f"written: {folder / f'predict_{name}.csv'}\n", flush=True)


def run(arguments, folder):
    """Exit status: 3 where an error of figure 13 is above 5 %, or one of table 3 above what predict.py allows."""
    counts = [int(word) for word in arguments.ranks.split(",")]
    table, parts, machines = [], [], []
    for name in groups.PROGRAMS:
        if arguments.only not in (None, name):
            continue
        program = Program(name, "A", folder, arguments.seeds)
        common.progress(f"{name}: training")
        program.train()
        for ranks in (count for count in counts if count > 64):
            common.progress(f"{name}, {ranks} ranks")
            row, said = program.row(ranks)
            table.append(row)
        if table and table[-1][0] == name:
            parts.append(figure_12(row, said))
    write(folder, "table3", TABLE_3, table)
    write(folder, "figure12", FIGURE_12, parts)
    for name in ("Sweep3D strong", "Sweep3D weak"):
        if arguments.only not in (None, name):
            continue
        for machine in MACHINES:
            program = Program(name, machine, folder, arguments.seeds)
            common.progress(f"{name}, machine {machine}: training")
            program.train()
            for ranks in (count for count in counts if count >= 64):
                common.progress(f"{name}, machine {machine}, {ranks} ranks")
                machines.append([machine, *program.row(ranks)[0]])
    write(folder, "figure13", FIGURE_13, machines)
    wrong = [row for row in table if abs(float(row[4])) > predict.MOST_ERROR]
    wrong += [row for row in machines if abs(float(row[5])) > MOST_FIGURE_13]
    for row in wrong:
        print("too far off:", *row)
    return 3 if wrong else 0
