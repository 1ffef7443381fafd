"""The extension of the package is a target of the CMake build; everything else is in pyproject.toml."""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeExtension(build_ext):
    """$REFRAIN_BUILD: a configured build folder to take the module from; else it is built from scratch."""

    def build_extension(self, ext):
        to = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve().parent
        to.mkdir(parents=True, exist_ok=True)
        jobs = ["-j", str(os.cpu_count() or 2)]
        if os.environ.get("REFRAIN_BUILD"):
            folder = pathlib.Path(os.environ["REFRAIN_BUILD"]).resolve()
            self.spawn_plainly(["cmake", "--build", str(folder), "--target", "refrain_python", *jobs])
            for module in (folder / "python/refrain").glob("_refrain.*"):
                shutil.copy2(module, to)
            return
        folder = pathlib.Path(self.build_temp).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        more = ["-G", "Ninja"] if shutil.which("ninja") and "CMAKE_GENERATOR" not in os.environ else []
        if shutil.which("ccache") and "CMAKE_CXX_COMPILER_LAUNCHER" not in os.environ:
            more.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        self.spawn_plainly(["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release",
                            "-DREFRAIN_WITH_MPI=OFF", "-DREFRAIN_TESTS=OFF", "-DREFRAIN_PYTHON_FOLDER=%s" % to,
                            "-DPython_EXECUTABLE=%s" % sys.executable, *more])
        self.spawn_plainly(["cmake", "--build", str(folder), "--target", "refrain_python", *jobs])

    @staticmethod
    def spawn_plainly(command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stdout.decode(errors="replace")[-4000:])
            raise SystemExit("refrain: %s failed" % " ".join(command[:3]))


setup(ext_modules=[Extension("refrain._refrain", sources=[])], cmdclass={"build_ext": CMakeExtension})
