#!/usr/bin/env python3
"""How many lines of comment there are for a line of code, folder by folder.

    comments.py [--root DIR] [--files FOLDER]      --files: each file of a folder, the most and the least first

Public headers explain what they offer, and want some 0.7; sources say why where it is not obvious, and want some
0.15. It is a measure to look at, no rule: a short header of laws has more, a table of constants has less.
"""

import argparse
import pathlib
import sys

SUFFIXES = {".h", ".cc", ".c", ".S"}


def count(text):
    """(lines of code, lines with a comment) of a C or C++ source; a line may be both."""
    code = comments = 0
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        if inside:
            comments += 1
            inside = "*/" not in line
            continue
        if line.startswith("//"):
            comments += 1
            continue
        if line.startswith("/*"):
            comments += 1
            inside = "*/" not in line
            continue
        code += 1
        comments += "  // " in line or " /* " in line
    return code, comments


def kind_of(path):
    if path.parts[0] == "include":
        return "public headers"
    if path.stem.endswith("_test") or "testing" in path.parts or path.parts[0] == "tests":
        return "tests"
    return "headers" if path.suffix == ".h" else "sources"


def folder_of(path):
    return "/".join(path.parts[:2]) if path.parts[0] in ("src", "include") else path.parts[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--files", metavar="FOLDER")
    options = parser.parse_args()
    sums, files = {}, []
    for top in ("include", "src"):
        for path in sorted((options.root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            path, text = path.relative_to(options.root), path.read_text(encoding="utf-8")
            code, comments = count(text)
            row = sums.setdefault((folder_of(path), kind_of(path)), [0, 0, 0])
            for i, n in enumerate((1, code, comments)):
                row[i] += n
            if options.files and str(path).startswith(options.files):
                files.append((comments / max(code, 1), code, comments, path))
    if options.files:
        for ratio, code, comments, path in sorted(files, reverse=True):
            print(f"{ratio:6.2f} {code:6} {comments:6}  {path}")
        return 0
    print(f"{'folder':18} {'':15} {'files':>5} {'code':>7} {'comment':>7}  ratio")
    for (folder, kind), (number, code, comments) in sorted(sums.items()):
        print(f"{folder:18} {kind:15} {number:5} {code:7} {comments:7} {comments / max(code, 1):6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
