#!/usr/bin/python3
"""Jobs of which only some ranks are recorded, or by several command lines.

    parts.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich
             --libraries build/src/tracer [--shim yield_shim.so]

The program wins: it ends as it does without Refrain. The trace holds the ranks that were recorded, call by call
what their own logs say, and says that it lacks the others.
"""
import glob
import json
import os
import sys
import time
import unittest

import launches
from launches import GOOD, INCOMPLETE, mpirun

import trace_log  # noqa: E402, in ../support

LOSS = "not_all_ranks"


class Parts(launches.Job):
    def start(self, program, parts, env=None, job_env=None, timeout=90):
        """One job; each part is (ranks, whether it is recorded or options of `record`)."""
        self.log = self.path("log")
        settings = {"REFRAIN_TEST_LOG": self.log, "REFRAIN_JOIN_LIMIT": "60"}
        settings.update(env or {})
        given = []
        for ranks, how in parts:
            words = list(how) if isinstance(how, (list, tuple)) else []
            wrapper = [] if how is False else self.record("-o", self.path("run.rfn"), *words)
            given.append((ranks, wrapper, program))
        for path in glob.glob(self.log + ".*"):
            os.remove(path)
        done = self.run_parts(given, env=settings, job_env=job_env, timeout=timeout)
        self.logs = {int(path.rsplit(".", 1)[1]): trace_log.read_log(path) for path in glob.glob(self.log + ".*")}
        return done, given

    def recorded(self, program, parts, env=None, source=None, **words):
        """It ends well, and the trace has the calls of the recorded ranks. What `info` says."""
        done, given = self.start(program, parts, env, **words)
        self.assertEqual(done.status, GOOD, done.stderr[-1500:])
        self.as_without(given, done)
        there, at = [], 0
        for ranks, how in parts:
            there += [] if how is False else list(range(at, at + ranks))
            at += ranks
        self.assertEqual([f for f in os.listdir(self.folder) if f.startswith("run")], ["run.rfn"], done.said)
        whole = len(there) == at
        self.assertEqual(len(done.said), 1, done.said)
        self.assertIn("of %d rank" % len(there), done.said[0])
        self.assertEqual(LOSS in done.said[0], not whole, done.said)
        info = self.info(GOOD if whole else INCOMPLETE)
        self.assertEqual((info["complete"], [l["reason"] for l in info["losses"]]), (whole, [] if whole else [LOSS]))
        if not whole:
            self.assertEqual(info["losses"][0]["detail"], "rank " + self.listed(sorted(set(range(at)) - set(there))))
        status = GOOD if whole else INCOMPLETE
        self.refrain(status, "check", "run.rfn")
        dumps = [trace_log.read_dump(self.refrain(status, "dump", "run.rfn", "--rank", str(r), "--format", "jsonl"))
                 for r in there]
        trace_log.compare_all([self.logs[r] for r in there], dumps, "exact",
                              source or os.path.basename(program[0]) + ".c")
        return info

    @staticmethod
    def listed(ranks):
        words, i = [], 0
        while i < len(ranks):
            end = i
            while end + 1 < len(ranks) and ranks[end + 1] == ranks[end] + 1:
                end += 1
            words.append(str(ranks[i]) if end == i else "%d-%d" % (ranks[i], ranks[end]))
            i = end + 1
        return ", ".join(words)

    def marks(self):
        """Those that nobody needs any more."""
        return sorted(path for path in glob.glob("/dev/shm/refrain-launch-*")
                      if not os.path.exists("/proc/" + os.path.basename(path).split("-")[4]))


