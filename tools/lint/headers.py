#!/usr/bin/env python3
"""Every header compiles by itself, with the flags of a source beside it.

usage: headers.py --build DIR [--root DIR] [--jobs N] | --self-test

DIR is a build folder with compile_commands.json whose generated files are there. A header of C programs
is compiled as C. Headers of what is not built (no MPI) are counted and left out. Exit status 1: a header
does not compile.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TOPS = ("src", "include", "tests", "bench", "examples")
# Folders without sources of their own -> one whose sources use them.
BORROWED = {"include": "src/reader", "src/options": "src/cli/options"}
UNITED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def sources_of(path, build):
    """Sources that a compiler run takes: the file, or what a file that unites several includes."""
    if path.parent.name == "Unity" and build in path.parents and path.is_file():
        return [pathlib.Path(name) for name in UNITED.findall(path.read_text(encoding="utf-8"))]
    return [path]


def read_commands(build, root):
    """Folder relative to the root -> words of the compiler for a source in it, without the source."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        of_the_root = [s for s in sources_of(pathlib.Path(entry["file"]), build)
                       if root in s.parents and s.suffix == ".cc" and build not in s.parents]
        if not of_the_root:
            continue
        words = shlex.split(entry["command"])
        at = words.index("-o")
        words = [w for i, w in enumerate(words) if i not in (at, at + 1) and w not in ("-c", entry["file"])]
        if pathlib.Path(words[0]).name == "ccache":
            words = words[1:]
        # Of a folder with several targets the one that can see most.
        for folder in {source.parent.relative_to(root) for source in of_the_root}:
            if len(words) > len(found.get(folder, [])):
                found[folder] = words
    return found


def headers(root):
    for top in TOPS:
        for path in sorted((root / top).rglob("*.h")):
            yield path.relative_to(root)


def as_c(commands, header, root):
    """Words that compile a header of C programs: the include folders that some C++ source has."""
    # tests/programs has rooms, whose programs find what they share one folder up.
    folders = [root / "include", (root / header).parent, (root / header).parent.parent]
    words = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", *(f"-I{f}" for f in folders)]
    for command in commands.values():
        system = [w for i, w in enumerate(command) if "-isystem" in command[max(0, i - 1):i + 1]]
        if any("mpi" in w for w in system):
            return words + system
    return None


def command_for(commands, header, root):
    """(language, words) or None when nothing that is built is like this header."""
    if header.parts[:2] == ("include", "refrain") and header.name == "mark.h":
        return "c", ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{root}/include"]
    for folder in header.parents:
        folder = pathlib.Path(BORROWED.get(str(folder), folder))
        if folder in commands:
            return "c++", commands[folder]
        if header.parts[0] == "src" and len(folder.parts) <= 1:
            break
        if any((root / folder).glob("*.c")):
            words = as_c(commands, header, root)
            return ("c", words) if words else None
    below = [f for f in commands if header.parent in f.parents]  # sources in deeper folders only
    return ("c++", commands[below[0]]) if below else None


def compile_header(root, header, language, words):
    """What the compiler says; empty when the header is good."""
    done = subprocess.run([*words, "-fsyntax-only", "-x", language, "-"], cwd=root, capture_output=True,
                          text=True, input=f'#include "{root / header}"\n')
    return done.stderr if done.returncode != 0 else ""


def check(root, build, jobs):
    """(headers that compile, messages, headers that were left out)"""
    commands = read_commands(build, root)
    tasks, left_out = [], []
    for header in headers(root):
        found = command_for(commands, header, root)
        if found:
            tasks.append((header, *found))
        else:
            left_out.append(header)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda task: compile_header(root, *task), tasks))
    messages = [f"{task[0]} does not compile by itself:\n{m}" for task, m in zip(tasks, results) if m]
    return len(tasks) - len(messages), messages, left_out


SELF_TEST = {
    "src/a/good.h": "#pragma once\n#include <cstdint>\nnamespace a {\nuint8_t f();\n}\n",
    "src/a/bad.h": "#pragma once\nnamespace a {\nstd::string f();\n}\n",
    "src/a/a.cc": '#include "a/good.h"\n',
    "src/b/bad.h": "#pragma once\nint f(NO_SUCH_MACRO x);\n",
    "src/b/b.cc": "int g();\n",
    "src/tracer/needs_mpi.h": "#include <mpi.h>\n",
    "include/refrain/mark.h": "static inline int refrain_f(void) { return 1; }\n",
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in SELF_TEST.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        build = root / "build"
        build.mkdir()
        source = str(root / "src/a/a.cc")
        united = build / "b.dir/Unity/unity_0_cxx.cxx"  # b's sources are not named one by one
        united.parent.mkdir(parents=True)
        united.write_text(f'/* made by CMake */\n#include "{root}/src/b/b.cc"\n', encoding="utf-8")
        (build / "compile_commands.json").write_text(json.dumps([
            {"file": name, "command": f"c++ -std=c++20 -I{root}/src -o {name}.o -c {name}"}
            for name in (source, str(united))]), encoding="utf-8")
        good, messages, left_out = check(root, build, 2)
    found = (good, [m.split()[0] for m in messages], [str(h) for h in left_out])
    expected = (2, ["src/a/bad.h", "src/b/bad.h"], ["src/tracer/needs_mpi.h"])
    print(f"headers self-test: {'good' if found == expected else found}")
    return 0 if found == expected else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.build:
        parser.error("--build is missing")
    good, messages, left_out = check(args.root.resolve(), args.build.resolve(), args.jobs)
    print("\n".join(messages), end="")
    print(f"headers: {good} compile by themselves, {len(messages)} do not, {len(left_out)} are not built here")
    for header in left_out:
        print(f"  not built here: {header}")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
