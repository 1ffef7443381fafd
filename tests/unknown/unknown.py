#!/usr/bin/python3
"""Functions of MPI that the recorder does not know: a program that calls them, its trace, and no wrong name.

    unknown.py --refrain build/refrain --mpi mpich --program unknown --libraries FOLDER [--shim yield_shim.so]

FOLDER has a recorder whose generator saw mpi_extra.h beside mpi.h.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

ROUNDS = 20
CALLS = {"MPIX_Extra_comm": 1, "MPIX_Extra_comm_free": 2, "MPIX_Extra_type": 1,
         "MPIX_Extra_isend": ROUNDS, "MPIX_Extra_waitall": ROUNDS, "MPIX_Extra_nothing": 1000,
         "MPIX_Extra_half": 1}
RANKS = 2
INCOMPLETE = 4  # exit status: the trace was read, and something is not in it


class Broken(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Broken(" ".join(str(w) for w in what))


class Test:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def record(self, name, *arguments, **more):
        trace = os.path.join(self.folder, name + ".rfn")
        env = {"REFRAIN_LIBRARY_PATH": self.options.libraries, "REFRAIN_QUIET": "0"}
        preload = mpirun.shims(self.options.mpi, self.options.shim)
        wrapper = [self.options.refrain, "record", "-o", trace, *more.get("options", []), "--"]
        done = mpirun.run_job(self.options.mpi, RANKS, [self.options.program, *arguments], 60, preload,
                              env, cwd=self.folder, wrapper=wrapper)
        expect((done.status == 0) == more.get("good", True), name, "exits with", done.status,
               done.stderr.decode(errors="replace")[-600:])
        own = [line for line in done.stderr.decode(errors="replace").splitlines()
               if line.startswith("refrain") and not re.match("refrain: (wrote|replaced) ", line)]
        return trace, own

    def refrain(self, *words):
        done = subprocess.run([self.options.refrain, *words], capture_output=True, timeout=60)
        expect(done.returncode in (0, INCOMPLETE), "refrain", *words, "exits with", done.returncode, done.stderr)
        return done.stdout.decode()

    def losses(self, trace, reason):
        info = json.loads(self.refrain("info", "--format", "json", trace))
        return {loss["detail"]: loss.get("calls", 0) for loss in info["losses"] if loss["reason"] == reason}

    def is_of_all_ranks(self, trace, reason):
        """Losses that several ranks have are one, of no rank."""
        info = json.loads(self.refrain("info", "--format", "json", trace))
        return all(loss.get("rank", -1) in (-1, None) for loss in info["losses"] if loss["reason"] == reason)

    def counted(self):
        trace, said = self.record("called")
        self.refrain("check", trace)
        found = self.losses(trace, "unknown_function")
        expect(found == {name: n * RANKS for name, n in CALLS.items()}, "losses:", found)
        # Nobody can forward "..."; the program's reference to it is all that is known.
        unseen = self.losses(trace, "not_seen")
        expect([name.split(":")[0] for name in unseen] == ["MPIX_Extra_talk"], "not seen:", unseen)
        expect(self.is_of_all_ranks(trace, "not_seen"), "not every rank's program was looked into")
        expect(len(said) == 1 and "MPIX_Extra" in said[0] and "6 other functions" in said[0], said)
        expect("unknown_function" in self.refrain("info", trace), "info says nothing")
        for rank in range(RANKS):
            self.objects(trace, rank)

    def calls(self, trace, rank):
        lines = self.refrain("dump", "--format", "jsonl", "--rank", str(rank), trace).splitlines()
        return [json.loads(line) for line in lines]

    def objects(self, trace, rank):
        calls = self.calls(trace, rank)
        names = [c["call"] for c in calls]
        expect(not [n for n in names if "Extra" in n], "a function that nobody knows is in the dump")
        begin = names.index("MPI_Comm_dup")
        expected = ["MPI_Comm_dup", "MPI_Barrier", "MPI_Barrier", "MPI_Comm_dup", "MPI_Barrier",
                    "MPI_Comm_free", "MPI_Type_size", "MPI_Type_free"]
        expect(names[begin:begin + len(expected)] == expected, names[begin:begin + len(expected)])
        first, on_first, on_other, second, on_second, _, size, free = calls[begin:begin + len(expected)]
        expect(on_first["args"]["comm"] == first["args"]["newcomm"], on_first)
        expect(on_other["args"]["comm"] is None, "an unknown communicator has a name:", on_other)
        expect(second["args"]["comm"] is None, second)
        expect(on_second["args"]["comm"] == second["args"]["newcomm"], on_second)
        expect(size["args"]["datatype"] is None and free["args"]["datatype"] is None, size, free)
        rest = calls[begin + len(expected):-1]
        expect(len(rest) == 5 * ROUNDS, len(rest), "calls of requests")
        for i in range(ROUNDS):
            self.one_round(rest[5 * i:5 * i + 5])

    @staticmethod
    def one_round(calls):
        receive, _, second, of_unknown, of_second = calls
        expect([c["call"] for c in calls] == ["MPI_Irecv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Wait"],
               [c["call"] for c in calls])
        expect(of_unknown["args"]["request"] is None, "an unknown request has a name:", of_unknown)
        expect(of_second["args"]["request"] == second["args"]["request"], of_second, second)
        expect(receive["args"]["tag"] == 0 and second["args"]["tag"] == 1, calls)

    def silent(self):
        trace, said = self.record("silent", "none")
        expect(said == [], "it says", said)
        expect(self.losses(trace, "unknown_function") == {}, "losses without a call")

    def died(self):
        """A killed job's spool has the counts up to the power of two below."""
        trace, _ = self.record("died", "die", good=False)
        self.refrain_any("recover", trace + ".spool", "-o", trace)
        found = self.losses(trace, "unknown_function")
        expect(set(found) == set(CALLS), "recovered losses:", found)
        for name, calls in CALLS.items():
            expect(RANKS * calls / 2 < found[name] <= RANKS * calls, name, found[name])

    def refrain_any(self, *words):
        subprocess.run([self.options.refrain, *words], capture_output=True, timeout=60, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("refrain", "mpi", "program", "libraries"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    for name in ("refrain", "program", "libraries"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="refrain-unknown-") as folder:
        test = Test(options, folder)
        for part in (test.counted, test.silent, test.died):
            try:
                part()
                print("pass ", part.__name__)
            except (Broken, KeyError, ValueError, subprocess.TimeoutExpired) as e:
                failed += 1
                print("FAIL ", part.__name__, e)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
