"""Spack recipe: copy to a repository's packages/refrain/ (`spack repo create`), set `git` or `url` to where
the sources are, then `spack install refrain`.

One installation serves the MPI that it is built with; the variant says which kind that is."""

from spack.package import *


class Refrain(CMakePackage):
    """Records every MPI call of a parallel program with every parameter in one small file, and
    answers questions from that file."""

    maintainers = []
    license("Apache-2.0")

    # Where the sources are is for the site to say: `spack develop` or `git = "..."`.
    version("main", branch="main")

    variant("mpich", default=True, description="Recorder for MPICH and its relatives")
    variant("openmpi", default=False, description="Recorder for Open MPI")
    variant("smpi", default=False, description="Recorder for SimGrid's SMPI")

    variant("report", default=True, description="report: the page, whose program npm bundles")
    variant("convert", default=True, description="convert --to otf2, sqlite and perfetto")

    conflicts("+mpich", when="+openmpi", msg="one MPI in an environment: choose one recorder")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cli11", type="build")
    depends_on("fmt")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("xxhash")
    depends_on("libunwind")
    depends_on("elfutils")
    depends_on("node-js", type="build", when="+report")
    depends_on("npm", type="build", when="+report")
    depends_on("graphviz", when="+report")
    depends_on("cpp-httplib", when="+report")
    depends_on("otf2", when="+convert")
    depends_on("sqlite", when="+convert")
    depends_on("protozero", when="+convert")
    depends_on("mpich@4:", when="+mpich")
    depends_on("openmpi@4:", when="+openmpi")
    depends_on("simgrid +smpi", when="+smpi")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("REFRAIN_TESTS", False),
            self.define("REFRAIN_WITH_MPI", any(self.spec.satisfies(v) for v in ("+mpich", "+openmpi", "+smpi"))),
            # `pip install .` in the sources puts the Python module where its interpreter looks.
            self.define("REFRAIN_WITH_PYTHON", False),
        ]
        for mpi in ("mpich", "openmpi"):
            if self.spec.satisfies("+" + mpi):
                args.append(self.define("REFRAIN_MPICC_" + mpi, self.spec[mpi].prefix.bin.mpicc))
        return args
