#!/usr/bin/python3
"""Bad input: one clear line, the right exit status, no crash, and no file that only looks whole.

    bad_input.py --refrain build/src/cli/refrain --programs mpich=build/tests/programs/mpich ...

Works on the release build and on one with sanitizers (whose reports are more than one line, or
another exit status, and so are found here). --seed and --rounds repeat or widen the damage tests.
"""
import argparse
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

MAJOR_OFFSET = 8  # docs/format.md, the header
GOOD, FAILED, USAGE, INCOMPLETE, UNSUPPORTED = 0, 1, 2, 4, 5
VERBS = [["info"], ["info", "--format", "json"], ["dump"], ["dump", "--format", "jsonl"], ["check"], ["stats"],
         ["profile", "--format", "json"], ["matrix", "--format", "csv"], ["replay", "--dry-run"]]
# Needs times of single calls: a good trace without them is not supported.
WAITS = ["waits", "--format", "json"]
# Shows a damaged file too, as far as it can be told, says there where it stopped, and fails like the others.
BYTES = ["dump", "--bytes"]
options = None


def refrain(*words, **keywords):
    return subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, **keywords)


def one_line(test, done, *statuses):
    """The command failed with one of these exit statuses, and said why in one line."""
    text = done.stderr.decode(errors="replace")
    what = "%s -> %d: %r" % (" ".join(done.args[1:]), done.returncode, text[:1500])
    test.assertIn(done.returncode, statuses, what)
    lines = text.splitlines()
    test.assertEqual(len(lines), 1, what)
    test.assertTrue(lines[0].startswith("refrain"), what)
    test.assertLess(len(lines[0]), 480, what)
    return lines[0]


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-bad-")
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.listdir(self.folder))

    def record(self, mpi, ranks, *words, output=None, env=None, program="exit_status"):
        settings = {"REFRAIN_LIBRARY_PATH": options.libraries}
        settings.update(env or {})
        command = [options.refrain, "record", "-o", output or self.path("t.rfn")] + list(words)
        if program:
            command += ["--", os.path.join(options.programs[mpi], program)]
        preload = mpirun.shims(mpi, options.shim)
        return mpirun.run_job(mpi, ranks, command, 60, preload, settings, cwd=self.folder)


