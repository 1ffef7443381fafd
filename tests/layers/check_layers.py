#!/usr/bin/env python3
"""The layer test: every #include of src/ and include/ points downwards.

ALLOWED is the picture in ARCHITECTURE.md as a table of edges. On top of it:
  - <mpi.h>, and what the build makes of it, only in the folders of MPI_FOLDERS;
  - ROOMS is such a table for the folders of src/tracer; each room has a README.md;
  - what several recorders share (objects that are compiled once) sees no <mpi.h>, however indirectly;
  - format/encode and format/decode never include each other (their tests may);
  - no cycle of includes between files;
  - no cycle between the rooms (folders of any depth) of the layers of ROOMED_LAYERS: tests aside, two of
    their folders do not include each other, on no way;
  - an include in quotes names an existing file, relative to src/ or include/; without a folder it
    is a generated file of the build folder.

usage: check_layers.py [--root DIR] | --self-test        exit status 0: good, 1: a rule is broken
"""

import argparse
import pathlib
import re
import sys
import tempfile

# Folder -> folders that it may include, itself always among them. A folder that is not here is an
# error: a new layer is entered on purpose, with its place in the order.
_BELOW_FORMAT = {"result", "base", "mpi", "grammar", "similarity"}
_BELOW_READER = _BELOW_FORMAT | {"format"}
_BELOW_ANALYSIS = _BELOW_READER | {"reader", "public"}
_BELOW_REPORT = _BELOW_ANALYSIS | {"analysis", "events", "text"}
ALLOWED = {
    "public": {"result"},  # include/refrain: what is installed includes nothing of src/
    "mark": set(),  # include/refrain/mark.h: for programs, in C
    "coupling": set(),  # include/refrain/coupling.h: the same
    "blackboard_h": set(),  # include/refrain/blackboard.h and shared_blackboard.h: the same
    "result": set(),  # include/refrain/result.h: how everything fails
    "options": set(),  # those of `record`, which the command line and the recorder share
    "base": {"result"},
    "mpi": {"result", "base"},
    "grammar": {"result", "base"},
    "similarity": {"result", "base", "mpi", "grammar"},
    "format": _BELOW_FORMAT,
    "stream": {"result", "base", "coupling"},
    "blackboard": {"result", "base", "blackboard_h"},
    "mpi_runtime": {"result", "base", "mpi", "format", "options"},
    "tracer": _BELOW_READER | {"mark", "mpi_runtime", "options"},  # never meets the reader: they talk through bytes
    "reader": _BELOW_READER | {"public"},
    "text": _BELOW_ANALYSIS,
    "events": _BELOW_ANALYSIS,
    "analysis": _BELOW_ANALYSIS | {"events"},
    "sim": _BELOW_ANALYSIS | {"events"},
    "replay": _BELOW_ANALYSIS | {"events", "mark", "mpi_runtime", "options", "text"},
    "report": _BELOW_REPORT | {"sim"},
    "convert": _BELOW_REPORT | {"sim"},
    "proxy": _BELOW_REPORT | {"convert"},  # its folder of output
    "online": _BELOW_REPORT | {"report", "convert", "blackboard_h"},
    "cli": _BELOW_REPORT | {"options", "sim", "replay", "report", "convert", "proxy", "online"},
    "python": _BELOW_REPORT | {"sim", "report"},
}
# Made by tools/gen in the build folder, and included as if they stood in src/.
GENERATED = {"base/known_mpis.inc", "mpi/call_ids.h", "mpi/call_rows.inc", "mpi/call_meanings.inc",
             "mpi/constant_ids.h",
             "mpi/constant_names.inc", "mpi/output_lengths.inc", "online/page_text.inc", "proxy/runtime_text.inc"}
# Headers of include/refrain that are layers of their own: their users need no other one.
OWN_HEADERS = {"mark": "mark", "result": "result", "coupling": "coupling", "blackboard": "blackboard_h",
               "shared_blackboard": "blackboard_h"}
# Layers whose folders, of any depth, do not include each other in a circle.
ROOMED_LAYERS = {"analysis", "convert", "events", "report", "sim", "text"}
MPI_FOLDERS = {"mpi_runtime", "tracer/wrap", "tracer/finish", "replay", "stream/mpi", "blackboard/mpi"}
NO_MPI_ROOMS = {("replay", "plan")}  # of these folders
# Made from the mpi.h at hand.
MPI_HEADERS = {"mpi.h", "real_functions.h", "hand.h", "own_word.h"}

