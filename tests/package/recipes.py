#!/usr/bin/python3
"""The recipes of packaging/ name what is there, and their interpreters take them; links of the documents, too.

    recipes.py --source . --refrain build/release/refrain

Exit status: 0 all good, 1 something is wrong.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

options = None


def read(*path):
    with open(os.path.join(options.source, *path)) as f:
        return f.read()


def project_version():
    return re.search(r"project\(refrain VERSION ([\d.]+)", read("CMakeLists.txt")).group(1)


class Spack(unittest.TestCase):
    """Spack itself is not needed: its directives are stood in for, and what they were told is looked at."""

    def load(self, chosen):
        told = {"depends_on": {}, "variant": {}}

        def note(kind):
            return lambda name, *rest, **words: told.setdefault(kind, {}).update({name: words})

        class Spec(dict):
            def satisfies(self, word):
                return word in chosen

            def __missing__(self, name):
                bin_folder = types.SimpleNamespace(mpicc="/mpi/%s/mpicc" % name)
                return types.SimpleNamespace(prefix=types.SimpleNamespace(bin=bin_folder))

        class CMakePackage:
            spec = Spec()

            def define(self, name, value):
                return "-D%s=%s" % (name, value)

        names = {word: note(word) for word in ("version", "variant", "depends_on", "conflicts", "license",
                                               "generator")}
        names["CMakePackage"] = CMakePackage
        source = read("packaging", "spack", "package.py").replace("from spack.package import *", "")
        exec(compile(source, "package.py", "exec"), names)  # pylint: disable=exec-used
        return names["Refrain"], told

    def test_defines_options_that_there_are(self):
        lists = "".join(read(*path) for path in (("CMakeLists.txt",), ("src", "python", "CMakeLists.txt"),
                                                 ("cmake", "RefrainMpi.cmake")))
        recipe, told = self.load({"+mpich"})
        words = recipe().cmake_args()
        self.assertIn("-DREFRAIN_MPICC_mpich=/mpi/mpich/mpicc", words)
        self.assertIn("-DREFRAIN_WITH_MPI=True", words)
        for word in words:
            name = re.match(r"-D(\w+)=", word).group(1)
            known = name in lists or re.sub("_(mpich|openmpi)$", "_${mpi}", name) in lists
            self.assertTrue(known, "%s is no option of the build" % name)
        recipe, _ = self.load(set())
        self.assertIn("-DREFRAIN_WITH_MPI=False", recipe().cmake_args())

    def test_names_every_library_that_the_build_looks_for(self):
        _, told = self.load(set())
        of_the_system = {"Threads"}
        spack = {"CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann-json", "PkgConfig": "pkgconfig",
                 "ZLIB": "zlib-api", "SQLite3": "sqlite", "Protobuf": "protobuf"}
        for folder, _, files in os.walk(os.path.join(options.source, "src")):
            if "CMakeLists.txt" not in files or folder.endswith("python"):
                continue
            with open(os.path.join(folder, "CMakeLists.txt")) as f:
                for name in set(re.findall(r"find_package\((\w+) REQUIRED", f.read())) - of_the_system:
                    self.assertIn(name, spack, "packaging/spack/package.py does not know %s" % name)
                    self.assertIn(spack[name], told["depends_on"])


class Modulefiles(unittest.TestCase):
    def prefix(self, folder):
        for name in ("bin", "lib/pkgconfig", "share/man"):
            os.makedirs(os.path.join(folder, name))
        return folder

    def run_it(self, words, text, folder):
        done = subprocess.run(words, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              env=dict(os.environ, REFRAIN_PREFIX=folder), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return sorted(done.stdout.decode().splitlines())

    def expected(self, folder):
        return sorted("%s %s" % pair for pair in (
            ("PATH", folder + "/bin"), ("MANPATH", folder + "/share/man"), ("CPATH", folder + "/include"),
            ("PKG_CONFIG_PATH", folder + "/lib/pkgconfig"), ("LD_LIBRARY_PATH", folder + "/lib"),
            ("CMAKE_PREFIX_PATH", folder), ("REFRAIN_ROOT", folder)))

    def test_tcl(self):
        if not shutil.which("tclsh"):
            self.skipTest("tclsh is not installed")
        commands = ("proc module-whatis {text} {}\nproc conflict {name} {}\n"
                    "proc setenv {name value} {puts \"$name $value\"}\n"
                    "proc prepend-path {name value} {puts \"$name $value\"}\n")
        with tempfile.TemporaryDirectory() as folder:
            text = commands + read("packaging", "modulefiles", "refrain.tcl")
            self.assertEqual(self.run_it(["tclsh"], text, self.prefix(folder)), self.expected(folder))
            self.assertTrue(read("packaging", "modulefiles", "refrain.tcl").startswith("#%Module1.0\n"))

    def test_lua(self):
        lua = next((shutil.which(n) for n in ("lua", "lua5.4", "lua5.3", "lua5.1") if shutil.which(n)), None)
        if not lua:
            self.skipTest("lua is not installed")
        functions = ("function help() end whatis = help conflict = help\n"
                     "function setenv(name, value) print(name .. ' ' .. value) end\nprepend_path = setenv\n"
                     "function pathJoin(...) return table.concat({...}, '/') end\n"
                     "function isDir(path) return os.rename(path, path) == true end\n")
        with tempfile.TemporaryDirectory() as folder:
            text = functions + read("packaging", "modulefiles", "refrain.lua")
            self.assertEqual(self.run_it([lua, "-"], text, self.prefix(folder)), self.expected(folder))

    def test_versions(self):
        said = subprocess.run([options.refrain, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertEqual(said.split()[-1], project_version())
        for name in ("refrain.lua", "refrain.tcl"):
            found = set(re.findall(r"\d+\.\d+\.\d+", read("packaging", "modulefiles", name)))
            self.assertEqual(found, {project_version()}, name)


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        checked = 0
        for folder, names, files in os.walk(options.source):
            names[:] = [n for n in names if n not in ("build", ".git")]
            for name in files:
                if not name.endswith(".md"):
                    continue
                with open(os.path.join(folder, name)) as f:
                    text = re.sub(r"```.*?```", "", f.read(), flags=re.DOTALL)
                for link in re.findall(r"\[[^\]]+\]\(([^)#\s]+)\)", text):
                    if "://" not in link:
                        checked += 1
                        self.assertTrue(os.path.exists(os.path.join(folder, link)), "%s: %s" % (name, link))
        self.assertGreater(checked, 40)

    def test_files_that_are_named_are_there(self):
        """In `ticks`, from the top of the repository. Decisions are of their day; NAME stands for any."""
        checked = 0
        pages = [os.path.join(options.source, n) for n in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md",
                                                           "tests/README.md")]
        folders = "bench|cmake|docs|examples|include|packaging|python|spec|src|tests|tools|web"
        for page in pages + sorted(glob.glob(os.path.join(options.source, "docs", "*.md"))):
            with open(page, encoding="utf-8") as f:
                text = f.read()
            for path in re.findall(r"`((?:%s)/[\w./-]+)`" % folders, text):
                if "NAME" not in path:
                    checked += 1
                    there = glob.glob(os.path.join(options.source, path.rstrip("/")) + "*")
                    self.assertTrue(there, "%s: %s" % (os.path.basename(page), path))
        self.assertGreater(checked, 60)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", required=True, type=os.path.abspath)
    parser.add_argument("--refrain", required=True, type=os.path.abspath)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()
