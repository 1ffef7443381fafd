#!/usr/bin/python3
"""What `refrain solo` does and refuses: one rank of a ring, with and without changes.

    verb.py --refrain build/refrain --mpi mpich --program ring --other-program ring-of-another-mpi

Exit status: 0 all good, 1 something is wrong, 77 no launcher.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

SKIPPED = 77
RANKS = 2
ROUNDS, MESSAGE_BYTES = 20, 120000  # of the ring
options = None


def run(words, folder, **env):
    return subprocess.run([options.refrain] + words, capture_output=True, text=True, cwd=folder, timeout=100,
                          env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries, **env), check=False)


def run_recorded(folder, name, *words, **env):
    wrapper = [options.refrain, "record", "-o", name, "--messages", "all", *words, "--"]
    return mpirun.run_job(options.mpi, RANKS, [options.program], 60, cwd=folder, wrapper=wrapper,
                          env={"REFRAIN_LIBRARY_PATH": options.libraries, **env})


def record(folder, name):
    outcome = run_recorded(folder, name)
    expect(outcome.status == 0, "the ring is recorded: %s" % outcome.stderr.decode(errors="replace")[-300:])
    return sorted(outcome.stdout.decode().splitlines())


def solo(folder, rank, *words, program=None, **env):
    return run(["solo", "run.rfn", "--rank", str(rank), *words, "--", program or options.program], folder, **env)


def alone(folder, printed):
    for rank in range(RANKS):
        before = open(os.path.join(folder, "out.%d" % rank), encoding="utf-8").read()
        state = os.stat(os.path.join(folder, "state.%d" % rank))
        done = solo(folder, rank, "--scratch", folder + "/scratch")
        expect(done.returncode == 0, "rank %d runs alone: %s" % (rank, done.stderr))
        # The time between two calls of MPI_Wtime, too.
        expect(done.stdout.strip() == printed[rank], "it prints %r: %r" % (printed[rank], done.stdout))
        expect(open(os.path.join(folder, "out.%d" % rank), encoding="utf-8").read() == before, "its file stays")
        found = os.stat(os.path.join(folder, "state.%d" % rank))
        expect((found.st_ino, found.st_mtime_ns) == (state.st_ino, state.st_mtime_ns), "one that it removes stays")
        files = os.listdir(folder + "/scratch")
        expect(any(n.endswith("out.%d" % rank) for n in files), "and is in the scratch folder")
        expect(any(n.endswith("state.%d" % rank) for n in files), "so is one that it has given another name")
        expect(not any(n.endswith(".part") for n in files), "under that alone")
    solo(folder, 0, "--write-files")
    expect(len(open(os.path.join(folder, "out.0"), encoding="utf-8").readlines()) == 2, "--write-files writes it")


def is_there_until_freed(folder):
    """Both references to the group are recorded, and the replay has both."""
    for rank in range(RANKS):
        calls = [json.loads(l) for l in run(["dump", "run.rfn", "--rank", str(rank), "--format", "jsonl"],
                                            folder).stdout.splitlines()]
        groups = [c["args"]["group"] for c in calls if c["call"].startswith("MPI_Group_")]
        expect(groups == ["group#0"] * 3, "rank %d: the group of each call is recorded: %s" % (rank, groups))
    wrapper = [options.refrain, "replay", "run.rfn", "--compute", "none"]
    done = mpirun.run_job(options.mpi, RANKS, wrapper, 60, cwd=folder, env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(done.status == 0, "the ring is replayed: %s" % done.stderr.decode(errors="replace")[-300:])


def cut_off(folder, name, words, env):
    """Logs that end early have all but their last block; the rank runs until there. Exit status of the job."""
    outcome = run_recorded(folder, name, *words, **env)
    if os.path.exists(os.path.join(folder, name + ".spool")):
        run(["recover", name + ".spool", "-o", name], folder)
    found = json.loads(run(["messages", name, "--format", "json"], folder).stdout)["ranks"][1]
    stored, received = found["stored_bytes"], found["received_bytes"]
    whole, message = ROUNDS * MESSAGE_BYTES, MESSAGE_BYTES + 1000
    expect(received <= stored < received + message, "%s: %d bytes stored of %d" % (name, stored, received))
    expect(whole - (1 << 20) - message < received < whole, "%s: %d of %d bytes received" % (name, received, whole))
    done = run(["solo", name, "--rank", "1", "--scratch", folder + "/scratch", "--", options.program], folder)
    why = r"--message-limit\) was reached" if "--message-limit" in words else "the process died"
    expect(done.returncode == 4 and re.search(r"rank-1\.rfm.*offset \d+, as .*" + why, done.stderr),
           "%s: it runs until its log ends: %d, %s" % (name, done.returncode, done.stderr))
    return outcome.status


def ends_early(folder):
    expect(cut_off(folder, "limited.rfn", ("--message-limit", "2M"), {}) == 0, "a limit does not disturb the program")
    # Its status is the launcher's: that of MPICH 4.2 ends with 0 now and then when a rank was killed.
    cut_off(folder, "killed.rfn", (), {"RING_CHANGE": "kill"})


def guard(folder):
    at = r"refrain: rank 1, thread 0, call \d+, MPI_\w+ at ring.*: "
    for change, what in (("count", r"sendcount is 29999, in the trace 30000"), ("tag", r"sendtag is 8, in the trace 7"),
                         ("skip", r"the program calls MPI_Finalize, the trace has MPI_Sendrecv"),
                         ("more", r"the program calls MPI_Barrier, the trace has MPI_Finalize"),
                         ("extent", r"extent is 60, in the trace 40"),
                         ("quiet", r"sendtag is 8, in the trace 7")):  # it sends its own stderr away
        done = solo(folder, 1, "--scratch", folder + "/scratch", RING_CHANGE=change)
        expect(done.returncode == 1 and re.search(at + what, done.stderr),
               "a changed %s is found: %d, %s" % (change, done.returncode, done.stderr))


def without_a_call(folder):
    """A program that never calls MPI is not the recorded one; a script that starts it is."""
    done = solo(folder, 1, program="/bin/true")
    expect(done.returncode == 1 and "ends without a call of MPI" in done.stderr,
           "a program without MPI: %d, %s" % (done.returncode, done.stderr))
    script = os.path.join(folder, "script")
    with open(script, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\ntrue\n%s\n/bin/true\n" % options.program)
    os.chmod(script, 0o755)
    done = solo(folder, 1, "--scratch", folder + "/scratch", program=script)
    expect(done.returncode == 0 and "ran alone" in done.stderr and "without" not in done.stderr,
           "a script that starts it: %d, %s" % (done.returncode, done.stderr))


def outside_of_mpi(folder):
    """Ranks that share memory by the system run on, if they can without it; one line says what is not there."""
    done = solo(folder, 1, "--scratch", folder + "/scratch", RING_CHANGE="shared")
    expect(done.returncode == 0 and done.stderr.count("a System V segment that is not there") == 1,
           "memory of other ranks is missed: %d, %s" % (done.returncode, done.stderr))


def times(folder):
    for rank in range(RANKS):
        status = 3 if rank == 1 else 0  # the program's own one changes nothing
        done = solo(folder, rank, "--repeat", "2", "--times", "run.rfv", "--scratch", folder + "/scratch",
                    RING_CHANGE="status" if status else "")
        expect(done.returncode == status, "times of rank %d: %s" % (rank, done.stderr))
        expect(done.stdout.count("rank") == 1, "only the first run prints")
    done = run(["check", "run.rfv"], folder)
    expect(done.returncode == 0, "the times follow the format: " + done.stdout + done.stderr)
    done = run(["similarity", "run.rfn", "--times", "run.rfv", "--format", "json"], folder)
    expect(done.returncode == 0 and '"ranks": 2' in done.stdout, "similarity reads them: " + done.stdout + done.stderr)
    with open(os.path.join(folder, "run.rfv"), "r+b") as out:
        out.seek(10)
        expect(out.read(1) == b"\x01", "the times have the total of each run")
        out.seek(-1, os.SEEK_END)
        byte = out.read(1)
        out.seek(-1, os.SEEK_END)
        out.write(bytes([byte[0] ^ 0x20]))
    expect(run(["check", "run.rfv"], folder).returncode == 1, "a changed byte is found")


def built_anew(folder):
    """The same program with another build id: a warning, and the guard without call sites."""
    with open(options.program, "rb") as program:
        data = bytearray(program.read())
    note = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    if note < 0:
        return  # the linker gives none
    data[note + 16] ^= 0xff
    path = os.path.join(folder, "anew", os.path.basename(options.program))
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as program:
        program.write(data)
    os.chmod(path, 0o755)
    for change, status, what in (("", 0, "ran alone"), ("tag", 1, "sendtag is 8, in the trace 7")):
        done = solo(folder, 0, "--scratch", folder + "/scratch", program=path, RING_CHANGE=change)
        expect(done.returncode == status and done.stderr.count("has another build id") == 1 and what in done.stderr,
               "built anew, change %r: %d, %s" % (change, done.returncode, done.stderr))


def bad_input(folder):
    logs = os.path.join(folder, "run.rfn.messages")
    done = solo(folder, RANKS)
    expect(done.returncode == 2 and "0 to 1" in done.stderr, "a rank that is not there: " + done.stderr)
    if options.other_program:
        done = solo(folder, 0, program=options.other_program)
        expect(done.returncode == 5 and "was recorded with" in done.stderr, "another MPI: " + done.stderr)
    beside = os.path.dirname(options.program)
    done = solo(folder, 0, program=os.path.join(beside, "static_alone"))
    expect(done.returncode == 5 and "statically" in done.stderr, "an MPI in the program: " + done.stderr)
    simulated = os.path.join(beside, "..", "smpi", "p2p_blocking")
    if options.mpi == "mpich" and mpirun.launcher("smpi") and os.path.exists(simulated):
        mpirun.run_job("smpi", RANKS, [simulated], 60, cwd=folder, env={"REFRAIN_LIBRARY_PATH": options.libraries},
                       wrapper=[options.refrain, "record", "-o", "simulated.rfn", "--"])
        done = run(["solo", "simulated.rfn", "--rank", "0", "--", options.program], folder)
        expect(done.returncode == 5 and "SMPI" in done.stderr, "a trace of SMPI: " + done.stderr)
    record(folder, "other.rfn")
    shutil.copy(os.path.join(folder, "other.rfn.messages", "rank-0.rfm"), os.path.join(logs, "rank-0.rfm"))
    done = solo(folder, 0)
    expect(done.returncode == 1 and "another run" in done.stderr, "a log of another run: " + done.stderr)
    path = os.path.join(logs, "rank-1.rfm")
    size = os.path.getsize(path)
    expect(size > 2 << 20, "the log has several blocks")
    with open(path, "r+b") as log:
        log.seek(size * 3 // 4)
        byte = log.read(1)
        log.seek(size * 3 // 4)
        log.write(bytes([byte[0] ^ 1]))
    done = solo(folder, 1, "--scratch", folder + "/scratch")
    expect(done.returncode == 4 and re.search(r"rank-1\.rfm.*offset \d+", done.stderr),
           "a damaged block: %d, %s" % (done.returncode, done.stderr))
    os.remove(os.path.join(logs, "rank-0.rfm"))
    done = solo(folder, 0)
    expect(done.returncode == 1 and "those that have: 1" in done.stderr, "a rank without a log: " + done.stderr)


def replaced(folder):
    """Logs of an earlier run, whose trace is replaced, go with it where this one logs other ranks."""
    run_recorded(folder, "twice.rfn")
    logs = os.path.join(folder, "twice.rfn.messages")
    shutil.copy(logs + "/rank-1.rfm", logs + "/rank-17.rfm")
    open(logs + "/rank-17.rfm.mine", "w", encoding="utf-8").close()
    wrapper = [options.refrain, "record", "-o", "twice.rfn", "--messages", "ranks:1", "--"]
    mpirun.run_job(options.mpi, RANKS, [options.program], 60, cwd=folder, wrapper=wrapper,
                   env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(sorted(os.listdir(logs)) == ["rank-1.rfm", "rank-17.rfm.mine"], "logs left: %s" % os.listdir(logs))
    done = run(["messages", "twice.rfn"], folder)
    expect(done.returncode == 0, "of a run that replaced another: %s" % done.stderr)


def no_network(folder):
    if shutil.which("strace") is None:
        return
    trace = os.path.join(folder, "strace.txt")
    words = ["strace", "-f", "-o", trace, "-e", "trace=network", options.refrain, "solo", "run.rfn", "--rank", "0",
             "--scratch", folder + "/scratch", "--", options.program]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=100, check=False,
                          env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries))
    if done.returncode != 0 and "ptrace" in done.stderr:
        return
    calls = [line for line in open(trace, encoding="utf-8") if re.search(r"\b\w+\(", line)]
    expect(done.returncode == 0 and not calls, "no call of the network: %s" % calls[:3])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--refrain", "--mpi", "--program", "--libraries"):
        parser.add_argument(name, required=True)
    parser.add_argument("--other-program")
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        return SKIPPED
    folder = tempfile.mkdtemp(prefix="refrain-solo-test-")
    try:
        os.makedirs(folder + "/scratch")
        printed = record(folder, "run.rfn")
        if not expectations.failures:
            for part in (lambda: alone(folder, printed), lambda: is_there_until_freed(folder), lambda: guard(folder),
                         lambda: outside_of_mpi(folder), lambda: without_a_call(folder), lambda: built_anew(folder),
                         lambda: times(folder), lambda: no_network(folder), lambda: ends_early(folder),
                         lambda: replaced(folder), lambda: bad_input(folder)):
                part()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d wrong" % expectations.failures)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
