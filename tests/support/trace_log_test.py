#!/usr/bin/python3
"""The comparison itself must see every kind of difference."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
import trace_log  # noqa: E402


def dumped(call, seq=0, site=None, thread=0, rank=0, **args):
    return {"rank": rank, "thread": thread, "seq": seq, "call": call, "args": args, "begin_ns": None,
            "end_ns": None, "site": site}


def logged(call, **args):
    return {"call": call, "args": args}


def difference(logs, dumps, mode="exact"):
    try:
        trace_log.compare_all(logs, dumps, mode, "p.c")
    except trace_log.Difference as e:
        return str(e)
    return None


class Calls(unittest.TestCase):
    def test_equal(self):
        log = [logged("MPI_Send", count=1, dest="MPI_PROC_NULL"), logged("MPI_Wtime")]
        self.assertIsNone(difference([log], [[dumped("MPI_Send", count=1, dest="MPI_PROC_NULL", tag=3)]]))

    def test_value_name_number_and_missing(self):
        log = [logged("MPI_Send", count=1)]
        self.assertIn("args.count", difference([log], [[dumped("MPI_Send", count=2)]]))
        self.assertIn("args.count", difference([log], [[dumped("MPI_Send", count="1")]]))
        self.assertIn("args.count", difference([log], [[dumped("MPI_Send", count=True)]]))
        self.assertIn("called MPI_Send", difference([log], [[dumped("MPI_Bsend", count=1)]]))
        self.assertIn("no args.count", difference([log], [[dumped("MPI_Send")]]))
        self.assertIn("missing", difference([log], [[]]))
        self.assertIn("goes on", difference([[]], [[dumped("MPI_Send")]]))

    def test_return_code(self):
        log = dict(logged("MPI_Recv"), rc=15)
        self.assertIn("returned 15", difference([[log]], [[dumped("MPI_Recv")]]))
        self.assertIsNone(difference([[log]], [[dict(dumped("MPI_Recv"), rc=15)]]))
        self.assertIn("returned success", difference([[logged("MPI_Recv")]], [[dict(dumped("MPI_Recv"), rc=15)]]))

    def test_site_and_matched(self):
        log = dict(logged("MPI_Recv"), line=7, matched={"source": 1, "tag": 2})
        good = dict(dumped("MPI_Recv", site="p.c:7"), matched={"source": 1, "tag": 2})
        self.assertIsNone(difference([[log]], [[good]]))
        self.assertIn("p.c:7", difference([[log]], [[dict(good, site="p.c:8")]]))
        self.assertIn("matched", difference([[log]], [[dict(good, matched={"source": 1, "tag": 3})]]))
        self.assertIn("matched", difference([[log]], [[dumped("MPI_Recv", site="p.c:7")]]))

    def test_arrays_and_statuses(self):
        log = [logged("MPI_Waitall", s=[{"source": 1, "tag": 2}, None])]
        self.assertIsNone(difference([log], [[dumped("MPI_Waitall", s=[{"source": 1, "tag": 2}, None])]]))
        self.assertIn("elements", difference([log], [[dumped("MPI_Waitall", s=[None])]]))
        self.assertIn("s[1]", difference([log], [[dumped("MPI_Waitall", s=[{"source": 1, "tag": 2}, 5])]]))
        self.assertIn("s[0]", difference([log], [[dumped("MPI_Waitall", s=[{"source": 1}, None])]]))

    def test_buffers_and_modes(self):
        self.assertIsNone(difference([[logged("f", b="~heap")]], [[dumped("f", b="heap#3+8")]]))
        self.assertIn("args.b", difference([[logged("f", b="~heap")]], [[dumped("f", b="stack#0")]]))
        self.assertIsNone(difference([[logged("f", m="|A|B")]], [[dumped("f", m="B|A")]]))
        self.assertIn("args.m", difference([[logged("f", m="|A|B")]], [[dumped("f", m="A")]]))


class LoggedFunctions(unittest.TestCase):
    def test_others_are_left_out(self):
        log, dump = [logged("MPI_Send", count=1)], [dumped("MPI_Barrier"), dumped("MPI_Send", count=1)]
        self.assertIsNone(difference([log], [dump], "logged_functions"))
        self.assertIn("MPI_Barrier", difference([log], [dump]))

    def test_large_count_form_is_the_function(self):
        log = [logged("MPI_Send", count=1), logged("MPI_Bcast_c", count=2)]
        dump = [dumped("MPI_Send_c", count=1), dumped("MPI_Barrier_c"), dumped("MPI_Bcast_c", count=2)]
        self.assertIsNone(difference([log], [dump], "logged_functions"))
        self.assertIn("count", difference([log], [[dumped("MPI_Send_c", count=3), dump[2]]], "logged_functions"))
        self.assertIsNotNone(difference([log[1:]], [[dumped("MPI_Bcast", count=2)]], "logged_functions"))


class Aliases(unittest.TestCase):
    def test_one_name_for_one_object(self):
        log = [logged("f", r="@a"), logged("f", r="@a")]
        self.assertIsNone(difference([log], [[dumped("f", r="request#1"), dumped("f", r="request#1")]]))
        self.assertIn("before", difference([log], [[dumped("f", r="request#1"), dumped("f", r="request#2")]]))
        self.assertIn("of its own", difference([log], [[dumped("f", r="MPI_REQUEST_NULL")] * 2]))

    def test_two_live_objects_need_two_names(self):
        log = [logged("f", r="@a"), logged("f", r="@b")]
        dump = [dumped("f", r="request#1"), dumped("f", r="request#1")]
        self.assertIn("two live", difference([log], [dump]))
        log[0]["freed"] = ["@a"]
        self.assertIsNone(difference([log], [dump]))

    def test_communicators_agree_over_ranks(self):
        logs = [[logged("f", c="@@x")], [logged("f", c="@@x")]]
        self.assertIsNone(difference(logs, [[dumped("f", c="comm#1")]] * 2))
        self.assertIn("another rank", difference(logs, [[dumped("f", c="comm#1")], [dumped("f", c="comm#2")]]))


class Threads(unittest.TestCase):
    def test_threads_are_found_by_what_they_did(self):
        log = [dict(logged("f", t=1), thread="a"), dict(logged("f", t=2), thread="b")]
        dump = [dumped("f", thread=0, t=2), dumped("f", thread=1, t=1)]
        self.assertIsNone(difference([log], [dump]))
        self.assertIn("thread b", difference([log], [[dump[1], dumped("f", thread=0, t=3)]]))
        self.assertIn("more threads", difference([log], [dump + [dumped("f", thread=2, t=9)]]))


    def test_what_is_alive_at_once_has_different_names(self):
        log = [dict(logged("f", c="@@x"), thread="a"),
               dict(logged("f", c="@@y"), thread="b", alive=["@@x", "@@y"])]
        dump = [dumped("f", thread=0, c="comm#1"), dumped("f", thread=1, c="comm#2")]
        self.assertIsNone(difference([log], [dump]))
        self.assertIn("two live", difference([log], [[dump[0], dumped("f", thread=1, c="comm#1")]]))
        log[1]["alive"].append("@@z")
        self.assertIn("never used", difference([log], [dump]))


class Invariants(unittest.TestCase):
    TABLE = {"MPI_Pack": {"count": False, "position": True}}

    def broken(self, *lines):
        try:
            checks.check_dump(list(lines), 0, self.TABLE)
        except checks.Broken as e:
            return str(e)
        return None

    def test_args_follow_the_table(self):
        self.assertIsNone(self.broken(dumped("MPI_Pack", count=1, position=2, position_in=0)))
        self.assertIn("lack ['position']", self.broken(dumped("MPI_Pack", count=1)))
        self.assertIn("count_in", self.broken(dumped("MPI_Pack", count=1, position=2, count_in=2)))
        self.assertIn("no function", self.broken(dumped("MPI_Nope")))

    def test_seq_is_consecutive(self):
        good = dumped("MPI_Pack", count=1, position=2)
        self.assertIsNone(self.broken(good, dict(good, seq=1)))
        self.assertIn("seq 2", self.broken(good, dict(good, seq=2)))

    def test_matrix(self):
        logs = [[logged("MPI_Comm_rank", comm="@@c", rank=1),
                 logged("MPI_Send", count=3, datatype="MPI_INT", dest=0, comm="@@c")],
                [logged("MPI_Comm_rank", comm="@@c", rank=0)]]
        checks.check_matrix("source,dest,messages,bytes\n0,1,1,12\n", logs, "exact")
        for wrong in ("0,1,1,13", "0,1,2,12", "1,0,1,12", ""):
            with self.assertRaises(checks.Broken):
                checks.check_matrix("source,dest,messages,bytes\n%s\n" % wrong if wrong else
                                    "source,dest,messages,bytes\n", logs, "exact")

    def test_matrix_knows_logged_sizes_of_datatypes(self):
        send = logged("MPI_Send", count=2, datatype="@D1", dest=1, comm="MPI_COMM_WORLD")
        logs = [[logged("MPI_Type_size", datatype="@D1", size=20), send], []]
        checks.check_matrix("source,dest,messages,bytes\n0,1,1,40\n", logs, "exact")
        with self.assertRaises(checks.Broken):
            checks.check_matrix("source,dest,messages,bytes\n0,1,1,44\n", logs, "exact")

    def test_profile_and_info(self):
        logs = [[logged("MPI_Init"), logged("MPI_Finalize")]]
        functions = [{"call": "MPI_Init", "count": 1}, {"call": "MPI_Finalize", "count": 1}]
        checks.check_profile({"functions": functions}, logs)
        with self.assertRaises(checks.Broken):
            checks.check_profile({"functions": functions[:1]}, logs)
        info = {"mpi": "MPICH 4.0.2", "ranks": 1, "calls": 2, "file_bytes": 9, "complete": True,
                "losses": [], "signatures": 2, "rules": 1}
        checks.check_info(info, logs, "mpich")
        for wrong in ({"calls": 3}, {"complete": False}, {"losses": [{"reason": "left_by_jump"}]}, {"mpi": "Open MPI"}):
            with self.assertRaises(checks.Broken):
                checks.check_info(dict(info, **wrong), logs, "mpich")

    def test_what_recording_cost(self):
        logs = [[logged("MPI_Init"), logged("MPI_Finalize")]]
        spread = {"least": 100_000, "least_rank": 0, "mean": 100_000, "greatest": 100_000, "greatest_rank": 0}
        info = {"mpi": "MPICH 4.0.2", "ranks": 1, "calls": 2, "file_bytes": 9, "complete": True, "losses": [],
                "signatures": 2, "rules": 1, "duration_ns": 200_000,
                "recorder_cost": {"ranks": 1, "memory_bytes": spread, "time_ns": spread, "by_rank": [
                    {"rank": 0, "memory_bytes": 100_000, "time_ns": 100_000}]}}
        checks.check_info(info, logs, "mpich")
        for wrong in ({"ranks": 2}, {"memory_bytes": dict(spread, least=3)},
                      {"time_ns": dict(spread, greatest=9_000_000)}, {"by_rank": []},
                      {"by_rank": [{"rank": 0, "memory_bytes": 99_000, "time_ns": 100_000}]}):
            with self.assertRaises(checks.Broken):
                checks.check_info(dict(info, recorder_cost=dict(info["recorder_cost"], **wrong)), logs, "mpich")

    def test_expected_losses(self):
        logs = [[logged("MPI_Init")], [logged("MPI_Init")]]
        info = {"mpi": "MPICH 4.0.2", "ranks": 2, "calls": 2, "file_bytes": 9, "complete": True,
                "losses": [{"reason": "left_by_jump", "calls": 6}], "signatures": 1, "rules": 1}
        checks.check_info(info, logs, "mpich", {"left_by_jump": 3})
        split = [{"reason": "left_by_jump", "calls": 3, "rank": r} for r in (0, 1)]
        checks.check_info(dict(info, losses=split), logs, "mpich", {"left_by_jump": 3})
        for losses in ({}, {"left_by_jump": 2}, {"null_argument": 3},
                       {"left_by_jump": 3, "null_argument": 1}):
            with self.assertRaises(checks.Broken):
                checks.check_info(info, logs, "mpich", losses)


if __name__ == "__main__":
    unittest.main()