class Usage(Folder):
    def test_unknown_verb_and_option(self):
        one_line(self, refrain("sing"), USAGE)
        one_line(self, refrain("info", "--loud", "x.rfn"), USAGE)
        one_line(self, refrain("dump", "--format", "yaml", "x.rfn"), USAGE)
        one_line(self, refrain("record"), USAGE)
        one_line(self, refrain("record", "-o"), USAGE)
        one_line(self, refrain("record", "--loud", "/bin/true"), USAGE)
        one_line(self, refrain("record", "--mpi", "lam", "/bin/true"), USAGE)
        one_line(self, refrain("record", "--timing", "sundial", "/bin/true"), USAGE)
        for verb in VERBS + [WAITS]:
            one_line(self, refrain(verb[0]), USAGE)

    def test_help_is_no_error(self):
        for words in ([], ["record"], ["dump"], ["info"], ["check"], ["stats"], ["profile"], ["matrix"],
                      ["waits"]):
            done = refrain(*words, "--help")
            self.assertEqual((done.returncode, done.stderr), (GOOD, b""))
            self.assertIn(b"refrain", done.stdout)

    def test_not_an_mpi_program(self):
        line = one_line(self, refrain("record", "-o", self.path("t.rfn"), "/bin/ls"), USAGE, UNSUPPORTED)
        self.assertIn("MPI", line)
        one_line(self, refrain("record", "-o", self.path("t.rfn"), self.path("absent")), USAGE)
        with open(self.path("text"), "w") as f:
            f.write("no program\n")
        one_line(self, refrain("record", "-o", self.path("t.rfn"), self.path("text")), USAGE)
        os.chmod(self.path("text"), 0o755)
        one_line(self, refrain("record", "-o", self.path("t.rfn"), self.path("text")), USAGE, FAILED, UNSUPPORTED)
        self.assertEqual(self.files(), ["text"])

    def test_what_is_read_is_not_written_over(self):
        trace = self.path("run.rfn")
        corpus = os.path.join(HERE, "..", "corpus", "heat-1.6-exact.rfn")
        shutil.copy(corpus, trace)
        os.symlink("run.rfn", self.path("other.rfn"))
        machine = self.path("m.toml")
        with open(machine, "w") as f:
            f.write("")
        for words in (["cluster", trace, "-o", trace], ["cluster", trace, "-o", self.path("other.rfn")],
                      ["report", trace, "-o", trace],
                      ["convert", trace, "--to", "csv", "-o", trace], ["diff", trace, corpus, "-o", trace],
                      ["check", trace, "--baseline", corpus, "-o", trace],
                      ["simulate", trace, "--machine", machine, "-o", trace],
                      ["simulate", trace, "--machine", machine, "-o", machine],
                      ["predict", trace, "--machine", machine, "--svg", machine],
                      ["similarity", trace, "--plan", trace]):
            line = one_line(self, refrain(*words, "--force"), USAGE)
            self.assertIn("would be lost", line)
        with open(trace, "rb") as mine, open(corpus, "rb") as there:
            self.assertEqual(mine.read(), there.read())

    def test_launcher_in_the_wrong_place(self):
        for launcher in ("mpiexec", "mpirun", "mpiexec.mpich", "mpirun.openmpi", "srun"):
            line = one_line(self, refrain("record", "-o", "x.rfn", launcher, "-n", "4", "./app", "in put"), USAGE)
            self.assertIn("%s -n 4 refrain record -o x.rfn ./app 'in put'" % launcher, line)

    def test_files_that_are_no_traces(self):
        with open(self.path("empty.rfn"), "w"):
            pass
        with open(self.path("text.rfn"), "w") as f:
            f.write("this is no trace, whatever its name says\n" * 20)
        for verb in VERBS + [WAITS]:
            one_line(self, refrain(*verb, self.path("absent.rfn")), FAILED)
            one_line(self, refrain(*verb, self.path("empty.rfn")), FAILED)
            one_line(self, refrain(*verb, self.path("text.rfn")), FAILED)
            one_line(self, refrain(*verb, self.folder), FAILED)
        one_line(self, refrain(*BYTES, self.path("absent.rfn")), FAILED)
        for name in ("empty.rfn", "text.rfn"):
            done = refrain(*BYTES, self.path(name))
            one_line(self, done, FAILED)
            self.assertIn(b"not a Refrain trace", done.stdout)

    def test_things_that_are_no_files(self):
        os.mkfifo(self.path("fifo.rfn"))
        os.symlink(self.path("loop.rfn"), self.path("loop.rfn"))
        with open(self.path("huge.rfn"), "wb") as f:
            f.truncate(1 << 38)  # takes no room on the disk; reading it would take it in memory
        for verb in VERBS + [BYTES]:
            for path in (self.path("fifo.rfn"), "/dev/null", "/dev/zero", self.path("loop.rfn"), self.folder, ""):
                one_line(self, refrain(*verb, path), FAILED)
            one_line(self, refrain(*verb, self.path("huge.rfn")), FAILED)

    def test_a_name_stays_in_its_line(self):
        path = self.path("two\nlines\x1b[31m.rfn")
        line = one_line(self, refrain("info", path), FAILED)
        self.assertIn("two?lines?[31m.rfn", line)

    def test_bytes_are_of_the_whole_file(self):
        for words in (["--rank", "0"], ["--thread", "0"], ["--from", "1"], ["--first", "1"], ["--no-resolve"],
                      ["--format", "jsonl"]):
            one_line(self, refrain(*BYTES, *words, "x.rfn"), USAGE)


