"""What the benchmark drivers share: compiling a program of bench/programs and running it on MPICH.

Everything is run from the root of the checkout, with ./refrain built (./dev build).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
REFRAIN = ROOT / "refrain"
# Shared memory only; see tests/support/yield_shim.c for many ranks on few cores.
MPICH_ENVIRONMENT = {"UCX_TLS": "self,sm", "MPIR_CVAR_NOLOCAL": "1"}
kRunTimeoutSeconds = 1800


def fail(message):
    print(f"bench: {message}", file=sys.stderr)
    sys.exit(1)


def run(command, environment=None):
    """Standard output of a command that must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=kRunTimeoutSeconds, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def has_smpi(otherwise):
    """Whether SimGrid's SMPI is here; if not, says what is left out. Takes REFRAIN_SPOOL out of the environment:
    SMPI has no spool."""
    os.environ.pop("REFRAIN_SPOOL", None)
    if shutil.which("smpicc") is not None and shutil.which("smpirun") is not None:
        return True
    print(f"SimGrid (libsimgrid-dev) is not installed: {otherwise}")
    return False


def compile_program(name, folder, flags=(), compiler="mpicc.mpich", binary=None):
    """bench/programs/NAME.c; `binary`: another name for it, in the folder."""
    binary = folder / (binary or name)
    run([compiler, "-std=c11", "-O2", "-g", *flags, "-o", binary, ROOT / f"bench/programs/{name}.c", "-lm"])
    return binary


def compile_yield_shim(folder):
    library = folder / "yield_shim.so"
    source = ROOT / "tests/support/yield_shim.c"
    run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"])
    return library


def mpiexec(ranks, command, preload=(), environment=None, words=()):
    """Standard output of `command` on MPICH. `preload`: libraries for the ranks only; `words`: for the launcher."""
    prefix = ["mpiexec.mpich", "-n", str(ranks), *words]
    if preload:
        prefix += ["-genv", "LD_PRELOAD", ":".join(map(str, preload))]
    return run(prefix + list(command), {**MPICH_ENVIRONMENT, **(environment or {})})


def callgrind_total(counts):
    """Instructions, as a file that callgrind wrote says."""
    for line in counts.read_text(encoding="utf-8").splitlines():
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    return fail(f"{counts} says no total")


def record(ranks, trace, command, preload=(), environment=None):
    return mpiexec(ranks, [REFRAIN, "record", "-o", trace, "--", *command], preload, environment)


def recorder_library():
    """librefrain-mpich.so beside ./refrain."""
    build = REFRAIN.resolve().parent
    for folder in (build, build / "src/tracer", build.parent / "lib"):
        if (folder / "librefrain-mpich.so").exists():
            return folder / "librefrain-mpich.so"
    fail(f"there is no librefrain-mpich.so in {build}")
    return None


def info(trace):
    return json.loads(run([REFRAIN, "info", "--format", "json", trace]))


def prepare(out, refrain=None):
    """The output folder, made; stops when there is no ./refrain (or `refrain`)."""
    global REFRAIN
    if refrain is not None:
        REFRAIN = pathlib.Path(refrain).resolve()
    if not REFRAIN.exists():
        fail("there is no ./refrain: run ./dev build")
    folder = pathlib.Path(out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def print_table(header, rows):
    """Left-aligned first column, right-aligned others."""
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def progress(text):
    """A line that the next one overwrites; nothing where no terminal is."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
