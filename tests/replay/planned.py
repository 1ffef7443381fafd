#!/usr/bin/python3
"""What a replay plans before it begins: traces that no MPI at hand makes by itself.

    planned.py --refrain build/refrain --maker build/tests/made_trace --mpi mpich [--keep DIR]

Each trace is written by the maker, and holds one thing that a replay has to find or to put right.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

SKIPPED = 77
GOOD, FAILED, USAGE, INCOMPLETE, UNSUPPORTED = 0, 1, 2, 4, 5
options = None


class Planned(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-planned-")
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)
        self.scratch = os.path.join(self.folder, "scratch")
        os.mkdir(self.scratch)

    def made(self, what, *words):
        trace = os.path.join(self.folder, what + ".rfn")
        subprocess.run([options.maker, what, trace, *words], check=True)
        return trace

    def dry_run(self, trace):
        done = subprocess.run([options.refrain, "replay", "--dry-run", "--format", "json", trace],
                              capture_output=True, timeout=60)
        return done.returncode, json.loads(done.stdout)

    def replay(self, ranks, trace, *words, recorded=None):
        command = [options.refrain, "replay", "--compute", "none", "--stall", "120", "--format", "json", *words, trace]
        wrapper = [options.refrain, "record", "-o", recorded, "--"] if recorded else []
        return mpirun.run_job(options.mpi, ranks, command, 90, env={"REFRAIN_LIBRARY_PATH": options.libraries},
                              cwd=self.folder, wrapper=wrapper)

    def ours(self, outcome):
        return [line for line in outcome.stderr.decode(errors="replace").splitlines() if line.startswith("refrain")]

    def good(self, outcome):
        self.assertIn(outcome.status, (GOOD,), outcome.stderr.decode(errors="replace")[:1000])
        return json.loads(outcome.stdout)

    def test_a_grid_in_another_order(self):
        """The communicator is rebuilt with the recorded order of ranks, and is a grid again."""
        trace, again = self.made("reordered"), os.path.join(self.folder, "again.rfn")
        self.good(self.replay(4, trace, recorded=again))
        self.assertEqual(self.answers(again), self.answers(trace))

    def answers(self, trace):
        """What each rank was told of its place in the grid."""
        done = subprocess.run([options.refrain, "dump", "--format", "jsonl", trace], capture_output=True, timeout=60)
        calls = [json.loads(line) for line in done.stdout.splitlines()]
        found = [[c["rank"], c["call"], c["args"].get("rank"), c["args"].get("rank_source"), c["args"].get("rank_dest")]
                 for c in calls if c["call"] in ("MPI_Comm_rank", "MPI_Cart_shift")]
        self.assertEqual(len(found), 8)
        return found

    def test_tags_that_are_too_large(self):
        """At most two are; how many depends on the MPI."""
        trace, again = self.made("long_tags"), os.path.join(self.folder, "again.rfn")
        result = self.good(self.replay(2, trace, recorded=again))
        self.assertIn(result["tags_replaced"], (0, 2, 4))
        done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, GOOD, done.stdout + done.stderr)
        self.assertEqual(b"replaced" in done.stdout, result["tags_replaced"] > 0, done.stdout)
        if options.mpi == "mpich":
            self.assertEqual(result["tags_replaced"], 4)  # of two messages, both ends
        self.assertEqual(result["compute_from"], "none")

    def test_ranks_that_wait_for_ever(self):
        trace = self.made("waits")
        status, found = self.dry_run(trace)
        self.assertEqual(status, UNSUPPORTED)
        self.assertFalse(found["replayable"])
        self.assertEqual([one["function"] for one in found["refused"]], ["MPI_Recv"] * 2)
        outcome = self.replay(2, trace)
        self.assertEqual(outcome.status, UNSUPPORTED)
        lines = [line for line in self.ours(outcome) if "cannot" in line]
        self.assertEqual(len(lines), 2, outcome.stderr)
        self.assertNotIn(b"is in call", outcome.stderr)  # no other rank has waited for this one
        self.assertIn("cannot replay MPI_Recv (rank 0, call 1", lines[0])

    def test_a_proxy_would_wait_for_ever_as_well(self):
        proxy = os.path.join(self.folder, "proxy")
        done = subprocess.run([options.refrain, "proxy", self.made("waits"), "-o", proxy], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, UNSUPPORTED)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("MPI_Recv of rank 0, call 1, waits for ever", done.stderr)
        self.assertFalse(os.path.exists(proxy))
        # What is skipped changes nothing of that, unless it is both ends of the messages.
        for word, status in (("MPI_Barrier", UNSUPPORTED), ("MPI_Recv", GOOD)):
            done = subprocess.run([options.refrain, "proxy", self.made("waits"), "-o", proxy, "--skip", word],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, os.path.exists(proxy)), (status, status == GOOD), done.stderr)

    def test_a_proxy_of_threads_says_which_ends_are_missing(self):
        proxy = os.path.join(self.folder, "proxy")
        done = subprocess.run([options.refrain, "proxy", self.made("thread_waits"), "-o", proxy], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, GOOD, done.stderr)
        self.assertIn("warning: ranks may wait for ever: from rank 1 to rank 0 with tag 5: 0 sends, 1 receive",
                      done.stderr)

    def test_all_ranks_refuse_a_job_of_other_size(self):
        """The exit status is one, also where rank 0 would find more: launchers unite those of all ranks."""
        outcome = mpirun.run_job(options.mpi, 3, [options.refrain, "replay", self.made("waits")], 90,
                                 env={"REFRAIN_LIBRARY_PATH": options.libraries}, cwd=self.folder)
        self.assertEqual(outcome.status, USAGE, outcome.stderr)
        self.assertEqual(len(self.ours(outcome)), 1, outcome.stderr)

    def test_what_must_be_buffered(self):
        trace = self.made("buffers")
        status, found = self.dry_run(trace)
        self.assertEqual(status, GOOD)
        order = found["without_buffering"]
        self.assertEqual((order["buffered_messages"], order["longest_buffered_bytes"]), (10, 16))
        self.assertEqual(order["buffered_bytes"], {"0": 16})
        outcome = self.replay(4, trace)
        self.good(outcome)
        self.assertEqual([line for line in self.ours(outcome) if "buffers messages of up to 16 B" in line],
                         self.ours(outcome)[:1])

    def test_skipped_sends_take_their_receives_along(self):
        result = self.good(self.replay(4, self.made("buffers"), "--skip", "MPI_Send"))
        self.assertEqual((result["skipped"], result["calls"]), (80, 8))

    def test_recorded_paths(self):
        """None is opened, whatever it says; reads find data; nothing is left."""
        canary = os.path.join(self.folder, "canary")
        with open(canary, "wb") as f:
            f.write(b"mine")
        trace = self.made("files", canary)
        status, found = self.dry_run(trace)
        self.assertEqual((status, found["files"]), (GOOD, [{"recorded": canary, "bytes": 4100}]))
        self.good(self.replay(2, trace, "--scratch", self.scratch))
        with open(canary, "rb") as f:
            self.assertEqual(f.read(), b"mine")
        self.assertEqual(os.listdir(self.scratch), [])
        outcome = self.replay(2, trace)
        self.assertEqual(outcome.status, USAGE)
        self.assertEqual(len(self.ours(outcome)), 1)
        self.assertIn("--scratch DIR", self.ours(outcome)[0])
        outcome = self.replay(2, trace, "--scratch", os.path.join(self.folder, "absent"))
        self.assertEqual((outcome.status, len(self.ours(outcome))), (USAGE, 1))

    def test_wrong_words(self):
        """Every rank reads them, one says it."""
        trace = self.made("buffers")
        for words in (["--loud"], ["--compute", "faster"], ["--repeats", "0"], ["--skip", "MPI_Nothing"]):
            outcome = self.replay(4, trace, *words)
            self.assertEqual((outcome.status, len(self.ours(outcome))), (USAGE, 1), outcome.stderr)
            self.assertIn(words[0], self.ours(outcome)[0])

    def test_a_full_scratch(self):
        """One line, and nothing left."""
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=10", "none", self.scratch]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("cannot mount a small file system")
        try:
            with open(os.path.join(self.scratch, "full"), "wb") as f:
                f.write(b"x" * 4096)
            outcome = self.replay(2, self.made("files", "data"), "--scratch", self.scratch)
            if outcome.status != GOOD or options.mpi != "openmpi":  # OMPIO 4.1 says that such a write was good
                self.assertNotEqual(outcome.status, GOOD)
                self.assertEqual(len(self.ours(outcome)), 1, outcome.stderr)
            self.assertEqual(os.listdir(self.scratch), ["full"])
        finally:
            subprocess.run(["umount", "-l", self.scratch], check=False)

    def test_spawns_that_failed(self):
        """Nothing was started: no trace of another job is asked for, and the calls are left out."""
        trace, again = self.made("spawn_fails"), os.path.join(self.folder, "again.rfn")
        status, found = self.dry_run(trace)
        self.assertEqual((status, found["replayable"], found["refused"]), (GOOD, True, []))
        self.assertEqual(self.good(self.replay(2, trace, recorded=again))["left_out"], 2)
        done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, GOOD, done.stdout + done.stderr)
        self.assertIn(b"left_out", done.stdout)

    def test_parts_that_are_asked_for_again_and_again(self):
        """As many receives that no part reaches would be more than an MPI has memory for."""
        trace, again = self.made("polled_parts"), os.path.join(self.folder, "again.rfn")
        outcome = self.replay(2, trace, recorded=again)
        if options.mpi == "openmpi" and outcome.status == UNSUPPORTED:
            self.skipTest("this Open MPI has no MPI_Precv_init")
        self.good(outcome)
        done = subprocess.run([options.refrain, "check", again, "--replays", trace], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, GOOD, done.stdout + done.stderr)

    def test_damage(self):
        """Cut short, or with a byte too many: one line before MPI_Init, and nothing hangs."""
        with open(self.made("buffers"), "rb") as f:
            data = f.read()
        for name, bad in (("short", data[:-20]), ("long", data + b"x"), ("empty", b"")):
            path = os.path.join(self.folder, name + ".rfn")
            with open(path, "wb") as f:
                f.write(bad)
            outcome = self.replay(4, path)
            self.assertEqual((outcome.status, len(self.ours(outcome))), (FAILED, 1), (name, outcome.stderr))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--maker", required=True)
    parser.add_argument("--mpi", required=True)
    options, rest = parser.parse_known_args()
    options.refrain, options.maker = os.path.abspath(options.refrain), os.path.abspath(options.maker)
    options.libraries = os.path.abspath(options.libraries or os.path.dirname(options.refrain))
    if not mpirun.launcher(options.mpi):
        print("planned: no launcher of %s" % options.mpi)
        return SKIPPED
    return 0 if unittest.main(argv=[sys.argv[0]] + rest, exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
