#!/usr/bin/python3
"""Run N ranks of a program under MPICH, Open MPI or SMPI on a small machine, and never hang.

    mpirun.py --mpi mpich -n 4 [--timeout 60] [--preload shim.so] [--env K=V] -- ./program args

On a timeout the stacks of all processes of the job are printed (gdb when it is there, else what
/proc knows), the whole tree is killed, and the exit status is 124. Everything stays on loopback.
"""
import argparse
import atexit
import functools
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import smpi

TOKEN = "REFRAIN_TEST_JOB"
TIMED_OUT = 124
ANALYSER_S = 30  # so long one may go on behind the end of its job
MPIS = ("mpich", "openmpi", "smpi", "abi.mpich", "abi.openmpi")
LAUNCHERS = ("mpiexec", "mpirun", "hydra", "orterun", "orted")


class Outcome:
    """What a job left behind: exit status (124 after a timeout), stdout, stderr and seconds."""

    def __init__(self, status, stdout, stderr, seconds):
        self.status, self.stdout, self.stderr, self.seconds = status, stdout, stderr, seconds

    @property
    def timed_out(self):
        return self.status == TIMED_OUT


def word(mpi):
    """The word of --mpi: that of "abi.mpich", MPICH behind the standard ABI, is "abi"."""
    return mpi.split(".")[0]


def behind(mpi):
    """The MPI that runs: that of "abi.mpich" is "mpich"."""
    return mpi.split(".")[-1]


def startable(name):
    """The MPIs here that run programs of that word of --mpi, each with a launcher; not SMPI."""
    names = ("abi.mpich", "abi.openmpi") if name == "abi" else (name,)
    return [mpi for mpi in names if mpi != "smpi" and launcher(mpi)]


