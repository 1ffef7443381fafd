#!/usr/bin/python3
"""refrain record --cluster: what it writes is what `refrain cluster` makes of the full trace, byte for byte.

    record_clusters.py --mpi mpich --refrain build/release/refrain --programs DIR --libraries build/release/src/tracer
        [--sample]
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpirun  # noqa: E402

GOOD, USAGE = 0, 2
RANKS = 6  # 3 x 2: each a kind of its own but for the two in the middle
# A rank that sets a variable for itself: rank, its text, and the words of the command behind.
ONE_RANK = 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = "$0" ]; then export "$1"; fi; shift; exec "$@"'
SAMPLE = ["test_by_kinds", "test_as_few_as_keep_an_error",
          "test_ranks_with_fewer_calls_take_those_of_their_lead", "test_lead_calls_are_paired_anew_and_replayed",
          "test_ranks_that_disagree_get_no_clusters"]
options = None


def refrain(*words):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)


class RecordedClusters(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-record-clusters-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def record(self, what, words, ranks=RANKS, libraries=None, wrapper=()):
        """What the recorder said; the trace is run.rfn."""
        command = list(wrapper) + [options.refrain, "record", "-o", self.path("run.rfn")] + list(words) + [
            os.path.join(options.programs, "kinds_" + options.mpi), what, "4"]
        if options.mpi == "smpi":
            command = [os.path.join(options.programs, "kinds_smpi"), what, "4"]
            wrapper = list(wrapper) + [options.refrain, "record", "-o", self.path("run.rfn")] + list(words)
        else:
            wrapper = ()
        done = mpirun.run_job(options.mpi, ranks, command, 100, cwd=self.temporary.name, wrapper=wrapper,
                              job_env={"REFRAIN_LIBRARY_PATH": libraries or options.libraries, "REFRAIN_QUIET": ""})
        self.assertEqual(done.status, 0, done.stderr[-600:])
        return done.stderr.decode(errors="replace")

    def info(self, name="run.rfn"):
        done = refrain("info", "--format", "json", self.path(name))
        self.assertEqual(done.returncode, GOOD, done.stderr)
        return json.loads(done.stdout)

    def losses(self):
        return {loss["reason"]: loss for loss in self.info()["losses"]}

    def equal(self, what, of_record, of_verb, timing=("--timing", "exact"), ranks=RANKS):
        """Recorded with clusters, and clustered afterwards."""
        said = self.record(what, (*timing, "--exact-copy", self.path("full.rfn"), *of_record), ranks)
        self.assertNotIn("no rank stands", said)
        done = refrain("cluster", self.path("full.rfn"), "-o", self.path("after.rfn"), "--force", "--format", "json",
                       *of_verb)
        self.assertEqual(done.returncode, GOOD, done.stderr)
        self.assertEqual(self.info("full.rfn")["losses"], [])
        self.assertEqual(self.bytes_of("run.rfn"), self.bytes_of("after.rfn"), (what, of_record))
        checked = refrain("check", self.path("run.rfn"))
        self.assertEqual(checked.returncode, GOOD, checked.stdout)
        return json.loads(done.stdout)

    def test_by_kinds(self):
        said = self.equal("stencil", ("--cluster", "kinds"), ("--k", "kinds"))
        self.assertEqual(said["cluster_count"], 6)
        self.assertEqual(len(self.info()["clusters"]["list"]), 6)

    def test_ranks_that_are_all_leads_lose_nothing(self):
        said = self.record("stencil", ("--timing", "exact", "--cluster", "kinds"))
        self.assertIn("no losses; next: ", said)
        self.assertIn(" waits ", said)
        text = refrain("info", self.path("run.rfn")).stdout.decode()
        self.assertRegex(text, r"losses +none\n")

    def test_a_number_of_clusters_in_the_papers_way(self):
        words = ("--mix", "--assign", "tree")
        said = self.equal("stencil", ("--cluster", "2", *words), ("--k", "2", *words))
        self.assertEqual(said["cluster_count"], 2)
        self.assertFalse(said["replayable"])

    def test_ranks_with_fewer_calls_take_those_of_their_lead(self):
        words = ("--mix", "--endpoints", "lead", "--assign", "tree")
        for timing in (("--timing", "exact"), ()):
            said = self.equal("stencil", ("--cluster", "2", *words), ("--k", "2", *words), timing)
            self.assertEqual((said["cluster_count"], said["endpoints"]), (2, "lead"))

    def test_tags_in_two_steps(self):
        words = ("--steps", "2", "--distance", "euclidean")
        said = self.equal("tags", ("--cluster", "2", *words), ("--k", "2", *words))
        self.assertEqual(sorted(c["ranks"] for c in said["clusters"]), [RANKS // 2, RANKS // 2])
        self.assertEqual(self.losses()["stood_for"]["calls"],
                         sum(c["calls"] for c in said["clusters"]) * (RANKS - 2) // RANKS)
        # Only leads have times of their own.
        self.assertEqual(self.info()["clusters"]["stood_for_ranks"], RANKS - 2)

    def test_as_few_as_keep_an_error(self):
        words = ("--metric", "profile", "--seed", "3")
        said = self.equal("tags", ("--cluster", "auto:0.9", *words), ("--k", "auto:0.9", *words))
        self.assertLess(said["error"]["predicted"], 0.9)

    def test_lead_endpoints(self):
        words = ("--endpoints", "lead")
        said = self.equal("tags", ("--cluster", "2", *words), ("--k", "2", *words))
        self.assertEqual(said["endpoints"], "lead")
        self.assertFalse(os.path.exists(self.path("run.rfn.members")))

    def test_lead_calls_are_paired_anew_and_replayed(self):
        if options.mpi == "smpi":
            self.skipTest("there is no replay under SMPI")
        words = ("--endpoints", "lead")
        said = self.equal("mirror", ("--cluster", "1", *words), ("--k", "1", *words))
        self.assertEqual(said["cluster_count"], 1)
        self.assertTrue(said["replayable"], said)
        self.assertLess(said["matching"]["DEST"]["share"], 1)  # the file keeps the lead's distances
        done = refrain("replay", "--dry-run", self.path("run.rfn"))
        self.assertEqual(done.returncode, GOOD, done.stdout + done.stderr)
        # Rank 0 sends five further; so every send and receive but those of the ring's neighbours is moved.
        self.assertIn(b"have another partner", done.stderr)
        self.assertIn(b"0 none", done.stderr.replace(b", ", b" "))
        for compute in ("none", "spin"):
            made = mpirun.run_job(options.mpi, RANKS, [options.refrain, "replay", "--stall", "20", "--compute", compute,
                                                       "--format", "json", self.path("run.rfn")], 100,
                                  env={"REFRAIN_LIBRARY_PATH": options.libraries})
            self.assertEqual(made.status, 0, made.stderr[-600:])
            self.assertEqual(json.loads(made.stdout)["calls"], sum(c["calls"] for c in said["clusters"]))

    def test_without_times_of_calls(self):
        self.equal("stencil", ("--cluster", "kinds"), ("--k", "kinds"), timing=())

    def test_more_clusters_than_ranks_is_said_and_counted(self):
        said = self.record("tags", ("--cluster", str(RANKS + 1)))
        self.assertIn("asks for 7 clusters of 6 ranks", said)
        self.assertEqual(self.losses()["not_clustered"]["calls"], 1)
        self.assertEqual(refrain("cluster", self.path("run.rfn"), "-o", self.path("after.rfn")).returncode, GOOD)

    def test_without_the_library_there_are_no_clusters(self):
        os.mkdir(self.path("lib"))
        shutil.copy(os.path.join(options.libraries, "librefrain-%s.so" % options.mpi), self.path("lib"))
        said = self.record("tags", ("--cluster", "2"), libraries=self.path("lib"))
        self.assertEqual(said.count("no rank stands for others"), 1, said)
        self.assertIn("librefrain-cluster.so", said)
        self.assertEqual(list(self.losses()), ["not_clustered"])

    def test_ranks_that_disagree_get_no_clusters(self):
        if options.mpi == "smpi":
            self.skipTest("its ranks have one environment")
        for value in ("REFRAIN_CLUSTER=3", "REFRAIN_CLUSTER=", "REFRAIN_ASSIGN=tree"):
            said = self.record("tags", ("--timing", "exact"),
                               wrapper=("env", "REFRAIN_CLUSTER=2", "sh", "-c", ONE_RANK, "1", value))
            self.assertEqual(said.count("do not agree about --cluster"), 1, said)
            loss = self.losses()
            self.assertEqual(list(loss), ["not_clustered"])
            self.assertEqual(loss["not_clustered"]["calls"], 1)
            os.remove(self.path("run.rfn"))

    def test_bad_words_are_one_line(self):
        program = os.path.join(options.programs, "kinds_" + options.mpi)
        for words, part in ((("--cluster", "0"), "--cluster"), (("--cluster", "auto:1"), "--cluster"),
                            (("--cluster", "auto:0"), "--cluster"), (("--cluster", "some"), "--cluster"),
                            (("--cluster", "2", "--assign", "guess"), "--assign"),
                            (("--cluster", "2", "--steps", "3"), "--steps"),
                            (("--cluster", "auto", "--metric", "luck"), "--metric"),
                            (("--cluster", "auto", "--seed", "x"), "--seed"),
                            (("--cluster", "2", "--totals", "off"), "--totals"),
                            (("--cluster", "2", "--timing", "exact", "--no-compress"), "--no-compress"),
                            (("--cluster", "2", "--endpoints", "lead", "--timing", "segments:avgWave"), "--endpoints"),
                            (("--assign", "tree"), "needs --cluster"), (("--mix",), "needs --cluster")):
            done = refrain("record", "-o", self.path("run.rfn"), *words, program)
            text = done.stderr.decode()
            self.assertEqual(done.returncode, USAGE, (words, text))
            self.assertEqual(len(text.splitlines()), 1, text)
            self.assertIn(part, text)
            self.assertFalse(os.path.exists(self.path("run.rfn")))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", required=True)
    for name in ("--refrain", "--programs", "--libraries"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--sample", action="store_true", help="what depends on the MPI most")
    options, rest = parser.parse_known_args()
    if options.sample:
        rest += ["RecordedClusters." + name for name in SAMPLE]
    if not mpirun.launcher(options.mpi):
        print("skip  no launcher of %s" % options.mpi)
        sys.exit(77)
    program = unittest.main(argv=[sys.argv[0]] + rest, exit=False)
    sys.exit(0 if program.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
