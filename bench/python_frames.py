"""What the frames of a Python program cost each call, in instructions: for overhead.py.

A recorded program of mpi4py, on one rank, under callgrind, with `--python-frames on` and `off`: the difference of what
the recorder takes for one call more. No frame changes between calls. Only its own instructions count, since
those of the interpreter and of an MPI that looks at its timers are not the same in any two runs.
"""

import os
import pathlib
import re
import shutil
import subprocess

import common

kTarget = 150
kCalls = (2000, 12_000)
# A rank alone, without Open MPI's daemons, which would be counted nowhere and wait for cores.
kEnvironment = {"PYTHONHASHSEED": "0", "REFRAIN_QUIET": "1", "HWLOC_PLUGINS_PATH": os.devnull, "OMPI_MCA_pml": "ob1",
                "OMPI_MCA_btl": "self", "OMPI_MCA_ess_singleton_isolated": "1", **common.MPICH_ENVIRONMENT}
LIBRARIES = {"Open MPI": "librefrain-openmpi.so", "MPICH": "librefrain-mpich.so"}


def interpreter():
    """(a Python that has mpi4py, the recorder for its MPI); None where there is none."""
    for python in dict.fromkeys(filter(None, (shutil.which("python3"), "/usr/bin/python3"))):
        asked = subprocess.run([python, "-c", "from mpi4py import MPI; print(MPI.get_vendor()[0])"],
                               capture_output=True, text=True, env={**os.environ, **kEnvironment}, check=False)
        name = LIBRARIES.get(asked.stdout.strip())
        library = common.recorder_library().with_name(name) if name else None
        if asked.returncode == 0 and library is not None and library.exists():
            return python, library
    return None


def instructions_in(counts, library):
    """Of the functions in this library, as a file that callgrind wrote says."""
    names, total, is_there, is_inclusive = {}, 0, False, False
    for line in counts.read_text(encoding="utf-8").splitlines():
        named = re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line)
        if named:
            name = names.setdefault(named[2], named[3])
            if not named[1]:
                is_there = pathlib.Path(name).name == library.name
        elif line.startswith("calls="):
            is_inclusive = True  # of the next line, which is the cost of the functions called
        elif re.match(r"[+*\d-]", line):
            total += int(line.split()[1]) if is_there and not is_inclusive else 0
            is_inclusive = False
    return total if total > 0 else common.fail(f"nothing of {library.name} was executed")


def instructions(python, library, folder, calls, name, frames):
    counts = folder / "callgrind.python"
    environment = {**kEnvironment, "LD_PRELOAD": str(library), "REFRAIN_OUTPUT": str(folder / "python_calls.rfn"),
                   "REFRAIN_PYTHON_FRAMES": frames}
    common.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", python,
                common.ROOT / "bench/programs/python_calls.py", calls, name], environment)
    return instructions_in(counts, library)


def rows(folder):
    """[call, instructions of the recorder without frames, what they add, target]; None: nothing can be counted here."""
    found = interpreter() if shutil.which("valgrind") else None
    if found is None:
        return None
    table = []
    for name in ("barrier", "iprobe"):
        one_more = {}
        for frames in ("off", "on"):
            common.progress(f"Python's frames: {name}, {frames}")
            few, many = (instructions(*found, folder, calls, name, frames) for calls in kCalls)
            one_more[frames] = (many - few) / (kCalls[1] - kCalls[0])
        table.append([name, f"{one_more['off']:.0f}", f"{one_more['on'] - one_more['off']:+.0f}", f"+{kTarget}"])
    return table