# Rooms of src/tracer: room -> rooms that it may include, itself always among them.
_BELOW_STATE = {"tables", "code", "requests"}
_BELOW_TIMES = _BELOW_STATE | {"state"}
_BELOW_CALLS = _BELOW_TIMES | {"times"}
_BELOW_FILTER = _BELOW_CALLS | {"calls"}
_BELOW_STARTUP = _BELOW_FILTER | {"filter", "messages", "spool", "paths", "symbolic"}
_BELOW_WRAP = _BELOW_STARTUP | {"startup", "finish"}
ROOMS = {
    "heap": set(),
    "posix": set(),
    "tables": set(),
    "code": set(),
    "requests": {"tables"},
    "state": _BELOW_STATE,
    "times": _BELOW_TIMES,
    "calls": _BELOW_CALLS | {"posix"},
    "messages": _BELOW_CALLS,
    "spool": _BELOW_FILTER,
    "filter": _BELOW_FILTER,
    "paths": _BELOW_TIMES - {"requests"},
    "symbolic": _BELOW_FILTER | {"filter", "heap"},
    "startup": _BELOW_STARTUP,
    "finish": _BELOW_STARTUP | {"startup"},
    "wrap": _BELOW_WRAP,
    "relay": {"startup"},
    "variants": _BELOW_WRAP | {"wrap"},
}
# Lists in src/tracer/CMakeLists.txt of what is compiled once for several recorders.
SHARED_LISTS = ("tracer_common", "tracer_kinds")
SOURCE_SUFFIXES = {".h", ".cc", ".c", ".S"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(path):
    """(line number, quote, included name) of every #include in the file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def folder_of(relative):
    """Layer of a file, by its path below the root: src/base/x.h -> base."""
    if relative.parts[0] == "include":
        return OWN_HEADERS.get(relative.stem, "public")
    return relative.parts[1] if len(relative.parts) > 2 else ""


def room_of(relative):
    """Room of a file of some layers: src/tracer/wrap/x.h -> wrap; "" of other files."""
    has_rooms = relative.parts[1:2] in (("tracer",), ("stream",), ("blackboard",))
    return relative.parts[2] if has_rooms and len(relative.parts) > 3 else ""


def sources(root):
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path


def resolve(root, includer, name):
    """File that an include names, or None (a system header, or a generated one)."""
    for base in (root / "src", root / "include", includer.parent):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def is_both_halves(one, other):
    """True when one file belongs to format/encode and the other to format/decode."""
    return {"encode", "decode"} <= {*one.parts, *other.parts} and one.parts[:2] == ("src", "format")


def check_include(root, path, name, in_quotes):
    """Errors of one #include: what is wrong, without the place."""
    relative = path.relative_to(root)
    folder = folder_of(relative)
    target = resolve(root, path, name)
    room = room_of(relative)
    if name in MPI_HEADERS and relative.parts[1:3] in NO_MPI_ROOMS:
        yield f"<{name}> has no place in {'/'.join(relative.parts[1:3])}"
    if name in MPI_HEADERS and folder not in MPI_FOLDERS and f"{folder}/{room}" not in MPI_FOLDERS:
        yield f"<{name}> belongs in {', '.join(sorted(MPI_FOLDERS))} only"
    if target is None and name not in GENERATED:
        if in_quotes and "/" in name:
            yield f"\"{name}\" is not a file of src/ or include/"
        return
    below = pathlib.Path("src") / name if target is None else target.relative_to(root)
    if folder_of(below) not in ALLOWED[folder] | {folder}:
        yield f"{folder} must not include {folder_of(below)} ({name})"
    other = room_of(below)
    if room and other and other not in ROOMS.get(room, set()) | {room} and not path.stem.endswith("_test"):
        yield f"tracer/{room} must not include tracer/{other} ({name})"
    if "/" not in name:
        yield f"\"{name}\" must be named relative to src/ or include/"
    if is_both_halves(relative, below) and not path.stem.endswith("_test"):
        yield "format/encode and format/decode must not include each other"


def check_file(root, path, graph):
    """Errors of one file; enters its edges into `graph`."""
    relative = path.relative_to(root)
    folder = folder_of(relative)
    if folder not in ALLOWED:
        return [f"{relative}: folder '{folder}' has no row in the table of layers"]
    errors = []
    if folder == "tracer" and room_of(relative) and room_of(relative) not in ROOMS:
        errors.append(f"{relative}: room '{room_of(relative)}' has no row in the table of rooms")
    for number, quote, name in includes_of(path):
        errors += [f"{relative}:{number}: {what}"
                   for what in check_include(root, path, name, quote == '"')]
        target = resolve(root, path, name)
        if target is not None:
            graph.setdefault(path.resolve(), set()).add(target)
    return errors


def find_cycle(graph):
    """One cycle of includes as a list of files, or []."""
    done, stack = set(), []

    def visit(node):
        if node in stack:
            return stack[stack.index(node):] + [node]
        if node in done:
            return []
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            cycle = visit(target)
            if cycle:
                return cycle
        stack.pop()
        done.add(node)
        return []

    for start in sorted(graph):
        cycle = visit(start)
        if cycle:
            return cycle
    return []


def find_room_cycle(root, graph):
    """One cycle among the folders of ROOMED_LAYERS, or []."""
    rooms = {}
    for path, targets in graph.items():
        if path.stem.endswith("_test") or folder_of(path.relative_to(root)) not in ROOMED_LAYERS:
            continue
        rooms.setdefault(path.parent, set()).update(t.parent for t in targets
                                                    if t.parent != path.parent)
    return find_cycle(rooms)


def sees_mpi(path, graph, known):
    """How a file includes a header of MPI_HEADERS, however indirectly: the names on the way, or None."""
    if path not in known:
        known[path] = next(([name] for _, _, name in includes_of(path) if name in MPI_HEADERS), None)
        for target in sorted(graph.get(path, ())):
            way = known[path] or sees_mpi(target, graph, known)
            if way and not known[path]:
                known[path] = [target.name] + way
    return known[path]


def check_shared(root, graph):
    """Sources that are compiled once for several MPIs see none of them."""
    lists = root / "src/tracer/CMakeLists.txt"
    if not lists.is_file():
        return
    known = {}
    text = lists.read_text(encoding="utf-8")
    for name in SHARED_LISTS:
        for words in re.findall(rf"set\({name}\s([^)]*)\)", text):
            for word in words.split():
                path = (root / "src/tracer" / word).resolve()
                way = sees_mpi(path, graph, known) if path.is_file() else None
                if way:
                    yield f"src/tracer/{word} is shared by recorders and sees {' -> '.join(way)}"


def check_rooms(root):
    """Every room opens with what it owns."""
    for room in sorted(ROOMS):
        folder = root / "src/tracer" / room
        if folder.is_dir() and not (folder / "README.md").is_file():
            yield f"src/tracer/{room} has no README.md that says what it owns"


def check_tree(root):
    root = root.resolve()
    graph, errors = {}, []
    for path in sources(root):
        errors += check_file(root, path, graph)
    cycle = find_cycle(graph)
    if cycle:
        names = " -> ".join(str(path.relative_to(root)) for path in cycle)
        errors.append(f"cycle of includes: {names}")
    rooms = find_room_cycle(root, graph)
    if rooms and not cycle:
        names = " -> ".join(str(path.relative_to(root)) for path in rooms)
        errors.append(f"cycle of rooms: {names}")
    if not cycle:
        errors += check_shared(root, graph)
    errors += check_rooms(root)
    if not graph:
        errors.append(f"{root}: no sources found")
    return errors


# Each case: files of a small tree, and a piece of the one error that it must give ("" for none).
SELF_TEST_CASES = [
    ({"src/base/a.h": "", "src/format/b.cc": '#include "base/a.h"\n'}, ""),
    ({"src/base/a.h": '#include "mpi/t.h"\n', "src/mpi/t.h": ""}, "base must not include mpi"),
    ({"src/reader/r.h": "", "src/tracer/t.cc": '#include "reader/r.h"\n'},
     "tracer must not include reader"),
    ({"src/mpi/t.h": "#include <mpi.h>\n", "src/base/b.cc": '#include "base/b.h"\n',
      "src/base/b.h": ""}, "<mpi.h> belongs in"),
    ({"src/mpi_runtime/a.cc": '#include <mpi.h>\n#include "base/a.h"\n', "src/base/a.h": ""}, ""),
    ({"src/tracer/wrap/a.cc": '#include <mpi.h>\n#include "base/a.h"\n', "src/base/a.h": "",
      "src/tracer/wrap/README.md": ""}, ""),
    ({"src/tracer/state/a.cc": '#include <mpi.h>\n#include "base/a.h"\n', "src/base/a.h": "",
      "src/tracer/state/README.md": ""}, "<mpi.h> belongs in"),
    ({"src/tracer/state/a.cc": '#include "tracer/wrap/w.h"\n', "src/tracer/wrap/w.h": "",
      "src/tracer/state/README.md": "", "src/tracer/wrap/README.md": ""},
     "tracer/state must not include tracer/wrap"),
    ({"src/tracer/wrap/a.cc": '#include "tracer/wrap/w.h"\n', "src/tracer/wrap/w.h": ""}, "has no README.md"),
    ({"src/tracer/attic/a.cc": '#include "base/a.h"\n', "src/base/a.h": ""}, "no row in the table of rooms"),
    ({"src/tracer/code/a.cc": '#include "mpi_runtime/m.h"\n', "src/mpi_runtime/m.h": "#include <mpi.h>\n",
      "src/tracer/code/README.md": "", "src/tracer/CMakeLists.txt": "set(tracer_common\n  code/a.cc)\n"},
     "is shared by recorders and sees m.h -> mpi.h"),
    ({"src/format/encode/e.cc": '#include "format/decode/d.h"\n', "src/format/decode/d.h": ""},
     "must not include each other"),
    ({"src/format/encode/e_test.cc": '#include "format/decode/d.h"\n',
      "src/format/decode/d.h": ""}, ""),
    ({"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/a.h"\n'},
     "cycle of includes"),
    ({"src/base/a.cc": '#include "base/gone.h"\n#include "base/b.h"\n', "src/base/b.h": ""},
     "is not a file"),
    ({"src/tracer/a.cc": '#include "made_by_the_build.h"\n#include "base/b.h"\n',
      "src/base/b.h": ""}, ""),
    ({"src/base/a.cc": '#include "mpi/call_ids.h"\n#include "base/b.h"\n', "src/base/b.h": ""},
     "base must not include mpi"),
    ({"src/base/a.cc": '#include "b.h"\n', "src/base/b.h": ""}, "must be named relative"),
    ({"src/odd/a.cc": "", "src/base/a.cc": '#include "base/b.h"\n', "src/base/b.h": ""},
     "no row in the table"),
    ({"src/events/a.h": '#include "events/room/b.h"\n', "src/events/room/b.h": "",
      "src/events/room/c.cc": '#include "events/d.h"\n', "src/events/d.h": ""}, "cycle of rooms"),
    ({"src/events/a.h": '#include "events/room/b.h"\n', "src/events/room/b.h": "",
      "src/events/room/c_test.cc": '#include "events/d.h"\n', "src/events/d.h": ""}, ""),
    ({"include/refrain/r.h": '#include "analysis/a.h"\n', "src/analysis/a.h": ""},
     "public must not include analysis"),
    ({"include/refrain/r.h": '#include "base/a.h"\n', "src/base/a.h": ""},
     "public must not include base"),
    ({"src/base/a.h": '#include "refrain/result.h"\n', "include/refrain/result.h": ""}, ""),
]


def self_test():
    failures = 0
    for files, expected in SELF_TEST_CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            errors = check_tree(root)
        good = not errors if not expected else len(errors) == 1 and expected in errors[0]
        if not good:
            failures += 1
            print(f"self-test: {sorted(files)}: expected '{expected}', got {errors}")
    # The table itself has an order: nothing may be reachable from itself.
    for what, edges in (("layers", ALLOWED), ("rooms", ROOMS)):
        table = {name: sorted(below) for name, below in edges.items()}
        if find_cycle(table):
            failures += 1
            print(f"self-test: the table of {what} has a cycle: {find_cycle(table)}")
    print(f"layers self-test: {len(SELF_TEST_CASES) + 2} cases, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Check that includes go downwards only.")
    default_root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=pathlib.Path, default=default_root)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 1 if self_test() else 0
    errors = check_tree(arguments.root)
    for error in errors:
        print(error)
    print(f"layers: {len(errors)} broken rules")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
