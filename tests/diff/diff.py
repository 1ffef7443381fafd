#!/usr/bin/python3
"""refrain diff and refrain check --baseline: traces of the corpus, and real runs of changes.c.

    diff.py --refrain build/refrain --corpus tests/corpus [--mpi smpi --programs DIR --libraries DIR [--shim SO]]

Without --mpi only what needs no MPI.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

GOOD, FAILED, USAGE, CROSSED, INCOMPLETE, UNSUPPORTED = 0, 1, 2, 3, 4, 5
options = None


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-diff-")
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.temporary.name, name)

    def refrain(self, status, *words):
        """Standard output, and what stands on stderr, of a command that ends with `status`."""
        done = subprocess.run([options.refrain, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, check=False)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, status, "%s: %s" % (" ".join(words), said))
        if status == GOOD:
            self.assertEqual(said, "")
        for line in said.splitlines():
            self.assertTrue(line.startswith("refrain: "), said)
        return done.stdout.decode(), said

    def difference(self, before, after, *words):
        return json.loads(self.refrain(GOOD, "diff", before, after, "--format", "json", *words)[0])


class Corpus(Folder):
    def setUp(self):
        super().setUp()
        self.old, self.new, self.bins = (os.path.join(options.corpus, name + ".rfn") for name in (
            "heat-1.1", "heat-1.2-exact", "heat-1.2-bins"))

    def test_the_same_program_of_another_version_has_no_difference(self):
        for before, after in ((self.old, self.new), (self.new, self.bins), (self.new, self.new)):
            found = self.difference(before, after)
            self.assertTrue(found["same"])
            self.assertEqual(found["loops"] + found["partners"], [])
            self.assertEqual({call["change"] for call in found["calls"]}, {"same"})
            self.assertIn("no difference", self.refrain(GOOD, "diff", before, after)[0])
            self.assertIn("no difference", self.refrain(GOOD, "check", after, "--baseline", before)[0])

    def test_totals_are_those_of_the_profile(self):
        profile = json.loads(self.refrain(GOOD, "profile", "--format", "json", self.new)[0])["all"]
        totals = self.difference(self.new, self.new)["totals"]
        self.assertEqual(totals["calls"]["after"] + totals["polls"]["after"], profile["count"])
        self.assertEqual(totals["bytes"]["after"], profile["bytes"])
        self.assertEqual(totals["messages"]["after"], profile["messages"])

    def test_waits_are_compared_where_both_have_times(self):
        self.assertTrue(self.difference(self.new, self.bins)["waits"])
        self.assertEqual(self.difference(self.new, self.bins, "--no-waits")["waits"], [])
        self.assertIn("waits are not compared", self.refrain(GOOD, "diff", self.old, self.new)[0])
        said = self.refrain(UNSUPPORTED, "diff", self.old, self.new, "--fail-if", "waits>5%")[1]
        self.assertIn("--timing", said)

    def test_several_baselines_are_a_mean(self):
        once = self.difference(self.new, self.bins)
        words = [word for name in (self.new, self.bins, self.bins) for word in ("--baseline", name)]
        out, _ = self.refrain(GOOD, "check", self.bins, *words, "--format", "json")
        found = json.loads(out)
        self.assertEqual((once["baselines"], found["baselines"]), (1, 3))
        time = once["totals"]["time_ns"]
        mean = (time["before"] + 2 * time["after"]) / 3
        self.assertAlmostEqual(found["totals"]["time_ns"]["before"], mean, delta=1e3)
        self.assertEqual(found["totals"]["calls"], once["totals"]["calls"])
        self.assertIn("means of 3 runs", self.refrain(GOOD, "check", self.bins, *words)[0])
        self.refrain(FAILED, "check", self.bins, "--baseline", self.new, "--baseline", self.path("nothing.rfn"))

    def test_thresholds_that_nobody_understands(self):
        for bad in ("bytes", "byte>5%", "bytes>five", "bytes@MPI_Nothing>5", "ranks@main>1", ""):
            said = self.refrain(USAGE, "diff", self.new, self.new, "--fail-if", bad)[1]
            self.assertEqual(len(said.splitlines()), 1)
            self.assertIn("changed_partners", said)
        said = self.refrain(USAGE, "diff", self.new, self.new, "--fail-if", "calls@no such place>0")[1]
        self.assertIn("profile --by callpath", said)

    def test_options_that_need_a_baseline_say_so(self):
        for words in (["--fail-if", "calls>0"], ["-o", self.path("x")], ["--format", "junit"]):
            self.assertIn("--baseline", self.refrain(USAGE, "check", self.new, *words)[1])
        self.assertFalse(os.path.exists(self.path("x")))

    def test_a_file_that_is_there_stays(self):
        out = self.path("out.html")
        self.refrain(GOOD, "diff", self.new, self.bins, "--format", "html", "-o", out)
        with open(out, encoding="utf-8") as file:
            page = file.read()
        self.assertIn("no difference in the communication", page)
        for outside in ("<script", "http://", "https://", "src="):
            self.assertNotIn(outside, page)
        self.assertIn("--force", self.refrain(USAGE, "diff", self.new, self.bins, "-o", out)[1])
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), page)
        self.refrain(GOOD, "diff", self.new, self.bins, "-o", out, "--force")
        self.assertEqual(os.listdir(self.temporary.name), ["out.html"])
        self.refrain(FAILED, "diff", self.new, self.bins, "-o", self.path("no/folder"))

    def test_a_damaged_trace_is_one_clear_line(self):
        bad = self.path("bad.rfn")
        with open(self.new, "rb") as file:
            text = file.read()
        with open(bad, "wb") as file:
            file.write(text[:1000] + b"\x55" + text[1001:])
        for words in (("diff", bad, self.new), ("diff", self.new, bad), ("check", self.new, "--baseline", bad)):
            out, said = self.refrain(FAILED, *words)
            self.assertEqual((out, len(said.splitlines())), ("", 1))


class Programs(Folder):
    """Real runs."""

    def record(self, ranks, *words, program="changes", record=(), status=GOOD):
        self.count = getattr(self, "count", 0) + 1
        trace = self.path("run%d.rfn" % self.count)
        wrapper = [options.refrain, "record", "--quiet", "-o", trace, *record]
        command = [os.path.join(options.programs, program), *words]
        environment = dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries)
        if options.mpi == "smpi":
            done = smpi.run(smpi.command_line(ranks, command, wrapper, self.temporary.name), 100, environment)
            self.assertEqual(done.status, status, done.output)
        else:
            done = mpirun.run_job(options.mpi, ranks, command, timeout=100, wrapper=wrapper,
                              preload=[options.shim] if options.shim else [],
                              env={"REFRAIN_LIBRARY_PATH": options.libraries})
            self.assertEqual(done.status, status, done.stderr)
        return trace

    def changed(self, found):
        return {(c["call"], c["change"]) for c in found["calls"] if c["change"] != "same"}

    def test_the_same_run_again(self):
        before, after = self.record(4, "20", "64"), self.record(4, "20", "64")
        found = self.difference(before, after)
        self.assertTrue(found["same"], self.changed(found))
        self.assertGreaterEqual(found["totals"]["polls"]["before"], 4)
        self.refrain(GOOD, "check", after, "--baseline", before)

    def test_more_iterations(self):
        before, after = self.record(4, "20", "64"), self.record(4, "30", "64")
        found = self.difference(before, after)
        self.assertEqual(self.changed(found), {("MPI_" + name, "changed") for name in (
            "Irecv", "Isend", "Waitall", "Allreduce")})
        [loop] = found["loops"]
        self.assertEqual(loop["iterations"], {"before": 20, "after": 30})
        self.assertEqual({found["calls"][i]["call"] for i in loop["calls_after"]},
                         {"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce"})
        out, said = self.refrain(CROSSED, "check", after, "--baseline", before)
        self.assertIn("calls<>0", said)
        self.assertIn("FAILED  changed_loops>0", out)
        self.refrain(GOOD, "check", after, "--baseline", before, "--fail-if", "calls>60%", "--fail-if", "bytes<0")
        self.refrain(CROSSED, "diff", after, before, "--fail-if", "bytes@MPI_Isend<-30%")
        self.refrain(GOOD, "diff", after, before, "--fail-if", "bytes@MPI_Isend<-34%")
        self.refrain(CROSSED, "diff", after, before, "--fail-if", "calls@exchange<>10")

    def test_larger_messages(self):
        before, after = self.record(4, "20", "64"), self.record(4, "20", "65")
        found = self.difference(before, after)
        self.assertEqual(self.changed(found), {("MPI_Irecv", "changed"), ("MPI_Isend", "changed")})
        self.assertEqual(found["totals"]["bytes"]["after"] - found["totals"]["bytes"]["before"], 4 * 20 * 4 * 8)
        text, said = self.refrain(CROSSED, "diff", before, after, "--fail-if", "bytes>+1%")
        self.assertIn("count=64 -> count=65", text)
        self.assertIn("changes.c:", text)
        self.assertIn("bytes>+1%", said)

    def test_a_later_version_of_the_program(self):
        before, after = self.record(4, "20", "64"), self.record(4, "20", "64", program="changes_later")
        found = self.difference(before, after)
        self.assertEqual(self.changed(found), {("MPI_Bcast", "appeared")})
        self.assertEqual([loop["change"] for loop in found["loops"]], ["changed"])
        [call] = [c for c in found["calls"] if c["call"] == "MPI_Bcast"]
        self.assertEqual(call["calls"], {"before": 0, "after": 80})
        said = self.refrain(CROSSED, "check", after, "--baseline", before)[1]
        self.assertIn("new_paths>0", said)

    def test_a_baseline_whose_program_is_gone(self):
        """Nothing resolves the call sites of the baseline: they are found by what they call."""
        home = self.path("home")
        os.mkdir(home)
        shutil.copy(os.path.join(options.programs, "changes"), home)
        programs, options.programs = options.programs, home
        try:
            before = self.record(4, "20", "64")
        finally:
            options.programs = programs
        os.remove(os.path.join(home, "changes"))
        shutil.copy(os.path.join(programs, "changes_later"), home)
        after = self.record(4, "20", "64", program="changes_later")
        self.assertEqual(self.changed(self.difference(before, after)), {("MPI_Bcast", "appeared")})

    def test_another_number_of_ranks(self):
        before, after = self.record(4, "20", "64"), self.record(9, "20", "64")
        found = self.difference(before, after)
        self.assertTrue(found["per_rank"])
        self.assertEqual((found["before"]["ranks"], found["after"]["ranks"]), (4, 9))
        self.assertFalse({change for _, change in self.changed(found)} & {"appeared", "vanished"})
        for name in ("calls", "bytes", "messages"):
            self.assertEqual(found["totals"][name]["before"], found["totals"][name]["after"])
        self.assertIn("9 ranks", self.refrain(GOOD, "diff", before, after)[0])
        self.assertIn("ranks<>0", self.refrain(CROSSED, "check", after, "--baseline", before)[1])

    def test_junit_is_xml_with_a_test_for_each_threshold(self):
        before, after = self.record(4, "20", "64"), self.record(4, "20", "65")
        out = self.path("out.xml")
        self.refrain(CROSSED, "check", after, "--baseline", before, "--format", "junit", "-o", out,
                     "--fail-if", "bytes@MPI_Isend>1%", "--fail-if", "calls<>0")
        suites = xml.parse(out).getroot()
        self.assertEqual((suites.tag, suites.get("tests"), suites.get("failures")), ("testsuites", "8", "1"))
        failed = [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None]
        self.assertEqual(failed, ["bytes@MPI_Isend>1%"])
        self.assertIn("count=64 -> count=65", next(suites.iter("failure")).text)

    def test_an_incomplete_trace_is_compared_all_the_same(self):
        if options.mpi == "smpi":
            self.skipTest("there is no spool under SMPI")
        before, trace = self.record(4, "20", "64"), self.path("dead.rfn")
        wrapper = [options.refrain, "record", "--quiet", "-o", trace]
        mpirun.run_job(options.mpi, 4, [os.path.join(options.programs, "changes"), "20", "64", "abort"], timeout=100,
                   wrapper=wrapper, preload=[options.shim] if options.shim else [],
                   env={"REFRAIN_LIBRARY_PATH": options.libraries})
        subprocess.run([options.refrain, "recover", trace + ".spool", "-o", trace], capture_output=True,
                       timeout=60, check=False)
        out, said = self.refrain(INCOMPLETE, "diff", before, trace)
        self.assertIn("incomplete", out)
        self.assertIn("incomplete", said)
        self.assertIn("MPI_Finalize", out)
        self.refrain(CROSSED, "check", trace, "--baseline", before)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--mpi", choices=("mpich", "openmpi", "smpi"))
    parser.add_argument("--programs")
    parser.add_argument("--libraries")
    parser.add_argument("--shim", default="")
    options, rest = parser.parse_known_args()
    if options.mpi and mpirun.launcher(options.mpi) is None:
        print("skip  there is no %s" % options.mpi)
        return 77
    case = Programs if options.mpi else Corpus
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    if rest:
        suite = unittest.defaultTestLoader.loadTestsFromNames(["%s.%s" % (case.__name__, name) for name in rest],
                                                              sys.modules[__name__])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
