#!/usr/bin/python3
"""`refrain convert` on fresh runs of the test programs: all kinds of messages, collectives, windows,
files, threads, marks. Each format says what `dump` and `matrix` do.

    programs.py --refrain R --mpi mpich --programs DIR --libraries DIR [--shim yield_shim.so]
"""

import argparse
import collections
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

import mpirun  # noqa: E402
import readers  # noqa: E402
from formats import Converter, check_memory  # noqa: E402
from readers import check  # noqa: E402

# Program, ranks, options of record, which formats (None: all).
EXACT = ("--timing", "exact")
RUNS = (
    ("p2p_blocking", 3, EXACT),
    ("p2p_nonblocking", 3, EXACT),
    ("p2p_persistent", 3, EXACT),
    ("p2p_wildcard", 4, EXACT),
    ("p2p_probe", 3, EXACT),
    ("p2p_cancel", 2, EXACT),
    ("coll_blocking", 5, EXACT),
    ("coll_nonblocking", 4, EXACT),
    ("coll_vectors", 3, ("--timing", "bins:0.2")),
    ("comm_basic", 4, ()),
    ("rma", 4, EXACT),
    ("files", 2, EXACT),
    ("functions", 2, EXACT + ("--functions", "on")),
    ("threads", 2, EXACT),
    ("texts", 2, EXACT),
    ("random_mix", 4, ("--timing", "bins:0.02")),
    ("p2p_blocking", 2, ("--timing", "stats")),
)


def test_counts(program, calls, converter, trace):
    """What only some programs have."""
    if not readers.have("otf2-print") or converter.convert(trace, "otf2") is None:
        return
    records = readers.otf2_records(converter.output("otf2"))
    said = converter.convert(trace, "otf2")
    ended = records["MPI_COLLECTIVE_END"] + records["NON_BLOCKING_COLLECTIVE_COMPLETE"]
    check(ended == said["collectives"], "%d collectives, not %d" % (ended, said["collectives"]))
    check(records["MPI_COLLECTIVE_BEGIN"] == records["MPI_COLLECTIVE_END"], "collectives begin and end")

    def to_ranks(*names):
        """Accesses that reach somebody: not those of MPI_PROC_NULL."""
        return sum(c["call"] in names and "error_class" not in c and isinstance(c["args"]["target_rank"], int)
                   for c in calls)
    called = collections.Counter(c["call"] for c in calls if "error_class" not in c)
    if program == "rma":
        puts, gets = to_ranks("MPI_Put", "MPI_Rput"), to_ranks("MPI_Get", "MPI_Rget")
        atomics = to_ranks(*("MPI_" + name for name in (
            "Accumulate", "Raccumulate", "Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap")))
        done = records["RMA_OP_COMPLETE_NON_BLOCKING"]
        found = records["RMA_PUT"], records["RMA_GET"], records["RMA_ATOMIC"]
        check(found == (puts, gets, atomics) and puts and gets, "rma: accesses %s, not %s" % (
            found, (puts, gets, atomics)))
        check(done == records["RMA_PUT"] + records["RMA_GET"] + records["RMA_ATOMIC"],
              "rma: %d of the accesses are completed" % done)
        check(records["RMA_WIN_CREATE"] == sum(
            n for c, n in called.items() if c.startswith(("MPI_Win_create", "MPI_Win_allocate"))
            and not c.endswith("keyval")), "rma: windows")
    if program == "files":
        check(records["IO_CREATE_HANDLE"] == called["MPI_File_open"] > 0, "files: opened")
        accesses = sum(n for c, n in called.items() if re.match(r"MPI_File_i?(read|write)", c)
                       and not c.endswith("_end"))
        check(records["IO_OPERATION_BEGIN"] == accesses, "files: %d accesses, not %d" % (
            records["IO_OPERATION_BEGIN"], accesses))
        check(records["IO_OPERATION_BEGIN"] == records["IO_OPERATION_COMPLETE"] > 0, "files: accesses")
    if program == "coll_blocking":
        names = ("Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall")
        check(records["MPI_COLLECTIVE_END"] > sum(called["MPI_" + n] for n in names) // 2, "collectives")
    if program == "coll_nonblocking":
        begun = records["NON_BLOCKING_COLLECTIVE_REQUEST"]
        check(begun == records["NON_BLOCKING_COLLECTIVE_COMPLETE"] > 0, "nonblocking collectives")


def test_goal(program, calls, converter, trace):
    """A thread has a cpu of its own, and computes no longer than the program did from its MPI_Init on."""
    said = converter.convert(trace, "goal")
    ranks = readers.read_goal(converter.output("goal"))
    if program == "threads":
        for me, (operations, _) in enumerate(ranks):
            own = [c for c in calls if c["rank"] == me]
            begin = max(c["end_ns"] for c in own if c["call"].startswith("MPI_Init"))
            computed = collections.Counter()
            for kind, *rest in operations.values():
                computed[rest[-1]] += rest[0] if kind == "calc" else 0
            threads = len({c["thread"] for c in own})
            check(1 < len(computed) <= threads, "goal: %d cpus of %d threads" % (len(computed), threads))
            check(max(computed.values()) <= max(c["end_ns"] for c in own) - begin, "goal: more than the run took")
    if program == "p2p_blocking":
        ssends = sum(c["call"] == "MPI_Ssend" and c["args"]["dest"] >= 0 for c in calls if "error_class" not in c)
        told = sum(each["count"] for each in said["not_held"] if "synchronous" in each["what"])
        check(ssends > 0 and told == ssends, "goal: told of %d synchronous sends, not %d" % (told, ssends))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--shim", default="")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not mpirun.launcher(options.mpi):
        print("skip  no launcher for " + options.mpi)
        return 77
    os.environ["REFRAIN_YIELD_SHIM"] = os.path.abspath(options.shim) if options.shim else ""
    os.environ["REFRAIN_LIBRARY_PATH"] = options.libraries
    failed, skipped = 0, set()
    for program, ranks, how in RUNS:
        path = os.path.abspath(os.path.join(options.programs, program))
        if not os.path.exists(path) or (options.only and program != options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.rfn")
            converter = Converter(os.path.abspath(options.refrain), folder)
            wrapper = [os.path.abspath(options.refrain), "record", "-o", trace, *how]
            outcome = mpirun.run_job(options.mpi, ranks, [path], wrapper=wrapper, cwd=folder,
                                     env={"REFRAIN_TEST_DIR": folder})
            try:
                check(os.path.exists(trace), "no trace: %s" % outcome.stderr.decode()[-300:])
                converter.check(trace, statuses=(0, 4))
                if program.startswith(("p2p", "random", "threads")):
                    check_memory(converter, trace, ("0",), statuses=(0, 4))
                calls = readers.dumped(converter.refrain, trace)
                test_counts(program, calls, converter, trace)
                test_goal(program, calls, converter, trace)
                print("ok    %s on %d ranks, %s" % (program, ranks, " ".join(how)), flush=True)
            except readers.Wrong as wrong:
                failed += 1
                print("FAIL  %s: %s" % (program, wrong), flush=True)
            skipped |= converter.skipped
    if skipped:
        print("not read: " + ", ".join(sorted(skipped)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
