#!/usr/bin/python3
"""Options typed as people type them: units, printed names, slips, and values that are not allowed.

    options.py --refrain build/refrain --corpus tests/corpus

Needs no MPI.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GOOD, FAILED, USAGE = 0, 1, 2
VERBS = ["record", "recover", "info", "dump", "check", "stats", "profile", "matrix", "waits", "iterations",
         "similarity", "report", "diff", "reduce", "cluster", "evaluate", "convert"]
COUNT = "is not a whole number from 0 up"
TIME = "is not a time from 0 up: nanoseconds, or with a unit (ns, us, ms, s, min, h), as in 20ms"
RANK = "is not the number of a rank, such as 0"
options = None


def refrain(*words, env=None):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, text=True, env={**os.environ, **(env or {})})


class Options(unittest.TestCase):
    def setUp(self):
        self.trace = os.path.join(options.corpus, "heat-1.2-exact.rfn")

    def output(self, *words):
        done = refrain(*words)
        self.assertEqual((done.returncode, done.stderr), (GOOD, ""), words)
        return done.stdout

    def refused(self, said, *words, env=None):
        """Exit status 2, and one line that has `said` in it."""
        done = refrain(*words, env=env)
        lines = done.stderr.splitlines()
        self.assertEqual((done.returncode, len(lines), done.stdout), (USAGE, 1, ""), (words, done.stderr))
        self.assertTrue(lines[0].startswith("refrain: "), lines)
        self.assertIn(said, lines[0])

    def test_help(self):
        self.assertEqual(self.output("help"), self.output("--help"))
        self.assertIn("refrain help VERB", self.output("help"))
        for verb in VERBS:
            self.assertEqual(self.output("help", verb), self.output(verb, "--help"))
            self.assertIn("refrain %s " % verb, self.output("help", verb))
        self.refused("unknown verb 'pofile'; did you mean 'profile'?", "help", "pofile")
        for words in (("help", "help"), ("help", "--help"), ("help", "-h")):
            self.assertEqual(self.output(*words), self.output("--help"))

    def test_options_that_go_together_or_not(self):
        self.assertIn("--rank INT (not with --ranks)\n", self.output("convert", "--help"))
        self.assertIn("--bytes (not with --rank, --thread, --format,", self.output("dump", "--help"))
        self.assertIn("--plan TEXT (only with --times)  Ranks", self.output("simulate", "--help"))
        for verb in VERBS:
            self.assertNotRegex(self.output(verb, "--help"), "Excludes:|Needs:")

    def test_did_you_mean(self):
        self.refused("unknown verb 'proflie'; did you mean 'profile'? (see `refrain --help`)", "proflie", self.trace)
        self.refused("unknown verb 'sing' (see `refrain --help`)", "sing")
        self.refused("unknown option --tpo; did you mean '--top'? (see `refrain profile --help`)",
                     "profile", "--tpo", "3", self.trace)
        self.refused("unknown option --formt; did you mean '--format'?", "info", self.trace, "--formt=json")
        self.refused("unknown option --tming; did you mean '--timing'? (see `refrain record --help`)",
                     "record", "--tming", "exact", "/bin/true")
        self.refused("--format: 'jsno' is none of text, json, csv; did you mean 'json'?",
                     "waits", "--format", "jsno", self.trace)
        self.refused("--timing: 'exat' is not stats, bins:BOUND, segments:METHOD or exact; did you mean 'exact'?",
                     "record", "--timing", "exat", "/bin/true")
        self.refused("--mpi: 'mpihc' is none of mpich, openmpi, abi or smpi; did you mean 'mpich'?",
                     "record", "--mpi", "mpihc", "/bin/true")
        self.refused("--to: 'otf3' is none of", "convert", "--to", "otf3", "-o", "nothing", self.trace)

    def test_record_names_the_option(self):
        for option, word, said in (("--min-bytes", "64X", "'64X' is not a size, such as 64K"),
                                   ("--max-bytes", "-1", "'-1' is not a size, such as 64K"),
                                   ("--memory", "much", "'much' is not a size, such as 64M"),
                                   ("--only", "p2q", "no function or group 'p2q'"),
                                   ("--without", "p2q", "no function or group 'p2q'")):
            self.refused("%s: %s" % (option, said), "record", option, word, "/bin/true")

    def test_an_empty_value_is_none(self):
        for verb, option in (("check", "--replays"), ("check", "--against"), ("similarity", "--times"),
                             ("diff", "--output"), ("convert", "--ranks"), ("report", "--output")):
            self.refused("%s: needs a value, and '' is none (see `refrain %s --help`)" % (option, verb),
                         verb, self.trace, option, "")

    def test_what_is_missing_or_too_much(self):
        self.refused("no verb given")
        self.refused("no trace given (see `refrain info --help`)", "info")
        self.refused("--output is required (see `refrain reduce --help`)", "reduce", self.trace)
        self.refused("--top needs a value", "profile", self.trace, "--top")
        self.refused("did not expect '%s'" % self.trace, "info", self.trace, self.trace)
        self.refused("a verb is needed in front of '%s', as in `refrain info %s`" % (self.trace, self.trace),
                     self.trace)
        self.refused("--rank and --bytes do not go together: leave one of them out",
                     "dump", "--bytes", "--rank", "0", self.trace)
        self.refused("--rank and --ranks do not go together: leave one of them out",
                     "convert", "--to", "csv", "-o", "nothing", "--rank", "0", "--ranks", "1-2", self.trace)

    def failed(self, said, *words):
        """Exit status 1, and one line that has `said` in it."""
        done = refrain(*words)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (FAILED, "", 1), (words, done.stderr))
        self.assertIn(said, done.stderr)

    def test_names_that_cannot_be(self):
        self.failed("refrain: the name of the trace is empty", "info", "")
        self.failed("/nowhere.spool: no such folder", "recover", "/nowhere.spool")
        self.failed("/nowhere: no such folder", "recover", "/nowhere")
        self.refused("did you mean", "info", self.trace, "--format", "jsn")
        self.refused("--steps: '3' is none of 1, 2 (see", "cluster", self.trace, "-o", "nothing", "--steps", "3")

    def test_a_name_with_control_characters_stays_on_its_line(self):
        with tempfile.TemporaryDirectory(prefix="refrain-options-") as folder:
            trace = os.path.join(folder, "a\n\x1b[31mb.rfn")
            shutil.copy(self.trace, trace)
            for words in (["info"], ["profile"], ["matrix"], ["waits"], ["iterations"], ["similarity"], ["check"],
                          ["diff", trace], ["check", "--replays", trace],
                          ["replay", "--dry-run"], ["evaluate", "--method", "avgWave"],
                          ["info", "--rank", "1"], ["dump", "--rank", "77"]):
                done = refrain(*words, trace)
                self.assertNotIn("\x1b", done.stdout + done.stderr, words)
                self.assertNotIn("/a\n", done.stdout + done.stderr, words)

    def test_help_that_cannot_be_written(self):
        for words in (["help"], ["help", "record"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([options.refrain, *words], stdout=full, stderr=subprocess.PIPE, timeout=60,
                                      check=False)
            self.assertEqual((done.returncode, done.stderr.count(b"\n")), (FAILED, 1), words)

    def test_devices_without_an_end(self):
        """They are read by nobody: their zeros would fill all memory."""
        for device in ("/dev/full", "/dev/zero"):
            said = device + ": cannot read the computation vectors: not a regular file"
            self.failed(said, "similarity", self.trace, "--times", device)
        self.refused("--map: /dev/zero: a map has at most 64 MiB", "record", "--messages", "all", "--map", "/dev/zero",
                     "/bin/true")
        self.refused("--map: /dev: cannot read the map: Is a directory", "record", "--messages", "all",
                     "--map", "/dev", "/bin/true")

    def test_outputs(self):
        with tempfile.TemporaryDirectory(prefix="refrain-options-") as folder:
            def path(name):
                return os.path.join(folder, name)
            trace = path("run.rfn")
            shutil.copy(self.trace, trace)
            for words in (["proxy", trace, "-o", trace, "--force"],
                          ["convert", trace, "--to", "otf2", "-o", trace, "--force"]):
                self.refused(trace + ": would be lost", *words)
            # A folder that is replaced whole, with the trace in it.
            self.output("proxy", trace, "-o", path("proxy"))
            inside = path("proxy/run.rfn")
            shutil.copy(trace, inside)
            self.refused(path("proxy") + ": would be lost", "proxy", inside, "-o", path("proxy"), "--force")
            self.refused(path("./x") + ": is named for two files that would be written", "similarity", trace,
                         "--plan", path("x"), "--svg", path("./x"))
            for words in (["report", trace], ["reduce", trace], ["cluster", trace], ["diff", trace, trace],
                          ["convert", trace, "--to", "csv"], ["proxy", trace]):
                self.refused("-: is no name of a file", *words, "-o", "-")
            self.refused("-: is no name of a file", "manual", "-o", "-")
            self.refused("-: is no name of a file", "live", "analyze", "--from", trace, "-o", "-")
            self.refused("-: is no name of a file", "live", "serve", "--dir", folder, "-o", "-")
            self.assertEqual(sorted(os.listdir(folder)), ["proxy", "run.rfn"])
            with open(trace, "rb") as mine, open(inside, "rb") as copy, open(self.trace, "rb") as there:
                self.assertEqual(len({mine.read(), copy.read(), there.read()}), 1)

    def test_counts(self):
        for verb in ("profile", "waits", "iterations"):
            for typed in ("-3", "2.5", "1e3", "many", ""):
                self.refused("--top: '%s' %s (see" % (typed, COUNT), verb, "--top", typed, self.trace)
            self.refused("--top: '-3' " + COUNT, verb, "--top=-3", self.trace)
        self.refused("--top: '-3' " + COUNT, "diff", self.trace, self.trace, "--top", "-3")
        self.refused("--first: '-1' " + COUNT, "dump", "--first", "-1", self.trace)
        self.refused("--from: 'begin' " + COUNT, "dump", "--from", "begin", self.trace)
        self.refused("--thread: '-1' is not a whole number from 0 to 4294967295", "dump", "--thread", "-1", self.trace)
        self.refused("--callpath: '99' is not a whole number from 0 to 32", "record", "--callpath", "99", "/bin/true")
        self.refused("--tolerance: '2' is not a number from 0 to 1", "evaluate", "--tolerance", "2", self.trace)
        self.refused("--flops: '0' is not a number above 0",
                     "convert", "--to", "ti", "-o", "nothing", "--flops", "0", self.trace)

    def test_ranks(self):
        for verb in ("dump", "waits"):
            self.refused("--rank: 'first' " + RANK, verb, "--rank", "first", self.trace)
            for typed in ("-1", "4"):
                self.refused("no rank %s: the trace has ranks 0 to 3" % typed, verb, "--rank", typed, self.trace)

    def test_a_variable_is_named(self):
        self.refused("REFRAIN_CALLPATH: 'deep' is not a whole number from 0 to 32", "record", "/bin/true",
                     env={"REFRAIN_CALLPATH": "deep"})
        self.refused("--callpath: 'deep' is not", "record", "--callpath", "deep", "/bin/true",
                     env={"REFRAIN_CALLPATH": "8"})
        for variable, value, said in (("TIMING", "foo", "'foo' is not stats,"), ("MPI", "foo", "'foo' is none of"),
                                      ("MEMORY", "much", "'much' is not a size"), ("BUFFERS", "2", "'2' is none of"),
                                      ("QUIET", "maybe", "'maybe' is neither 0 nor 1")):
            self.refused("refrain: REFRAIN_%s: %s" % (variable, said), "record", "/bin/true",
                         env={"REFRAIN_" + variable: value})
        self.refused("refrain: --timing: 'bar' is not stats,", "record", "--timing", "bar", "/bin/true",
                     env={"REFRAIN_TIMING": "foo"})

    def test_times_with_units(self):
        for verb in ("profile", "matrix", "waits"):
            window = self.output(verb, "--from-ns", "450000000", "--to-ns", "500000000", self.trace)
            self.assertEqual(self.output(verb, "--from-ns", "450ms", "--to-ns", "0.5s", self.trace), window)
            self.assertNotEqual(self.output(verb, self.trace), window)
        calls = self.output("dump", "--from-ns", "450000000", "--to-ns", "500000000", self.trace)
        self.assertGreater(calls.count("\n"), 10)
        self.assertEqual(self.output("dump", "--from-ns", "450 ms", "--to-ns", "500000us", self.trace), calls)
        with tempfile.TemporaryDirectory(prefix="refrain-options-") as folder:
            for name, words in (("a", ("450000000", "500000000")), ("b", ("450ms", "500ms"))):
                self.output("convert", "--to", "csv", "-o", os.path.join(folder, name), "--from-ns", words[0],
                            "--to-ns", words[1], self.trace)
            texts = []
            for name in ("a", "b"):
                with open(os.path.join(folder, name)) as f:
                    texts.append(f.read())
        self.assertEqual(texts[0], texts[1])

    def test_times_that_are_none(self):
        for verb, more in (("dump", ()), ("profile", ()), ("matrix", ()), ("waits", ()),
                           ("convert", ("--to", "csv", "-o", "nothing"))):
            for option in ("--from-ns", "--to-ns"):
                for typed in ("-1", "-1s", "soon", "1d", ""):
                    self.refused("%s: '%s' %s" % (option, typed, TIME), verb, option, typed, *more, self.trace)
        self.refused("--start-step: '2s' is not a time from 0 to", "reduce", "--start-step", "2s", "-o", "nothing",
                     self.trace)
        self.refused("--clock-interval: '-1' is not a time from 0.001 to 1e+09 seconds, or 0",
                     "record", "--clock-interval", "-1", "/bin/true")

    def test_sizes(self):
        self.assertEqual(self.output("waits", "--memory", "1G", self.trace),
                         self.output("waits", "--memory", "1024", self.trace))
        for typed in ("0", "-1", "1X", "10K"):
            self.refused("--memory: '%s' is not a whole number of MiB from 1 to 1048576, or as in 512M, 2G" % typed,
                         "waits", "--memory", typed, self.trace)
        self.refused("--max-file-bytes: '12' is not a size from 4K to 1T",
                     "convert", "--to", "perfetto", "-o", "nothing", "--max-file-bytes", "12", self.trace)

    def test_patterns_as_they_are_printed(self):
        calls = self.output("waits", "--explain", "late_sender", self.trace)
        self.assertIn("Late sender", calls)
        for typed in ("Late sender", "late sender", "LATE-SENDER"):
            self.assertEqual(self.output("waits", "--explain", typed, self.trace), calls)
        self.assertEqual(self.output("waits", "--explain", "Late sender:2", self.trace),
                         self.output("waits", "--explain", "late_sender:2", self.trace))
        self.assertEqual(self.output("waits", "--pattern", "Wait at N x N", self.trace),
                         self.output("waits", "--pattern", "wait_at_nxn", self.trace))
        self.refused("no pattern 'Late sendr'; did you mean 'Late sender'?",
                     "waits", "--explain", "Late sendr", self.trace)
        self.refused("no pattern 'gremlins'; there are all, point_to_point,", "waits", "--pattern", "gremlins",
                     self.trace)
        self.refused("'Messages in wrong order' is the name of several patterns; choose one: "
                     "late_sender_wrong_order, late_receiver_wrong_order",
                     "waits", "--pattern", "Messages in wrong order", self.trace)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--corpus", required=True)
    options, rest = parser.parse_known_args()
    options.refrain = os.path.abspath(options.refrain)
    unittest.main(argv=sys.argv[:1] + rest)
