"""Compares what a program logged by its own hand with what a trace says, call by call.

A logged value is compared literally, but for these strings:
  "?"        anything
  "@name"    a handle of this rank: the first use binds it to what the trace calls it ("request#3"),
             every later use must agree, and no two live names may mean the same
  "@@name"   the same, and all ranks that use it must agree (communicators)
  "~heap"    a buffer of that class: heap, heap#1, heap#1+8; "~null": MPI_BOTTOM or NULL
  "|A|B"     a set of mode bits, in any order
"""
import json
import os
import re


class Difference(Exception):
    """The first difference, in words."""


NOT_RECORDED = {"MPI_Wtime", "MPI_Wtick"}
HANDLE = re.compile(r"^[a-z_]+#\d+$")
BUFFER = re.compile(r"^(stack|data|heap)(#\d+)?(\+\d+)?$")


def read_log(path):
    if not os.path.exists(path):
        raise Difference("the program left no log at %s" % path)
    with open(path) as f:
        return [json.loads(line) for line in f]


def read_dump(text):
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            lines.append(json.loads(line))
        except ValueError as e:
            raise Difference("line %d of the dump is no JSON (%s): %.200s" % (number, e, line))
    return lines


class Names:
    """What the program's aliases are called in the trace; one object per rank, `shared` for all."""

    def __init__(self, shared, check_live=True):
        self.shared, self.check_live = shared, check_live
        self.own, self.generation, self.live = {}, {}, {}

    def copy(self):
        twin = Names(dict(self.shared), self.check_live)
        twin.own, twin.generation = dict(self.own), dict(self.generation)
        twin.live = dict(self.live)
        return twin

    def adopt(self, twin):
        self.shared.update(twin.shared)
        self.own, self.generation, self.live = twin.own, twin.generation, twin.live

    def match(self, alias, value):
        """None, or what is wrong."""
        if not isinstance(value, str) or not HANDLE.match(value):
            return "the program has a handle of its own (%s), the trace says %s" % (alias, show(value))
        if alias not in self.own:
            kind_and_id = (value, )
            other = self.live.get(kind_and_id)
            if other is not None and self.check_live:
                return "%s is the name of two live objects: %s and %s" % (value, other, alias)
            if alias.startswith("@@"):
                key = (alias, self.generation.get(alias, 0))
                known = self.shared.setdefault(key, value)
                if known != value:
                    return "%s is %s here but %s on another rank" % (alias, value, known)
            self.own[alias] = value
            self.live[kind_and_id] = alias
        if self.own[alias] != value:
            return "%s was %s before, the trace says %s" % (alias, self.own[alias], value)
        return None

    def clash(self, aliases):
        """None, or which two of these, all alive at the same time, have one name."""
        seen = {}
        for alias in aliases:
            value = self.own.get(alias)
            if value is None:
                return "%s is said to be alive, and never used" % alias
            if value in seen:
                return "%s is the name of two live objects: %s and %s" % (value, seen[value], alias)
            seen[value] = alias
        return None

    def free(self, alias):
        value = self.own.pop(alias, None)
        self.generation[alias] = self.generation.get(alias, 0) + 1
        if value is not None:
            self.live.pop((value, ), None)


def show(value):
    return json.dumps(value)


def compare_value(logged, dumped, names, path):
    """None, or a line about the first difference below `path`."""
    wrong = "%s: the program says %s, the trace says %s" % (path, show(logged), show(dumped))
    if logged == "?":
        return None
    if isinstance(logged, str):
        if logged.startswith("@"):
            problem = names.match(logged, dumped)
            return "%s: %s" % (path, problem) if problem else None
        if logged == "~null":
            return None if dumped in ("MPI_BOTTOM", "NULL") else wrong
        if logged.startswith("~"):
            found = BUFFER.match(dumped) if isinstance(dumped, str) else None
            return None if found and found.group(1) == logged[1:] else wrong
        if logged.startswith("|"):
            same = isinstance(dumped, str) and set(dumped.split("|")) == set(logged[1:].split("|"))
            return None if same else wrong
    if isinstance(logged, dict) and isinstance(dumped, dict):
        if set(logged) != set(dumped):
            return wrong
        for key in logged:
            problem = compare_value(logged[key], dumped[key], names, "%s.%s" % (path, key))
            if problem:
                return problem
        return None
    if isinstance(logged, list) and isinstance(dumped, list):
        if len(logged) != len(dumped):
            return "%s: %d elements in the program, %d in the trace (%s, %s)" % (
                path, len(logged), len(dumped), show(logged)[:200], show(dumped)[:200])
        for i, pair in enumerate(zip(logged, dumped)):
            problem = compare_value(pair[0], pair[1], names, "%s[%d]" % (path, i))
            if problem:
                return problem
        return None
    if type(logged) is not type(dumped) or logged != dumped:
        return wrong
    return None


