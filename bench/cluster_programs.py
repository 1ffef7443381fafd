"""The programs of `cluster.py`: those of ACURDION's evaluation and others of their kinds, from bench/programs."""

import common


class Program:
    """`steps`: what is passed as the number of steps, between the words in front of it and behind it."""

    def __init__(self, name, steps, source=None, flags=(), front=(), behind=(), dimensions=1):
        self.name, self.steps, self.source, self.flags = name, steps, source or name, tuple(flags)
        self.front, self.behind, self.dimensions = front, behind, dimensions

    @property
    def stem(self):
        """For names of files."""
        return self.name.replace(" ", "_").lower()

    def words(self, times=1):
        """The command line, with so many times the steps."""
        return [*self.front, str(times * self.steps), *self.behind]

    def ranks(self, most):
        """The largest number of ranks up to this that the program runs on."""
        return max(n**self.dimensions for n in range(1, most + 1) if n**self.dimensions <= most)

    def compile(self, compiler, folder, flags=(), kind=""):
        """`kind`: behind the name of the binary."""
        return common.compile_program(self.source, folder, [*flags, *self.flags], compiler, self.stem + kind)


# Ranks of lulesh are a cube, those of BT and SP a square. sweep3d strong has one mesh for all ranks, the others one of
# the same size for each.
PROGRAMS = [
    Program("sweep2d", 20),
    Program("halo2d", 20),
    Program("halo3d", 20),
    Program("ring", 20),
    Program("transpose", 10),
    Program("recursive_doubling", 10),
    Program("rows_columns", 10),
    Program("mg", 5),
    Program("lulesh", 5, dimensions=3),
    Program("cg", 1, behind=("400",)),
    Program("BT", 2, source="bt", behind=("6",), dimensions=2),
    Program("SP", 2, source="bt", flags=("-DSCALAR_LINES",), behind=("6",), dimensions=2),
    Program("sweep3d strong", 1, source="sweep3d", front=("strong",)),
    Program("sweep3d weak", 1, source="sweep3d", front=("weak",)),
]