@functools.lru_cache(maxsize=None)
def abi_folder(mpi):
    """A folder whose libmpi_abi.so is that MPI's; None where it has none."""
    found = sorted(glob.glob("/usr/lib/*/libmpi_abi_%s.so.*" % mpi))
    if not found:
        return None
    folder = tempfile.mkdtemp(prefix="refrain-abi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in ("libmpi_abi.so", "libmpi_abi.so.0", "libmpi_abi.so.1"):
        os.symlink(found[0], os.path.join(folder, name))
    return folder


def default_shim():
    return os.environ.get("REFRAIN_YIELD_SHIM", "")


def shims(mpi, path):
    """What is preloaded so that ranks that wait leave the core to others: for MPICH the shim at `path`, if any."""
    return [path] if path and behind(mpi) == "mpich" else []


def launcher(mpi):
    """Path of the MPI's launcher, or None."""
    names = {"mpich": ("mpiexec.mpich", "mpiexec.hydra"), "openmpi": ("mpirun.openmpi",),
             "smpi": ("smpirun",)}[behind(mpi)]
    if word(mpi) == "abi" and abi_folder(behind(mpi)) is None:
        return None
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    return None


@functools.lru_cache(maxsize=None)
def openmpi_major():
    """The first number of Open MPI's version, 4 when it does not say."""
    text = subprocess.run([launcher("openmpi"), "--version"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True).stdout
    found = re.search(r"\(Open MPI\) (\d+)", text)
    return int(found.group(1)) if found else 4


def may_lose_output(mpi):
    """Whether the launcher may lose what a rank that ends with an error has printed last: Open MPI's since 5."""
    return behind(mpi) == "openmpi" and openmpi_major() >= 5


@functools.lru_cache(maxsize=None)
def starts_several(mpi):
    """Whether the launcher starts several programs as one job (-n 1 a : -n 1 b): that of Open MPI 5.0.7 dies, always.

    MPICH's died once of programs that end at once, so it may try again."""
    one = command_line(mpi, 1, ["/bin/true"])
    return any(subprocess.run(one + [":", "-n", "1", "/bin/true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=job_environment(mpi)).returncode >= 0 for _ in range(3))


class Beside:
    """Another program of the same job: `count` ranks of `command`, before or behind the first one."""

    def __init__(self, command, count=1, first=False):
        self.command, self.count, self.first = command, count, first


def command_line(mpi, ranks, command, preload=(), env=None, wrapper=(), beside=()):
    """The launcher's argv, with `wrapper` in front of the program.

    Variables and preloads reach the ranks only, never the launcher."""
    settings = dict(env or {})
    if word(mpi) == "abi":
        settings["LD_LIBRARY_PATH"] = abi_folder(behind(mpi))
    if preload:
        settings["LD_PRELOAD"] = ":".join(preload)
        # A sanitized program must not refuse to start because a preload comes before its runtime.
        asan = os.environ.get("ASAN_OPTIONS", "")
        settings.setdefault("ASAN_OPTIONS", asan + (":" if asan else "") +
                            "verify_asan_link_order=0:detect_leaks=0")
    prefix = ["/usr/bin/env"] + ["%s=%s" % kv for kv in sorted(settings.items())]
    if not settings:
        prefix = []
    if mpi == "smpi":
        return smpi.command_line(ranks, command, prefix + list(wrapper))
    if behind(mpi) == "mpich":
        head = [launcher(mpi), "-launcher", "fork", "-iface", "lo"]
    else:
        head = [launcher(mpi), "--allow-run-as-root", "--oversubscribe"]
    programs = [["-n", str(ranks)] + prefix + list(wrapper) + list(command)]
    for one in beside:
        words = ["-n", str(one.count)] + prefix + list(one.command)
        programs.insert(0 if one.first else len(programs), words)
    for i, words in enumerate(programs):
        head += ([":"] if i else []) + words
    return head


def job_environment(mpi):
    environment = dict(os.environ)
    # Not the plugins that look for GPUs by OpenCL and GL, where those are installed: they take half of a launch's time,
    # and no test needs to know the machine.
    environment.setdefault("HWLOC_PLUGINS_PATH", os.devnull)
    mpi = behind(mpi)
    if mpi == "mpich":
        environment["UCX_TLS"] = "self,sm"
        environment["MPIR_CVAR_NOLOCAL"] = "1"
    elif mpi == "openmpi":
        environment["OMPI_MCA_pml"] = "ob1"
        # Shared memory was vader up to 4, and has no other name than sm from 6 on.
        environment["OMPI_MCA_btl"] = "self,vader" if openmpi_major() < 5 else "self,sm"
        environment["OMPI_MCA_btl_tcp_if_include"] = "lo"
        if openmpi_major() < 5:  # later ones tell on stderr that it has another name
            environment["OMPI_MCA_oob_tcp_if_include"] = "lo"
        environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        environment["OMPI_MCA_btl_base_warn_component_unused"] = "0"
        environment["OMPI_MCA_orte_tmpdir_base"] = tempfile.gettempdir()
    return environment


def processes_of(token):
    """Ids of all processes whose environment carries our token, whatever session they moved to."""
    needle = ("%s=%s" % (TOKEN, token)).encode()
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if needle in f.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return found


def describe(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "?"


def print_stacks(token, out):
    gdb = shutil.which("gdb")
    for pid in sorted(processes_of(token)):
        line = describe(pid)
        base = os.path.basename(line.split(" ")[0]) if line else ""
        if any(base.startswith(name) for name in LAUNCHERS):
            continue
        print("---- stack of process %d: %s" % (pid, line[:200]), file=out)
        if gdb:
            try:
                text = subprocess.run(
                    [gdb, "-nx", "-batch", "-p", str(pid), "-ex", "thread apply all bt 24"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    timeout=30).stdout.decode(errors="replace")
                print("\n".join(l for l in text.splitlines() if l.startswith(("#", "Thread"))),
                      file=out)
                continue
            except (subprocess.TimeoutExpired, OSError):
                pass
        for name in ("wchan", "stack", "syscall"):
            try:
                with open("/proc/%d/%s" % (pid, name)) as f:
                    print("%s: %s" % (name, f.read().strip()), file=out)
            except OSError:
                pass
    out.flush()


def kill_job(token):
    """Kill until nothing with our token is left: a launcher may be starting a process just now."""
    for _ in range(50):
        pids = processes_of(token)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.05)


# Limits are for what hangs. They are set by what a run takes on two cores that have nothing else to do, and a machine
# that shares its cores takes a few times as long.
SHARED_CORES = 3


def run_command(argv, timeout, environment=None, cwd=None, stacks_to=None, outlived_s=0):
    """Run any command with the watchdog; output goes through files, so a pipe can never block.

    What it leaves running is killed after `outlived_s` seconds."""
    timeout *= SHARED_CORES
    token = uuid.uuid4().hex
    environment = dict(os.environ if environment is None else environment)
    environment[TOKEN] = token
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=environment, cwd=cwd, start_new_session=True)
        try:
            status = child.wait(timeout)
            end = time.monotonic() + outlived_s
            while time.monotonic() < end and processes_of(token):
                time.sleep(0.05)
        except subprocess.TimeoutExpired:
            print("timeout after %g s: %s" % (timeout, " ".join(argv)), file=stacks_to or sys.stderr)
            print_stacks(token, stacks_to or sys.stderr)
            status = TIMED_OUT
        finally:
            kill_job(token)
            child.wait()
        out.seek(0)
        err.seek(0)
        return Outcome(status, out.read(), err.read(), time.monotonic() - started)


def never_began(outcome):
    """Whether Open MPI 5's launcher gave up before the program began.

    It names its folder by its process number, and one of an earlier launcher with that number is in the way; or it
    cannot start a process, which has no reason that it names."""
    said = outcome.stderr + outcome.stdout
    return outcome.status != 0 and (b"prte_session_dir failed" in said or b"PMIx_Spawn failed" in said)


def stacks_of_openmpi(outcome):
    """The stacks that Open MPI prints of ranks that die by a signal: the files of their frames, a list each."""
    said = (outcome.stderr + outcome.stdout).decode(errors="replace")
    blocks = said.split("*** Process received signal ***")[1:]
    return [re.findall(r"\] \[ *\d+\] ([^\s(\[]+)", block) for block in blocks]


def died_in_openmpi(mpi, outcome, argv):
    """Whether all that died were in code that is neither the program's nor Refrain's.

    In MPI_Finalize, Open MPI 4 unloads its PMIx component while its own thread may still have an event for a function
    of it: one process of tens of thousands jumps to where that was (github.com/open-mpi/ompi/issues/10117). Its stack
    is one frame, in whatever lies there now, or none, as unwinding from there ends it a second time."""
    if behind(mpi) != "openmpi" or openmpi_major() >= 5 or outcome.status != 128 + signal.SIGSEGV:
        return False
    programs = {os.path.basename(word) for word in argv}  # wherever among the words they are
    stacks = stacks_of_openmpi(outcome)
    names = [os.path.basename(frame) for stack in stacks for frame in stack]
    return bool(stacks) and not any(name in programs or name.startswith("librefrain") for name in names)


def run_job(mpi, ranks, command, timeout=60, preload=None, env=None, cwd=None, stacks_to=None,
            job_env=None, wrapper=(), beside=()):
    """Run `command` on `ranks` ranks; preload defaults to the yield shim for MPICH.

    env is for the ranks, job_env for the launcher too. An analyser beside the program goes on with its work where a
    launcher has ended the job."""
    if preload is None:
        preload = shims(mpi, default_shim())
    argv = command_line(mpi, ranks, command, preload, env, wrapper, beside)
    environment = job_environment(mpi)
    environment.setdefault("REFRAIN_QUIET", "1")  # tests of what the recorder says at the end ask for it
    environment.update(job_env or {})
    outcome = run_command(argv, timeout, environment, cwd, stacks_to, ANALYSER_S if beside else 0)
    if died_in_openmpi(mpi, outcome, argv):
        print("a rank died in Open MPI itself; once more: %s\n%s" % (
            " ".join(argv), outcome.stderr.decode(errors="replace")), file=stacks_to or sys.stderr)
        outcome = run_command(argv, timeout, environment, cwd, stacks_to, ANALYSER_S if beside else 0)
    for _ in range(3):
        if not never_began(outcome):
            break
        outcome = run_command(argv, timeout, environment, cwd, stacks_to, ANALYSER_S if beside else 0)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", required=True, choices=MPIS)
    parser.add_argument("-n", type=int, default=2, dest="ranks")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--preload", action="append")
    parser.add_argument("--env", action="append", default=[], metavar="K=V")
    parser.add_argument("--job-env", action="append", default=[], metavar="K=V")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no program given")
    outcome = run_job(options.mpi, options.ranks, command, options.timeout, options.preload,
                      dict(pair.split("=", 1) for pair in options.env),
                      job_env=dict(pair.split("=", 1) for pair in options.job_env))
    sys.stdout.buffer.write(outcome.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(outcome.stderr)
    return outcome.status if outcome.status >= 0 else 128 - outcome.status


if __name__ == "__main__":
    sys.exit(main())