def compare_call(logged, dumped, names, source):
    if logged["call"] != dumped["call"]:
        return "the program called %s, the trace says %s %s" % (
            logged["call"], dumped["call"], show(dumped["args"])[:300])
    for key, value in logged["args"].items():
        if key not in dumped["args"]:
            return "%s: no args.%s in the trace: %s" % (logged["call"], key, show(dumped["args"])[:300])
        problem = compare_value(value, dumped["args"][key], names, "%s args.%s" % (logged["call"], key))
        if problem:
            return problem
    if logged.get("rc") != dumped.get("rc"):
        return "%s returned %s, the trace says %s" % (
            logged["call"], logged.get("rc", "success"), dumped.get("rc", "success"))
    if "return" in logged:
        problem = compare_value(logged["return"], dumped.get("return"), names,
                                "%s return" % logged["call"])
        if problem:
            return problem
    if "matched" in logged:
        problem = compare_value(logged["matched"], dumped.get("matched"), names,
                                "%s matched" % logged["call"])
        if problem:
            return problem
    if "line" in logged:
        want = "%s:%d" % (source, logged["line"])
        if dumped.get("site") != want:
            return "%s was called at %s, the trace says %s" % (
                logged["call"], want, show(dumped.get("site")))
    return None


def compare_sequence(logged, dumped, names, source, free=True):
    """None, or (position, text) of the first difference."""
    for i, line in enumerate(logged):
        if i >= len(dumped):
            return i, "the trace ends after %d of %d calls; %s is missing" % (
                len(dumped), len(logged), line["call"])
        problem = compare_call(line, dumped[i], names, source)
        if problem:
            return i, problem
        if free:
            for alias in line.get("freed", []):
                names.free(alias)
    if len(dumped) > len(logged):
        extra = dumped[len(logged)]
        return len(logged), "the trace goes on after the program's %d calls with %s %s" % (
            len(logged), extra["call"], show(extra["args"])[:300])
    return None


def by_thread(lines, default):
    threads = {}
    for line in lines:
        threads.setdefault(line.get("thread", default), []).append(line)
    return threads


def compare_threads(rank, logged, dumped, shared, source):
    """Program's threads and the trace's are numbered differently: each must find its like."""
    names = Names(shared, check_live=False)
    left = dict(dumped)
    for thread, lines in logged.items():
        best = (-1, "no thread is left in the trace")
        for candidate in list(left):
            trial = names.copy()
            problem = compare_sequence(lines, left[candidate], trial, source, free=False)
            if problem is None:
                names.adopt(trial)
                del left[candidate]
                break
            best = max(best, problem)
        else:
            raise Difference("rank %d thread %s call %d: %s" % (rank, thread, best[0], best[1]))
    if left:
        raise Difference("rank %d: the trace has %d more threads" % (rank, len(left)))
    for line in (line for lines in logged.values() for line in lines):
        problem = names.clash(line.get("alive", []))
        if problem:
            raise Difference("rank %d: %s" % (rank, problem))


def only_logged(logs, dump):
    """The calls of functions that are in the logs. A language binding that logs MPI_Send may call MPI_Send_c
    where the library has it."""
    wanted = {line["call"] for log in logs for line in log}
    for d in dump:
        name = d["call"]
        if name.removesuffix("_c") in wanted and name not in wanted:
            name = name.removesuffix("_c")
        if name in wanted:
            yield dict(d, call=name)


def compare_all(logs, dumps, mode, source):
    """All ranks; raises Difference. mode "logged_functions" looks only at functions in the log."""
    shared = {}
    if mode == "logged_functions":
        dumps = [list(only_logged(logs, dump)) for dump in dumps]
    for rank, (log, dump) in enumerate(zip(logs, dumps)):
        log = [line for line in log if line["call"] not in NOT_RECORDED]
        logged, dumped = by_thread(log, "main"), by_thread(dump, 0)
        if len(logged) > 1 or len(dumped) > 1:
            compare_threads(rank, logged, dumped, shared, source)
            continue
        problem = compare_sequence(log, dump, Names(shared), source)
        if problem:
            raise Difference("rank %d call %d: %s" % (rank, problem[0], problem[1]))
