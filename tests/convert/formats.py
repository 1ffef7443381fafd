"""A trace in all formats of `refrain convert`, each held against what `dump` and `matrix` say."""

import json
import os
import subprocess
import tempfile
import typing

import readers
from readers import check


class Format(typing.NamedTuple):
    """What the tests know of a format."""
    what: str  # the output, in messages: "cannot write the CSV file"
    read: typing.Callable  # (path, said, calls, pairs): reads the output, and holds it against the trace
    times: str = "built"  # where times come from when the trace has none of single calls
    tables: bool = False  # knows both ends of a message: `--memory` limits its tables
    package: str = ""  # that a build may lack
    tools: tuple = ()  # that `read` needs
    suffix: str = ""


FORMATS = {
    "csv": Format("CSV file", lambda path, said, calls, pairs: readers.check_csv(path, calls), times="none"),
    "sqlite": Format("SQLite database", lambda path, said, calls, pairs: readers.check_sqlite(path, calls, pairs),
                     times="none", package="libsqlite3-dev"),
    "otf2": Format("OTF2 archive", lambda path, said, calls, pairs: readers.check_otf2(
        path, calls, pairs, has_otf2_module()), tables=True, package="libopen-trace-format2-dev",
                   tools=("otf2-print",)),
    "perfetto": Format("Perfetto trace", lambda path, said, calls, pairs: readers.check_perfetto(
        said["files"], calls, pairs), package="libprotozero-dev", tools=("protoc",)),
    "ti": Format("SimGrid trace", lambda path, said, calls, pairs: readers.check_ti(path, pairs), tables=True),
    "paraver": Format("Paraver trace", lambda path, said, calls, pairs: readers.check_paraver(path, calls, pairs),
                      tables=True, suffix=".prv"),
    "goal": Format("GOAL file", lambda path, said, calls, pairs: readers.check_goal(path, pairs), tables=True),
}
ALL = tuple(FORMATS)


def lacks(target, done):
    """Whether a conversion says that this build cannot write the format."""
    package = FORMATS[target].package
    return done.returncode == 5 and package != "" and package in done.stderr


def bytes_of(paths):
    """All files by their names. An archive has a random number in its anchor file."""
    out = {}
    for path in paths:
        files = [path] if os.path.isfile(path) else [
            os.path.join(at, name) for at, _, names in os.walk(path) for name in names]
        for file in files:
            if os.path.basename(file) != "traces.otf2":
                with open(file, "rb") as content:
                    out[file] = content.read()
    return out


def check_memory(converter, trace, sizes, *more, statuses=(0,)):
    """Little --memory makes the same bytes, and says the same."""
    for target in (name for name, one in FORMATS.items() if one.tables):
        plain = converter.convert(trace, target, *more, statuses=statuses)
        if plain is None:
            continue
        want = bytes_of(plain["files"])
        for size in sizes:
            said = converter.convert(trace, target, *more, "--memory", size, statuses=statuses)
            where = "%s to %s, %s in %s" % (os.path.basename(trace), target, more, size)
            check(said == plain, "%s: %s, not %s" % (where, said, plain))
            check(want and bytes_of(said["files"]) == want, "%s: other bytes" % where)


class Converter:
    def __init__(self, refrain, folder):
        self.refrain, self.folder = refrain, folder
        self.skipped = set()

    def output(self, target):
        known = FORMATS.get(target)  # a test asks for a format that there is not, too
        return os.path.join(self.folder, "out-" + target + (known.suffix if known else ""))

    def run(self, trace, target, *options, output=None, **how):
        argv = [self.refrain, "convert", trace, "--to", target, "-o", output or self.output(target),
                "--format", "json", *options]
        return subprocess.run(argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, **how)

    def convert(self, trace, target, *options, statuses=(0,)):
        """What it says; None when this build lacks the format."""
        done = self.run(trace, target, "--force", *options)
        if lacks(target, done):
            self.skipped.add(target)
            return None
        check(done.returncode in statuses, "%s: status %d: %s" % (target, done.returncode, done.stderr))
        said = json.loads(done.stdout)
        for path in said["files"]:
            check(os.path.exists(path), "%s: no %s" % (target, path))
        return said

    def check(self, trace, targets=ALL, statuses=(0,)):
        """Converts to each format and reads that back. What was said of each."""
        calls = readers.dumped(self.refrain, trace)
        pairs = readers.matrix(self.refrain, trace)
        everything = {}
        for target in targets:
            said = self.convert(trace, target, statuses=statuses)
            if said is None:
                continue
            everything[target] = said
            check(said["calls"] == len(calls), "%s: %d calls of %d" % (target, said["calls"], len(calls)))
            if not readers.have(*FORMATS[target].tools):
                self.skipped.add(target)
                continue
            FORMATS[target].read(self.output(target), said, calls, pairs)
        return everything


def has_otf2_module():
    try:
        import otf2  # noqa: F401
        return True
    except ImportError:
        return False


def run_tests(tests, refrain):
    """Each with a converter and a folder of its own. The exit status."""
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            converter = Converter(os.path.abspath(refrain), folder)
            try:
                test(converter)
                note = " (not read: %s)" % ", ".join(sorted(converter.skipped)) if converter.skipped else ""
                print("ok    %s%s" % (test.__name__, note), flush=True)
            except readers.Wrong as wrong:
                failed += 1
                print("FAIL  %s: %s" % (test.__name__, wrong), flush=True)
    return 1 if failed else 0