class SomeRanks(Parts):
    def test_first_part(self):
        before = self.marks()
        self.recorded(self.program("bcast_first"), [(1, True), (1, False)])
        self.assertEqual([m for m in self.marks() if m not in before], [])

    def test_rank_0_is_not(self):
        self.recorded(self.program("bcast_first"), [(1, False), (2, True)])

    def test_two_of_four(self):
        self.recorded(self.program("bcast_first"), [(1, True), (2, False), (1, True)])
        self.recorded(self.program("p2p_wildcard"), [(1, False), (2, True), (1, False)])

    def test_communicators(self):
        """Their ids are agreed on among those that are recorded."""
        for parts in ([(3, True), (1, False)], [(1, False), (3, True)], [(1, True), (1, False), (2, True)]):
            self.recorded(self.program("comm_basic"), parts)

    def test_times(self):
        for timing in ("exact", "bins:0.02", "segments:euclidean:0.2"):
            for parts in ([(2, False), (2, ["--timing", timing])], [(1, ["--timing", timing]), (2, False)]):
                info = self.recorded(self.program("bcast_first"), parts)
                self.assertEqual(info["timing"].split(":")[0], timing.split(":")[0])
                for verb in (["waits"], ["report", "--force", "-o", "report.html"], ["matrix"], ["profile"]):
                    self.refrain(INCOMPLETE, *verb, "run.rfn")
                for target in ("csv", "perfetto"):
                    self.refrain(INCOMPLETE, "convert", "--force", "run.rfn", "--to", target, "-o", "out." + target)

    def test_without_a_spool(self):
        self.recorded(self.program("bcast_first"), [(1, False), (2, ["--spool", "off"]), (1, False)])

    def test_killed(self):
        """What a job leaves that dies in between is found by `recover`."""
        done, _ = self.start(self.program("abort"), [(1, False), (2, True)])
        self.assertNotEqual(done.status, mpirun.TIMED_OUT)
        if os.path.isdir(self.path("run.rfn.spool")):
            self.refrain(INCOMPLETE, "recover", "run.rfn.spool", "-o", "new.rfn")
            self.assertIn(LOSS, [l["reason"] for l in self.info(INCOMPLETE, "new.rfn")["losses"]])

    def test_marks_of_the_dead_are_swept(self):
        name = "/dev/shm/refrain-launch-%d-%s-%d-1-%016x" % (
            os.geteuid(), os.readlink("/proc/self/ns/pid")[5:-1], 2 ** 22 - 1, time.monotonic_ns())
        with open(name, "w") as file:
            file.write("x" * 16)
        try:
            self.recorded(self.program("bcast_first"), [(1, True), (1, False)])
            self.assertNotIn(name, self.marks())
        finally:
            if os.path.exists(name):
                os.remove(name)

    def test_a_shell_in_between(self):
        """A script that records rank 0 only."""
        script = self.path("script.sh")
        variable = "PMI_RANK" if mpirun.behind(launches.options.mpi) == "mpich" else "OMPI_COMM_WORLD_RANK"
        with open(script, "w") as file:
            file.write('#!/bin/sh\n/bin/true\nif [ "$%s" = 0 ]; then\n%s "$@"\nelse\n"$@"\nfi\n' % (
                variable, " ".join(self.record("-o", self.path("run.rfn")))))
        os.chmod(script, 0o755)
        self.log = self.path("log")
        program = self.program("bcast_first")
        done = self.run_parts([(3, [script], program)], env={"REFRAIN_TEST_LOG": self.log})
        self.as_without([(3, [], program)], done)
        self.assertIn("of 1 rank", done.said[0])
        self.assertEqual(self.info(INCOMPLETE)["losses"][0]["detail"], "rank 1-2")


    def test_recording_that_begins_later(self):
        done, given = self.start(self.program("bcast_first"), [(1, ["--start-paused"]), (1, False)])
        self.as_without(given, done)
        self.assertEqual(self.info(INCOMPLETE)["losses"][0]["reason"], LOSS)

    def test_a_rank_of_refrain_record_0(self):
        """REFRAIN_RECORD=0 on one of them: it has a recorder that does nothing."""
        script = self.path("script.sh")
        variable = "PMI_RANK" if mpirun.behind(launches.options.mpi) == "mpich" else "OMPI_COMM_WORLD_RANK"
        with open(script, "w") as file:
            file.write('#!/bin/sh\n[ "$%s" = 1 ] && export REFRAIN_RECORD=0\nexec "$@"\n' % variable)
        os.chmod(script, 0o755)
        program = self.program("bcast_first")
        done = self.run_parts([(3, [script] + self.record("-o", self.path("run.rfn")), program)])
        self.as_without([(3, [], program)], done)
        self.assertEqual(self.info(INCOMPLETE)["losses"][0]["detail"], "rank 1")


