"""The regular programs of bench/programs: what each of their calls and peers must be, from the number of
ranks alone. tests/scale/ and bench/scale.py run them under SMPI."""

from dataclasses import dataclass
from typing import Callable

NOBODY = "MPI_PROC_NULL"


@dataclass
class Program:
    name: str
    iterations: int  # the program's argument
    calls: Callable  # (ranks, iterations) -> calls of a rank
    sends: Callable  # (rank, ranks) -> peers of its sends in one iteration, in order
    # Bytes that the file may grow by from one number of ranks to a multiple of it, but for totals: digits
    # of larger numbers, and for each doubling what a further phase takes.
    digits: int = 24
    phase: int = 0
    max_ranks: int = 1 << 20  # SMPI takes too long beyond
    test_ranks: int = 1 << 20  # the same for tests
    settings: tuple = ()  # of SMPI


def square(ranks):
    side = round(ranks ** 0.5)
    return side, side


def cube(ranks):
    """As MPI_Dims_create: as near to each other as can be, the largest first."""
    best = None
    for a in range(1, ranks + 1):
        if ranks % a:
            continue
        for b in range(1, ranks // a + 1):
            if ranks // a % b == 0:
                dims = sorted((a, b, ranks // a // b), reverse=True)
                best = min(best or [ranks + 1, 0, 0], dims, key=lambda d: (d[0] - d[2], d))
    return tuple(best)


def neighbours(rank, dims, periodic):
    """(below, above) of every dimension, in row-major order of ranks."""
    out, stride = [], 1
    strides = []
    for extent in reversed(dims):
        strides.insert(0, stride)
        stride *= extent
    for extent, step in zip(dims, strides):
        at = rank // step % extent
        for to in (at - 1, at + 1):
            inside = periodic or 0 <= to < extent
            out.append(rank + (to % extent - at) * step if inside else NOBODY)
    return out


def phases(ranks):
    return ranks.bit_length() - 1


PROGRAMS = [
    Program("halo2d", 5, lambda p, n: 10 + 9 * n + (n + 9) // 10,
            lambda r, p: neighbours(r, square(p), False)),
    Program("halo3d", 3, lambda p, n: 11 + 13 * n + (n + 9) // 10,
            lambda r, p: neighbours(r, cube(p), True)),
    Program("sweep2d", 3, lambda p, n: 10 + 4 * n,
            lambda r, p: neighbours(r, square(p), False)[1::2]),
    Program("transpose", 3, lambda p, n: 5 + n,
            lambda r, p: [r % square(p)[0] * square(p)[0] + r // square(p)[0]]),
    Program("ring", 3, lambda p, n: 5 + 3 * n, lambda r, p: [(r + 1) % p]),
    Program("rows_columns", 3, lambda p, n: 9 + 2 * n, lambda r, p: []),
    Program("recursive_doubling", 3, lambda p, n: 5 + n * phases(p),
            lambda r, p: [r ^ 1 << bit for bit in range(phases(p))], phase=48),
    # Every rank sends to every other: its default starts all of these messages at once. It has no
    # variables of its own to be switched 16 million times.
    Program("alltoallv", 1, lambda p, n: 4 + n, lambda r, p: [], test_ranks=256,
            settings=("smpi/alltoallv:ring_one_barrier", "smpi/privatization:no")),
]


def may_grow(program, few, many):
    return program.digits + program.phase * (phases(many) - phases(few))
