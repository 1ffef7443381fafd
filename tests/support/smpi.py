"""How a program is started under SimGrid's SMPI: all ranks are user-level threads of one process.

The machine that is simulated is a crossbar: a host for every rank, a private link for every host and
no backbone, so that a message costs the same to simulate however many ranks there are.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="crossbar" prefix="h" suffix="" radical="0-%d" speed="10Gf" bw="%s" lat="%s"/>
</platform>
"""
# The program's variables are switched between ranks by mapping memory: with copies of the program
# nothing could be preloaded. What it computes takes no time, so that a run is the same every time.
# Collectives go by trees: by default all ranks send to one, which takes the square of their number.
SETTINGS = ("smpi/privatization:mmap", "smpi/simulate-computation:no", "surf/precision:1e-6",
            "network/crosstraffic:0", "smpi/barrier:ompi_tree", "smpi/allreduce:redbcast",
            "smpi/reduce:binomial")


def write_platform(folder, ranks, bandwidth="1GBps", latency="10us"):
    """Paths of a platform and a list of its hosts, made when they are not there yet."""
    name = os.path.join(folder, "crossbar-%d-%s-%s" % (ranks, bandwidth, latency))
    platform, hosts = name + ".xml", name + ".hosts"
    if not os.path.exists(hosts):
        with open(platform, "w", encoding="utf-8") as file:
            file.write(PLATFORM % (ranks - 1, bandwidth, latency))
        with open(hosts, "w", encoding="utf-8") as file:
            file.writelines("h%d\n" % i for i in range(ranks))
    return platform, hosts


def command_line(ranks, command, wrapper=(), folder=None, settings=(), network=()):
    """The launcher's argv; `wrapper`: what is to stand in front of the program. No word of it may
    hold a space: smpirun would make two of it. `network`: bandwidth and latency of the links."""
    if folder is None:
        folder = os.path.join(tempfile.gettempdir(), "refrain-smpi-%d" % os.getuid())
        os.makedirs(folder, exist_ok=True)
    platform, hosts = write_platform(folder, ranks, *network)
    line = ["smpirun", "-quiet", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
            "--log=root.thresh:critical"]
    line += ["--cfg=%s" % setting for setting in SETTINGS + tuple(settings)]
    if wrapper:
        line += ["-wrapper", " ".join(wrapper)]
    return line + list(command)


@dataclass
class Run:
    status: int
    output: str
    seconds: float
    peak_bytes: int  # of the simulation's process


def run(argv, timeout, environment=None):
    """Runs a command line of ours to its end, or kills it."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 env=environment, start_new_session=True)
        watchdog = threading.Timer(timeout, os.killpg, (child.pid, signal.SIGKILL))
        watchdog.start()
        _, status, usage = os.wait4(child.pid, 0)
        watchdog.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return Run(child.returncode, out.read().decode(errors="replace"), time.monotonic() - began,
                   usage.ru_maxrss * 1024)