class Recording(Folder):
    """Things that go wrong where the program runs: the program wins."""

    def test_no_library_for_this_mpi(self):
        for mpi in sorted(options.programs):
            empty = self.path("nothing_" + mpi)
            os.mkdir(empty)
            copy = os.path.join(empty, "refrain")
            with open(options.refrain, "rb") as source, open(copy, "wb") as target:
                target.write(source.read())
            os.chmod(copy, 0o755)
            done = subprocess.run([copy, "record", "-o", self.path("t.rfn"),
                                   os.path.join(options.programs[mpi], "exit_status")], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            line = one_line(self, done, UNSUPPORTED)
            self.assertIn("librefrain-%s.so" % mpi, line)

    def test_an_output_that_is_no_trace(self):
        mpi = sorted(options.programs)[0]
        program = self.copy_of(mpi, "program", 0o755)
        with open(program, "rb") as f:
            before = f.read()
        done = self.record(mpi, 1, program, output=program, program=None)
        self.assertNotEqual(done.status, GOOD)
        self.assertIn(b"is no trace: it would be lost", done.stderr)
        with open(program, "rb") as f:
            self.assertEqual(f.read(), before)
        with open(self.path("empty.rfn"), "w"):
            pass
        for output in ("empty.rfn", "empty.rfn"):  # the second time it is a trace
            self.assertEqual(self.record(mpi, 1, program, output=self.path(output), program=None).status, 7)
        os.symlink(".", self.path("here"))
        done = self.record(mpi, 1, "--timing", "bins:0.02", "--exact-copy", self.path("here/t.rfn"), program,
                           program=None)
        self.assertIn(b"give it a name of its own", done.stderr)

    def copy_of(self, mpi, name, mode, owner=None):
        path = self.path(name)
        shutil.copy(os.path.join(options.programs[mpi], "exit_status"), path)
        if owner is not None:
            os.chown(path, owner, owner)
        os.chmod(path, mode)  # after chown, which takes these bits away
        return path

    def test_programs_with_other_rights(self):
        """The system preloads nothing into them: said beforehand, and nothing is run."""
        mpi = sorted(options.programs)[0]
        if os.geteuid() == 0:
            others = [self.copy_of(mpi, "other_user", 0o4755, 65534), self.copy_of(mpi, "other_group", 0o2755, 65534)]
        else:
            others = [p for p in ("/usr/bin/su", "/bin/su", "/usr/bin/passwd") if os.path.exists(p)
                      and os.stat(p).st_mode & stat.S_ISUID][:1]
        for program in others:
            line = one_line(self, refrain("record", "-o", self.path("t.rfn"), program), UNSUPPORTED)
            self.assertIn("setuid or setgid", line)
            self.assertIn(program, line)
        self.assertFalse([f for f in self.files() if f.startswith("t.rfn")])
        # Rights that are ours anyway change nothing, nor does the bit without the right to execute.
        for name, mode in (("own", 0o6755), ("locked", 0o2745)):
            self.copy_of(mpi, name, mode)
            done = self.record(mpi, 2, self.path(name), program=None)
            self.assertEqual(done.status, 7, done.stderr)
            self.assertEqual(refrain("check", self.path("t.rfn")).returncode, GOOD)
            os.remove(self.path("t.rfn"))

    def test_program_with_capabilities(self):
        tools = [shutil.which("setcap", path=os.environ["PATH"] + ":/usr/sbin:/sbin"), shutil.which("setpriv")]
        nobody = [tools[1], "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        if os.geteuid() != 0 or None in tools or subprocess.run(
                nobody + ["test", "-x", options.refrain], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs root, setcap, setpriv and a build that others can run")
        os.chmod(self.folder, 0o755)
        program = self.copy_of(sorted(options.programs)[0], "capable", 0o755)
        if subprocess.run([tools[0], "cap_net_bind_service+ep", program], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("the file system has no capabilities")
        done = subprocess.run(nobody + [options.refrain, "record", "-o", "/tmp/never.rfn", program],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertIn("setuid or setgid", one_line(self, done, UNSUPPORTED))

    def test_output_in_no_folder(self):
        for mpi in sorted(options.programs):
            done = self.record(mpi, 2, output=self.path("absent/t.rfn"))
            lines = [l for l in done.stderr.decode().splitlines() if l.startswith("refrain")]
            self.assertEqual(done.status, FAILED, done.stderr)
            self.assertEqual(len(lines), 1, done.stderr)
            done = self.record(mpi, 1, output=self.folder)
            self.assertEqual(done.status, FAILED, done.stderr)
            self.assertEqual(self.files(), [])

    def test_output_of_a_long_name(self):
        """The files beside it have longer names: it would be found when the program is done."""
        most = os.pathconf(self.folder, "PC_NAME_MAX") - 20
        for mpi in sorted(options.programs):
            for length, status in ((most, 7), (most + 1, FAILED)):
                name = self.path("t" * (length - 4) + ".rfn")
                done = self.record(mpi, 1, output=name)
                self.assertEqual(done.status, status, done.stderr)
                self.assertEqual(os.path.exists(name), status == 7)
            lines = [l for l in done.stderr.decode().splitlines() if l.startswith("refrain")]
            self.assertEqual(len(lines), 1, done.stderr)
            self.assertIn("has %d bytes, and at most %d are possible" % (most + 1, most), lines[0])
            os.remove(self.path("t" * (most - 4) + ".rfn"))

    def test_output_folder_vanishes_meanwhile(self):
        """Found at the end only: the program still ends as it would, and one line says what is lost."""
        for mpi in sorted(options.programs):
            os.mkdir(self.path("gone"))
            done = self.record(mpi, 2, output=self.path("gone/t.rfn"), program="remove_folder",
                               env={"REFRAIN_TEST_DIR": self.path("gone"), "REFRAIN_SPOOL": "off"})
            lines = [l for l in done.stderr.decode().splitlines() if l.startswith("refrain")]
            self.assertEqual(done.status, 0, done.stderr)
            self.assertEqual(len(lines), 1, done.stderr)
            self.assertEqual(self.files(), [])

    def test_output_is_whole_or_not_there(self):
        for mpi in sorted(options.programs):
            done = self.record(mpi, 2)
            self.assertEqual(done.status, 7, done.stderr)
            self.assertEqual(self.files(), ["t.rfn"])
            self.assertEqual(refrain("check", self.path("t.rfn")).returncode, GOOD)
            self.assertIn("is a trace", one_line(self, refrain("recover", self.path("t.rfn")), USAGE))
            mode = stat.S_IMODE(os.stat(self.path("t.rfn")).st_mode)
            mask = os.umask(0)
            os.umask(mask)
            self.assertEqual(mode, 0o666 & ~mask)
            os.remove(self.path("t.rfn"))
            self.record(mpi, 2, program="abort")
            # An aborted job leaves its spool, and what is recovered of it is whole too.
            self.assertEqual(self.files(), ["t.rfn.spool"])
            self.assertEqual(refrain("check", self.path("t.rfn")).returncode, FAILED)
            self.assertEqual(refrain("recover", self.path("t.rfn.spool")).returncode, GOOD)
            self.assertEqual(self.files(), ["t.rfn"])
            self.assertEqual(refrain("check", self.path("t.rfn")).returncode, INCOMPLETE)
            os.remove(self.path("t.rfn"))


class Damage(Folder):
    """A trace that was cut or changed, byte by byte and bit by bit, under every verb."""

    @classmethod
    def setUpClass(cls):
        cls.traces = []
        for mpi in sorted(options.programs):
            for program, words in (("comm_basic", []), ("random_mix", ["5", "60"])):
                with tempfile.TemporaryDirectory(prefix="refrain-bad-") as folder:
                    path = os.path.join(folder, "t.rfn")
                    preload = mpirun.shims(mpi, options.shim)
                    command = [options.refrain, "record", "-o", path, "--",
                               os.path.join(options.programs[mpi], program)] + words
                    done = mpirun.run_job(mpi, 3, command, 60, preload,
                                          {"REFRAIN_LIBRARY_PATH": options.libraries})
                    if done.status != 0:
                        raise RuntimeError("cannot record %s: %r" % (program, done.stderr[-500:]))
                    with open(path, "rb") as f:
                        cls.traces.append(f.read())
            break  # the reader does not care which MPI wrote it
        cls.random = random.Random(options.seed)

    def write(self, data):
        with open(self.path("d.rfn"), "wb") as f:
            f.write(data)
        return self.path("d.rfn")

    def verb_is_calm(self, verb, data, what):
        """It reads the file or refuses it in one line; it never crashes and never hangs."""
        done = refrain(*verb, self.write(data))
        text = done.stderr.decode(errors="replace")
        where = "%s (seed %d): %s -> %d %r" % (what, options.seed, " ".join(verb), done.returncode, text[:1500])
        self.assertIn(done.returncode, (GOOD, FAILED, INCOMPLETE, UNSUPPORTED), where)
        if done.returncode:
            self.assertEqual(len(text.splitlines()), 1, where)
        return done.returncode

    def test_cut_short(self):
        for data in self.traces:
            lengths = {self.random.randrange(len(data)) for _ in range(options.rounds)} | {1, 4, 8, len(data) - 1}
            for length in sorted(lengths):
                for verb in [["check"], self.random.choice(VERBS)]:
                    status = self.verb_is_calm(verb, data[:length], "cut to %d" % length)
                    self.assertNotEqual(status, GOOD, "cut to %d: `%s` is content" % (length, " ".join(verb)))
                status = self.verb_is_calm(BYTES, data[:length], "cut to %d" % length)
                self.assertEqual(status, FAILED, "cut to %d: `dump --bytes` is content" % length)

    def test_more_than_there_should_be(self):
        for data in self.traces:
            for verb in VERBS + [BYTES]:
                self.assertEqual(self.verb_is_calm(verb, data + b"x", "one byte more"), FAILED)
        path = self.write(self.traces[0])
        os.truncate(path, 1 << 38)  # a hole: costs no room, and no memory either
        for verb in VERBS + [BYTES]:
            self.assertIn("its header says", one_line(self, refrain(*verb, path), FAILED))

    def test_flipped_bits(self):
        for data in self.traces:
            for _ in range(4 * options.rounds):
                damaged = bytearray(data)
                place, bit = self.random.randrange(len(data)), self.random.randrange(8)
                damaged[place] ^= 1 << bit
                what = "byte %d bit %d" % (place, bit)
                # Every byte is under a checksum or has one right value: check never misses one.
                self.assertNotEqual(self.verb_is_calm(["check"], bytes(damaged), what), GOOD,
                                    "%s: check is content" % what)
                self.verb_is_calm(self.random.choice(VERBS + [BYTES]), bytes(damaged), what)

    def test_noise(self):
        for data in self.traces:
            for _ in range(options.rounds):
                damaged = bytearray(data)
                start = self.random.randrange(len(data))
                for i in range(start, min(len(data), start + self.random.randrange(1, 40))):
                    damaged[i] = self.random.randrange(256)
                self.verb_is_calm(self.random.choice(VERBS + [BYTES]), bytes(damaged), "noise at %d" % start)

    def test_version_from_the_future(self):
        """The major version stands behind the magic (docs/format.md)."""
        data = bytearray(self.traces[0])
        self.assertEqual(data[MAJOR_OFFSET], 1)
        data[MAJOR_OFFSET] = 9
        for verb in VERBS + [BYTES]:
            line = one_line(self, refrain(*verb, self.write(bytes(data))), UNSUPPORTED)
            self.assertIn("a newer format, version 9.", line)

    def test_feature_from_the_future(self):
        """A bit of those that a reader must understand: two bytes behind the versions."""
        data = bytearray(self.traces[0])
        data[MAJOR_OFFSET + 3] |= 0x80
        for verb in VERBS + [BYTES]:
            line = one_line(self, refrain(*verb, self.write(bytes(data))), UNSUPPORTED)
            self.assertIn("a newer format", line)

    def test_rank_out_of_range(self):
        path = self.write(self.traces[0])
        for rank in ("3", "99999999999", "-1", "one"):
            line = one_line(self, refrain("dump", path, "--rank", rank), USAGE)
            self.assertIn("rank", line)
        for good in ("0", "2"):
            self.assertEqual(refrain("dump", path, "--rank", good).returncode, GOOD)
        for words in (["--thread", "7"], ["--thread", "7", "--rank", "0"], ["--thread", "-1"], ["--from", "-1"],
                      ["--first", "-1"]):
            done = refrain("dump", path, *words)
            one_line(self, done, USAGE)
            self.assertEqual(done.stdout, b"")
        one_line(self, refrain("profile", path, "--top", "-1"), USAGE)
        self.assertIn("late_sender", one_line(self, refrain("waits", path, "--pattern", "early_bird"), USAGE))
        for words in (["--rank", "99"], ["--explain", "early_bird"], ["--explain", "late_sender:x"],
                      ["--explain", "late_sender:99"], ["--explain", "late_sender::nowhere.c:1"]):
            one_line(self, refrain("waits", path, *words), USAGE)
        self.assertIn("no times of single calls", one_line(self, refrain("waits", path), UNSUPPORTED))
        self.assertIn("no message log", one_line(self, refrain("messages", path), UNSUPPORTED))
        self.assertIn("no POSIX calls", one_line(self, refrain("profile", path, "--posix"), UNSUPPORTED))

    def test_closed_output(self):
        """`refrain dump | head` is no error to shout about."""
        with open("/dev/full", "w") as full:
            done = subprocess.run([options.refrain, "dump", self.write(self.traces[0])], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        one_line(self, done, FAILED)
        for verb in VERBS + [BYTES]:  # no descriptor 1: what is opened meanwhile must not get it
            done = subprocess.run([options.refrain] + verb + [self.path("d.rfn")], stderr=subprocess.PIPE,
                                  preexec_fn=lambda: os.close(1), timeout=60)
            one_line(self, done, FAILED)
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([options.refrain, "dump", self.write(self.traces[1])], stdout=writer,
                              stderr=subprocess.PIPE, timeout=60)
        os.close(writer)
        self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", action="append", default=[], metavar="MPI=DIR")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("tests", nargs="*", help="names, as in Damage.test_noise")
    options = parser.parse_args()
    options.refrain = os.path.abspath(options.refrain)
    options.libraries = os.path.abspath(options.libraries) if options.libraries else ""
    options.programs = {pair.split("=")[0]: os.path.abspath(pair.split("=")[1]) for pair in options.programs}
    options.programs = {m: p for m, p in options.programs.items() if mpirun.launcher(m)}
    unittest.main(argv=[sys.argv[0]] + options.tests, verbosity=1)


if __name__ == "__main__":
    main()
