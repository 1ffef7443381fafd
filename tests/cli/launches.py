#!/usr/bin/python3
"""Jobs of several programs, jobs that start others, the last line of the recorder, and the launcher of another MPI.

    launches.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich
                --others openmpi=build/tests/programs/openmpi --libraries build/src/tracer [--shim yield_shim.so]

The program wins: its output and exit status are always those that it has without Refrain.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

GOOD, INCOMPLETE, SKIPPED = 0, 4, 77
NOBODY_READS = os.path.join(HERE, "..", "support", "nobody_reads.py")
DIES = "the launcher of this MPI dies when it is to start several programs"
options = None


class Job(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="refrain-launches-")
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, name, *words):
        return [os.path.join(options.programs, name)] + list(words)

    def record(self, *words):
        return [options.refrain, "record"] + list(words) + ["--"]

    def run_parts(self, parts, env=None, job_env=None, timeout=90):
        """One job of several parts: (ranks, words in front of the program, the program's words)."""
        settings = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_TEST_DIR": self.folder, "REFRAIN_QUIET": "0"}
        settings.update(env or {})
        preload = mpirun.shims(options.mpi, options.shim)
        argv = []
        for ranks, wrapper, command in parts:
            part = mpirun.command_line(options.mpi, ranks, command, preload, settings, wrapper)
            argv += part if not argv else [":"] + part[part.index("-n"):]
        environment = mpirun.job_environment(options.mpi)
        environment.update(job_env or {})
        done = mpirun.run_command(argv, timeout, environment, self.folder)
        lines = done.stderr.decode(errors="replace").splitlines()
        done.said = [line for line in lines if line.startswith("refrain")]
        return done

    def refrain(self, status, *words):
        done = subprocess.run([options.refrain] + list(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=self.folder)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done.stdout.decode()

    def info(self, status, trace="run.rfn"):
        return json.loads(self.refrain(status, "info", "--format", "json", trace))

    def as_without(self, parts, done):
        """The job ended as it does when nobody records anything."""
        plain = self.run_parts([(ranks, [], command) for ranks, _, command in parts])
        self.assertEqual((done.status, sorted(done.stdout.splitlines())), (
            plain.status, sorted(plain.stdout.splitlines())), done.stderr[-1500:])


class SeveralPrograms(Job):
    def setUp(self):
        super().setUp()
        if not mpirun.starts_several(options.mpi):
            self.skipTest(DIES)

    def test_they_are_named_with_their_ranks(self):
        wrapper = self.record("-o", self.path("run.rfn"))
        first, second = self.program("exit_status"), self.program("no_init") + ["unused"]
        second = self.program("exit_status", "more words")
        parts = [(2, wrapper, first), (1, wrapper, second)]
        done = self.run_parts(parts)
        self.as_without(parts, done)
        self.assertEqual(len(done.said), 1, done.said)
        info = self.info(GOOD)
        self.assertEqual([(p["ranks"], p["rank_count"], p["program"]) for p in info["programs"]],
                         [("0-1", 2, first[0]), ("2", 1, second[0])])
        self.assertTrue(info["programs"][1]["command"].endswith(" 'more words'"), info["programs"])
        text = self.refrain(GOOD, "info", "run.rfn")
        self.assertIn("program      %s on ranks 0-1\n" % first[0], text)
        self.assertIn("program      %s on rank 2\n" % second[0], text)
        profile = self.refrain(GOOD, "profile", "run.rfn")
        self.assertRegex(profile, r"Programs\n +program +ranks +calls .*\n +exit_status +0-1 +\d+ .*\n"
                                  r" +exit_status +2 ")
        self.assertEqual(json.loads(self.refrain(GOOD, "profile", "--format", "json", "run.rfn"))["programs"],
                         info["programs"])

    def test_one_is_as_it_was(self):
        self.run_parts([(2, self.record("-o", self.path("run.rfn")), self.program("exit_status"))])
        info = self.info(GOOD)
        self.assertEqual([p["ranks"] for p in info["programs"]], ["0-1"])
        self.assertNotIn("spawned", info)
        self.assertNotIn("Programs\n", self.refrain(GOOD, "profile", "run.rfn"))


class Spawned(Job):
    TCP = {"OMPI_MCA_btl": "self,tcp"}

    def setUp(self):
        super().setUp()
        if options.mpi == "mpich":
            self.skipTest("MPICH 4.0.2 on UCX refuses MPI_Comm_spawn on Debian 12")
        if not mpirun.starts_several(options.mpi):
            self.skipTest(DIES)

    def spawn(self, name, *words, record=()):
        parts = [(2, self.record("-o", self.path("run.rfn"), *record), self.program(name, *words))]
        done = self.run_parts(parts, job_env=self.TCP)
        self.assertEqual(done.status, GOOD, done.stderr[-1500:])
        return done

    def test_children_have_a_trace_beside(self):
        for name, processes in (("spawn", 1), ("spawn_merge", 2), ("spawn_multiple", 3)):
            done = self.spawn(name)
            self.assertEqual(sorted(os.listdir(self.folder)), ["run.rfn", "run.spawn1.rfn"], done.stderr[-800:])
            parent, child = self.info(GOOD), self.info(GOOD, "run.spawn1.rfn")
            self.assertEqual((parent["complete"], parent["losses"], child["losses"]), (True, [], []))
            self.assertEqual([(s["trace"], s["processes"], s["rank"]) for s in parent["spawned"]],
                             [(self.path("run.spawn1.rfn"), processes, 0)])
            self.assertEqual((child["ranks"], child["program"]), (processes, self.program(name)[0]))
            self.assertIn("spawned      %s: %d process" % (self.path("run.spawn1.rfn"), processes),
                          self.refrain(GOOD, "info", "run.rfn"))
            # The program's own words, not ours.
            calls = self.refrain(GOOD, "dump", "--rank", "0", "run.rfn")
            self.assertNotIn("/bin/sh", calls)
            self.assertIn("MPI_Comm_get_parent", self.refrain(GOOD, "dump", "--rank", "0", "run.spawn1.rfn"))
            self.assertEqual(sorted(re.search(r" (\S+\.rfn): ", line).group(1) for line in done.said),
                             ["run.rfn", "run.spawn1.rfn"])
            for trace in ("run.rfn", "run.spawn1.rfn"):
                self.refrain(GOOD, "check", trace)
                os.remove(self.path(trace))

    def test_children_that_cannot_be_recorded(self):
        """refrain is not where it was: the children run all the same, and the trace says what it lacks."""
        env = "/usr/bin/env"
        parts = [(2, self.record("-o", self.path("run.rfn")), [env, "-u", "REFRAIN_SELF"] + self.program("spawn"))]
        done = self.run_parts(parts, job_env=self.TCP)
        self.assertEqual(done.status, GOOD, done.stderr[-1500:])
        self.assertEqual(os.listdir(self.folder), ["run.rfn"])
        info = self.info(INCOMPLETE)
        self.assertFalse(info["complete"])
        losses = [l for l in info["losses"] if l["reason"] == "spawned_not_recorded"]
        self.assertEqual([(l["calls"], l["rank"]) for l in losses], [(1, 0)], info["losses"])
        self.assertIn("1 process of ", losses[0]["detail"])
        self.assertIn("losses: spawned_not_recorded (1 call); next: ", done.said[0])
        self.assertEqual([s["trace"] for s in info["spawned"]], [None])


class WrongLauncher(Job):
    NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
    LAUNCHERS = {"mpich": "MPICH's mpiexec", "openmpi": "Open MPI's mpirun"}

    def refused(self, done, said):
        lines = [l for l in done.stderr.decode(errors="replace").splitlines() if l.startswith("refrain")]
        self.assertNotEqual(done.status, GOOD)
        self.assertEqual(len(lines), 1, done.stderr[-1500:])
        self.assertIn(said, lines[0])
        self.assertEqual(os.listdir(self.folder), [])

    def test_program_of_the_other_mpi(self):
        if not options.others:
            self.skipTest("one MPI only")
        other, folder = options.others
        command = self.record("-o", self.path("run.rfn")) + [os.path.join(folder, "exit_status")]
        done = mpirun.run_job(options.mpi, 2, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                              cwd=self.folder)
        right = "mpiexec.mpich" if other == "mpich" else "mpirun.openmpi"
        said = "started by %s, under which each of the 2 processes is a job of its own; use " % (
            self.LAUNCHERS[options.mpi])
        self.refused(done, "exit_status: built for %s (" % self.NAMES[other])
        self.refused(done, said)
        if mpirun.launcher(other).endswith(right):
            self.refused(done, "use %s (or say --mpi %s if that is meant)" % (right, other))

    def test_it_may_be_meant(self):
        """One process is the same job under any launcher, and --mpi says that more are meant."""
        if not options.others:
            self.skipTest("one MPI only")
        other, folder = options.others
        program = os.path.join(folder, "exit_status")
        for ranks, words in ((1, []), (2, ["--mpi", other])):
            # MPICH as of 5 gives up where it finds the variables of Open MPI's launcher.
            alone = mpirun.run_job(options.mpi, ranks, [program], 60, [], {}, cwd=self.folder)
            if b"unsupported PMI version" in alone.stderr:
                self.skipTest("%s does not start under this launcher" % other)
            command = self.record("-o", self.path("run.rfn"), *words) + [program]
            done = mpirun.run_job(options.mpi, ranks, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                                  cwd=self.folder)
            self.assertNotIn(b"built for", done.stderr)
            self.assertTrue(os.path.exists(self.path("run.rfn")), done.stderr[-800:])
            for name in os.listdir(self.folder):
                os.remove(self.path(name))

    def test_opened_by_the_program(self):
        """The recorder says so, also where nobody reads it: the ranks end with the status for it, not by SIGPIPE."""
        if not options.others:
            self.skipTest("one MPI only")
        other, folder = options.others
        command = self.record("-o", self.path("run.rfn")) + [os.path.join(folder, "late_mpi"), "global"]
        for wrapper, lines in (([], 1), ([sys.executable, NOBODY_READS], 0)):
            done = mpirun.run_job(options.mpi, 2, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                                  cwd=self.folder, wrapper=wrapper)
            self.assertEqual(done.status, 5, done.stderr[-800:])
            self.assertEqual(done.stderr.count(b"say `refrain record --mpi %s`" % other.encode()), lines)
            self.assertEqual(os.listdir(self.folder), [])

    def test_python_of_the_other_mpi(self):
        """mpi4py is of one MPI, whatever launcher starts it."""
        python = "/usr/bin/python3"
        found = subprocess.run([python, "-c", "import mpi4py, os; print(os.path.dirname(mpi4py.__file__))"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if found.returncode != 0:
            self.skipTest("no mpi4py")
        needs = "".join(subprocess.run(["ldd", os.path.join(found.stdout.decode().strip(), f)], stdout=subprocess.PIPE)
                        .stdout.decode() for f in os.listdir(found.stdout.decode().strip()) if f.startswith("MPI."))
        its = "openmpi" if "libmpi.so.40" in needs else "mpich" if "libmpich.so" in needs else ""
        if its in ("", options.mpi):
            self.skipTest("mpi4py of this MPI, or of none that is known")
        command = self.record("-o", self.path("run.rfn")) + [python, "-c", "from mpi4py import MPI"]
        done = mpirun.run_job(options.mpi, 2, command, 60, [], {"REFRAIN_LIBRARY_PATH": options.libraries},
                              cwd=self.folder)
        self.refused(done, "mpi4py is built for %s (" % self.NAMES[its])


class End(Job):
    """What `record` says at its end."""

    def run_it(self, *words, env=None, is_silent=False):
        """The launcher of Open MPI 5 loses at times what a program has printed last: then the job runs again."""
        parts = [(2, self.record("-o", self.path("run.rfn"), *words), self.program("environment"))]
        was_there = os.path.exists(self.path("run.rfn"))
        done = self.run_parts(parts, env=env)
        for _ in range(3 if mpirun.may_lose_output(options.mpi) and not is_silent else 0):
            if done.said:
                break
            if not was_there:
                os.remove(self.path("run.rfn"))
            done = self.run_parts(parts, env=env)
        return done

    def test_written_and_replaced(self):
        for word in ("wrote", "replaced"):
            said = self.run_it().said
            info = self.info(GOOD)
            self.assertEqual(said, ["refrain: %s run.rfn: %d calls of 2 ranks in %s bytes, no losses; next: %s profile "
                                    "run.rfn" % (word, info["calls"], format(os.path.getsize(self.path("run.rfn")), ",")
                                                 .replace(",", " "), options.refrain)])
        self.assertIn("; next: %s waits run.rfn" % options.refrain, self.run_it("--timing", "exact").said[0])
        self.assertEqual(len(self.run_it("--without", "MPI_Comm_rank").said), 1)

    def test_quiet(self):
        self.assertEqual(self.run_it("--quiet", is_silent=True).said, [])
        self.assertEqual(self.run_it(env={"REFRAIN_QUIET": "1"}, is_silent=True).said, [])
        self.assertEqual(self.info(GOOD)["complete"], True)

    def test_variables_that_nobody_reads(self):
        """A slip in the name of a variable is told of once; what is near none of Refrain's is anybody's."""
        said = self.run_it(env={"REFRAIN_TIMNG": "exact", "REFRAIN_COLOUR": "red"}).said
        self.assertEqual(said[0], "refrain: REFRAIN_TIMNG: unknown, and ignored; did you mean 'REFRAIN_TIMING'?")
        self.assertEqual(len(said), 2)
        self.assertEqual(self.run_it("--quiet", env={"REFRAIN_TIMNG": "exact"}, is_silent=True).said, [])

    def test_option_outranks_variable(self):
        """Also where it asks for the default, which is not passed on."""
        self.run_it("--timing", "stats", env={"REFRAIN_TIMING": "exact"})
        self.assertEqual(self.info(GOOD)["timing"], "stats")
        self.run_it(env={"REFRAIN_TIMING": "exact"})
        self.assertEqual(self.info(GOOD)["timing"], "exact")

    def test_nothing_is_recorded(self):
        """REFRAIN_RECORD=0: no trace, and no word of an MPI_Init that was not seen."""
        self.assertEqual(self.run_it(env={"REFRAIN_RECORD": "0"}, is_silent=True).said, [])
        self.assertEqual(os.listdir(self.folder), [])

    def test_nobody_reads_it(self):
        """`refrain record ./app 2>&1 | true`: a program that prints nothing there ends as it does alone."""
        environment = mpirun.job_environment(options.mpi)
        environment.update({"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "0"})
        statuses = []
        for wrapper in ([], self.record("-o", self.path("run.rfn"))):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(wrapper + self.program("exit_status"), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=writer, timeout=120, env=environment,
                                  cwd=self.folder)
            os.close(writer)
            statuses.append(done.returncode)
        self.assertEqual(statuses, [7, 7])
        self.assertEqual(self.info(GOOD)["complete"], True)

    def test_where_the_record_stays(self):
        """The folder of the trace cannot be written to any more; the spool is elsewhere."""
        os.mkdir(self.path("gone"))
        os.mkdir(self.path("spool"))
        done = self.run_parts(
            [(2, self.record("-o", self.path("gone/run.rfn"), "--spool", self.path("spool")),
              self.program("remove_folder"))], env={"REFRAIN_TEST_DIR": self.path("gone")})
        self.assertEqual((done.status, len(done.said)), (GOOD, 1), done.stderr[-800:])
        self.assertIn("; the record stays in spool/run.rfn.spool: %s recover spool/run.rfn.spool -o NEW.rfn; "
                      "the program continues" % options.refrain, done.said[0])
        self.refrain(GOOD, "recover", "spool/run.rfn.spool", "-o", "new.rfn")
        self.refrain(INCOMPLETE, "profile", "new.rfn")


def main(several=False):
    """`several`: every test starts several programs as one job."""
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--mpi", required=True, choices=mpirun.MPIS)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--others", default="", help="MPI=FOLDER: programs of another MPI")
    parser.add_argument("--libraries", required=True)
    parser.add_argument("--shim", default=os.environ.get("REFRAIN_YIELD_SHIM", ""))
    options, rest = parser.parse_known_args()
    for name in ("refrain", "programs", "libraries", "shim"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    options.others = options.others.split("=", 1) if options.others else None
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of %s here" % options.mpi)
        return SKIPPED
    if several and not mpirun.starts_several(options.mpi):
        print("skip ", DIES)
        return SKIPPED
    unittest.main(argv=sys.argv[:1] + rest)
    return GOOD


if __name__ == "__main__":
    sys.exit(main())