class TwoHosts(Parts):
    """As Hydra sees them: two of its processes, each of which starts ranks of its own."""

    def setUp(self):
        super().setUp()
        if mpirun.behind(launches.options.mpi) != "mpich":
            self.skipTest("Open MPI's mpirun knows all addresses of one host as one")
        hosts = self.path("hosts")
        with open(hosts, "w") as file:
            file.write("localhost:2\n127.0.0.1:2\n")
        self.job_env = {"HYDRA_HOST_FILE": hosts}

    def test_all_ranks(self):
        self.recorded(self.program("bcast_first"), [(1, True), (3, True)], job_env=self.job_env)

    def test_each_lacks_some(self):
        """Each host has a trace of its own ranks."""
        done, given = self.start(self.program("bcast_first"), [(1, True), (1, False), (1, True), (1, False)],
                                 job_env=self.job_env)
        self.assertEqual(done.status, GOOD, done.stderr[-1500:])
        self.as_without(given, done)
        self.assertEqual(sorted(f for f in os.listdir(self.folder) if f.startswith("run")), ["run.1.rfn", "run.rfn"])
        lacking = [self.info(INCOMPLETE, trace)["losses"][0]["detail"] for trace in ("run.rfn", "run.1.rfn")]
        self.assertEqual(sorted(lacking), ["rank 0-1, 3", "rank 1-3"])

    def test_a_whole_host_is_not(self):
        done, _ = self.start(self.program("slow_steps", "1", "50000000"), [(2, True), (2, False)],
                             env={"REFRAIN_JOIN_LIMIT": "2"}, job_env=self.job_env)
        self.assertNotIn(done.status, (GOOD, mpirun.TIMED_OUT))
        self.assertIn("waited 2 s for the recorders of other ranks", done.said[0])


class AllRanks(Parts):
    def test_two_command_lines(self):
        """However each is recorded, it is one trace."""
        before = self.marks()
        self.recorded(self.program("bcast_first"), [(1, True), (2, ["--callpath", "2"])])
        self.recorded(self.program("bcast_first"), [(2, ["--timing", "exact"]), (1, ["--timing", "exact"])])
        self.assertEqual([m for m in self.marks() if m not in before], [])

    def test_different_times(self):
        """No times, as the ranks do not agree; and some ranks are not recorded at all."""
        for last in ([], [(1, False)]):
            done, given = self.start(self.program("bcast_first"), [(1, ["--timing", "exact"]), (1, True)] + last)
            self.as_without(given, done)
            self.assertIn("do not agree about --timing", done.said[0])
            self.assertEqual(self.info(INCOMPLETE if last else GOOD)["timing"], "stats")
            os.remove(self.path("run.rfn"))

    def test_unknown_number(self):
        """The launcher does not say how many ranks it has started here: as if all were recorded."""
        variable = "MPI_LOCALNRANKS" if mpirun.behind(launches.options.mpi) == "mpich" else "OMPI_COMM_WORLD_LOCAL_SIZE"
        program = ["/usr/bin/env", "-u", variable] + self.program("bcast_first")
        self.recorded(program, [(1, True), (2, True)], source="bcast_first.c")

    def test_limit(self):
        """Nothing can be known, and one rank has no recorder: the job ends, and says why."""
        variable = "MPI_LOCALNRANKS" if mpirun.behind(launches.options.mpi) == "mpich" else "OMPI_COMM_WORLD_LOCAL_SIZE"
        program = ["/usr/bin/env", "-u", variable] + self.program("slow_steps", "1", "50000000")
        done, _ = self.start(program, [(1, True), (1, False)], env={"REFRAIN_JOIN_LIMIT": "2"}, timeout=60)
        self.assertNotIn(done.status, (GOOD, mpirun.TIMED_OUT))
        self.assertEqual(len(done.said), 1, done.stderr[-1500:])
        self.assertIn("rank 0 waited 2 s for the recorders of other ranks", done.said[0])


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    sys.exit(launches.main(several=True))
