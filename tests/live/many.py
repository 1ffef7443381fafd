#!/usr/bin/python3
"""refrain live serve beside many short jobs: its memory does not grow with them, and nothing of them is left.

    many.py --refrain build/refrain --libraries build/src/tracer --shim yield_shim.so --mpi mpich --program watched
            [--jobs 200]
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import live  # noqa: E402
import serve  # noqa: E402
import expectations  # noqa: E402
from live import expect, until  # noqa: E402

# What the service may grow by from the first half of the jobs to the end, and open files.
MOST_GROWTH_KIB, MOST_FILES = 8192, 2


def state_of(pid):
    """KiB in memory, open files, processes that it has started."""
    with open("/proc/%d/status" % pid) as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        children = file.read().split()
    return memory, len(os.listdir("/proc/%d/fd" % pid)), children


def run_job(folder, number, jobs_dir):
    mine = os.path.join(folder, "job%d" % number)
    os.mkdir(mine)
    for name in ("go1", "go2"):
        open(os.path.join(mine, name), "w").close()
    job = serve.LiveJob(mine, "job%d" % number, "end", jobs_dir)
    job.thread.join()
    return job.outcome.status


def main():
    parser = argparse.ArgumentParser()
    for name in ("refrain", "libraries", "shim", "mpi", "program"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--jobs", type=int, default=200)
    live.options = parser.parse_args()
    count = live.options.jobs
    if live.mpirun.launcher(live.options.mpi) is None:
        print("skip  no launcher of", live.options.mpi)
        return 77
    with tempfile.TemporaryDirectory(prefix="refrain-many-") as folder:
        jobs_dir, out = os.path.join(folder, "jobs"), os.path.join(folder, "out")
        os.mkdir(jobs_dir, 0o700)
        with serve.Service("--dir", jobs_dir, "-o", out) as service:
            if not service.port:
                return 1
            status = [run_job(folder, i, jobs_dir) for i in range(count // 2)]
            half = until(lambda: not [n for n in os.listdir(jobs_dir) if n.endswith(".job")] and
                         state_of(service.process.pid), "the first half has ended")
            status += [run_job(folder, i, jobs_dir) for i in range(count // 2, count)]
            whole = until(lambda: not [n for n in os.listdir(jobs_dir) if n.endswith(".job")] and
                          state_of(service.process.pid), "all have ended")
            expect(set(status) == {0}, "all jobs end well")
            if half and whole:
                expect(whole[0] <= half[0] + MOST_GROWTH_KIB, "memory: %d, then %d KiB" % (half[0], whole[0]))
                expect(whole[1] <= half[1] + MOST_FILES, "open files: %d, then %d" % (half[1], whole[1]))
                expect(whole[2] == [], "no process: %s" % whole[2])
            until(lambda: (lambda shown: len(shown) == min(count, 100) and
                           all(job["state"] == "finished" for job in shown.values()))(service.jobs()),
                  "the newest are shown")
        traces = [n for n in os.listdir(out) if n.endswith(".rfn")]
        expect(len(traces) == count, "all have left their traces: %d" % len(traces))
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
