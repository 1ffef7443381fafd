"""Traces of MPI programs that refrain recorded.

    import refrain

    trace = refrain.open("run.rfn")
    for call in trace.calls(rank=0):
        print(call.seq, call.name, call.args.get("dest"))
    trace.profile().functions                  # a Table; .to_pandas() where pandas is installed
    trace.matrix()["bytes"]                    # ranks x ranks, NumPy
    trace.waits().patterns                     # needs the times of single calls
    trace.iterations().rows                    # each iteration of the outermost loops
    trace.timeline(rank=0)                     # begin and end of every call
    trace.grammar(rank=0)                      # the loops that were found
    trace.wait_list("late_sender").head()      # single waits, the longest first
    trace.calls_in_time()                      # the calls of all ranks, as they ended
    refrain.diff(good, trace).calls            # what changed

What goes wrong raises refrain.Error with the words of the command line.
"""

import heapq
import json
import operator
import os
from collections import namedtuple

import numpy

from . import _refrain
from ._refrain import Call, Error, Signature
from .tables import Table

__all__ = ["Call", "Error", "Grammar", "Iterations", "Posix", "Profile", "Signature", "Symbol", "Table", "Trace",
           "Waits", "Diff", "diff", "open"]

_MOST_DENSE = 16384  # ranks of a dense matrix: two arrays of 2 GiB
_FOREVER = (1 << 64) - 1
_MOST_THREADS = (1 << 32) - 1

# `times` times in a row a rule of the grammar (by number) or a call (its signature's number).
Symbol = namedtuple("Symbol", ["is_rule", "number", "times"])


def open(path):
    """The Trace in a file. Reads it once, all but the times of single calls."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    return Trace(_refrain.open(name))


def diff(before, after, waits=True):
    """What changed in the communication from one Trace to another: a Diff."""
    for trace in (before, after):
        if not isinstance(trace, Trace):
            raise TypeError("diff compares two Traces, not %s" % type(trace).__name__)
    return Diff(json.loads(_refrain.diff_json(before._native, after._native, waits)))


class Trace:
    """One recorded run. Immutable."""

    def __init__(self, native):
        self._native = native

    @property
    def path(self):
        return os.fsdecode(self._native.path)

    @property
    def ranks(self):
        """How many there are."""
        return self._native.rank_count

    @property
    def call_count(self):
        """Calls of all ranks and threads."""
        return self._native.call_count

    @property
    def has_times(self):
        """Whether begin and end of single calls are known."""
        return self._native.has_times

    @property
    def info(self):
        """What `refrain info --format json` says, as a dict."""
        return json.loads(self._native.info_json())

    @property
    def clusters(self):
        """Clusters of ranks, as `refrain info` has them: a list of dicts with lead, ranks, members, sums and radius.
        Empty where every rank has its own calls and times."""
        return self.info.get("clusters", {}).get("list", [])

    def lead_of(self, rank):
        """The rank that stands for this one: itself for a lead, and where there are no clusters."""
        return self._native.lead_of(_whole("rank", rank))

    def __repr__(self):
        return "<refrain.Trace %s: %d calls of %d ranks>" % (self.path, self.call_count, self.ranks)

    def threads(self, rank):
        """Calls of each thread of a rank: {thread: calls}."""
        return dict(self._native.locations(_whole("rank", rank)))

    def calls(self, rank, thread=0, first=0, last=None, from_ns=0, to_ns=None):
        """Iterates over the calls of a thread, in order: from number `first` until `last` (not it), and of these
        those that overlap a window of time. What a call refers to stays valid without it."""
        return self._native.calls(_whole("rank", rank), _natural("thread", thread, _MOST_THREADS),
                                  _natural("first", first), _FOREVER if last is None else _natural("last", last),
                                  *_window(from_ns, to_ns))

    def calls_in_time(self, from_ns=0, to_ns=None):
        """Iterates over the calls of all ranks and threads in the order of their ends, in steady memory. Needs the
        times of single calls."""
        if not self.has_times:
            raise Error("%s: the trace has no times of single calls" % self.path)
        each = [self.calls(rank, thread, from_ns=from_ns, to_ns=to_ns)
                for rank in range(self.ranks) for thread in self.threads(rank)]
        return heapq.merge(*each, key=lambda call: call.end_ns)

    def signatures(self, rank):
        """Every different call of a rank: a list of (Signature, how often)."""
        return self._native.signatures(_whole("rank", rank))

    def grammar(self, rank, thread=0):
        """The calls of a thread as the trace has them: a Grammar."""
        return Grammar([[Symbol(*s) for s in rule]
                        for rule in self._native.grammar(_whole("rank", rank),
                                                         _natural("thread", thread, _MOST_THREADS))])

    def profile(self, from_ns=0, to_ns=None):
        """Calls, time and bytes by function, call site, call path and rank: a Profile. Of a window of time: times as
        far as they lie in it, calls and bytes of the calls that begin in it. Needs the times of single calls then."""
        return Profile(json.loads(self._native.profile_json(*_window(from_ns, to_ns))))

    def posix(self):
        """The calls of POSIX and stdio functions that the program made itself: a Posix. Needs a trace of
        `record --posix on`."""
        return Posix(json.loads(self._native.posix_json()))

    def gaps(self):
        """The time between calls: a Table with a row for each signature, those with the longest gaps together first:
        signature, call, site, calls, sum_ns, mean_ns, min_ns, max_ns, histogram (a list of [from_ns, calls]). Empty
        unless it was recorded with `--gaps`."""
        return Table.from_rows(json.loads(self._native.gaps_json()),
                               ["signature", "call", "site", "calls", "sum_ns", "mean_ns", "min_ns", "max_ns",
                                "histogram"])

    def matrix(self, kind="p2p", dense=True, from_ns=0, to_ns=None):
        """Messages and bytes from rank to rank; kind: "p2p", "rma" or "all". A dict of ranks x ranks
        arrays, first index the source; with dense=False a Table of the pairs that have messages. Of a window of
        time: messages whose calls begin in it."""
        kinds = {"p2p": _refrain.MatrixKind.p2p, "rma": _refrain.MatrixKind.rma, "all": _refrain.MatrixKind.all}
        if not isinstance(kind, str) or kind not in kinds:
            raise Error("a matrix is of kind p2p, rma or all, not '%s'" % kind)
        pairs = Table(self._native.matrix(kinds[kind], *_window(from_ns, to_ns)))
        if not dense:
            return pairs
        if self.ranks > _MOST_DENSE:
            raise Error("a matrix of %d x %d ranks does not fit into memory: ask for matrix(dense=False)"
                        % (self.ranks, self.ranks))
        out = {}
        for name in ("messages", "bytes"):
            out[name] = numpy.zeros((self.ranks, self.ranks), dtype=numpy.uint64)
            out[name][pairs["source"], pairs["dest"]] = pairs[name]
        return out

    def waits(self, from_ns=0, to_ns=None):
        """Who waited for whom, in all or in a window of time: Waits. Needs the times of single calls."""
        return Waits(json.loads(self._native.waits_json(*_window(from_ns, to_ns), "", None, 0)))

    def wait_list(self, pattern="all", rank=None, most=1000, from_ns=0, to_ns=None):
        """A Table of single waits, the longest first: rank, thread, seq, call, path, seconds, partner, ...; of a
        pattern and what it contains, of one rank or of all. Needs the times of single calls."""
        data = json.loads(self._native.waits_json(*_window(from_ns, to_ns), pattern,
                                                  None if rank is None else _whole("rank", rank),
                                                  _natural("most", most)))
        rows = data.get("explained") or []
        return Table.from_rows([{k: _path_text(v) if k == "path" else v for k, v in row.items()} for row in rows])

    def iterations(self, segments="auto", behaviours=False, method="avgWave"):
        """Each iteration of the outermost loops, and with `behaviours` what they have in common: Iterations.
        segments: "loops", "marks", or "auto": marks where there are any. Needs the times of single calls."""
        if segments not in ("auto", "loops", "marks"):
            raise Error("segments are auto, loops or marks, not '%s'" % segments)
        return Iterations(json.loads(self._native.iterations_json(segments, behaviours, method)))

    def timeline(self, rank=None, from_ns=0, to_ns=None):
        """A Table of the calls of a rank, or of all ranks: rank, thread, seq, call (an index of
        `functions`), signature, begin_ns, end_ns. Needs the times of single calls."""
        return Timeline(self._native.timeline(None if rank is None else _whole("rank", rank),
                                              *_window(from_ns, to_ns)))


class Timeline(Table):
    @property
    def functions(self):
        """Name of each number in the column `call`."""
        return {int(id): _refrain.call_name(int(id)) for id in numpy.unique(self["call"])}


class Grammar:
    """Rules, the start first; a rule only refers to later ones. `rules[0]` is a list of Symbols."""

    def __init__(self, rules):
        self.rules = rules

    def __len__(self):
        """Calls that it stands for."""
        lengths = [0] * len(self.rules)
        for number in range(len(self.rules) - 1, -1, -1):
            lengths[number] = sum(s.times * (lengths[s.number] if s.is_rule else 1) for s in self.rules[number])
        return lengths[0]

    def expand(self):
        """Iterates over the numbers of the signatures, call by call."""
        stack = [iter(self._repeated(0))]
        while stack:
            symbol = next(stack[-1], None)
            if symbol is None:
                stack.pop()
            elif symbol.is_rule:
                stack.append(iter(self._repeated(symbol.number)))
            else:
                yield symbol.number

    def _repeated(self, rule):
        for symbol in self.rules[rule]:
            for _ in range(symbol.times):
                yield symbol

    def __repr__(self):
        def text(s):
            name = "R%d" % s.number if s.is_rule else str(s.number)
            return name if s.times == 1 else "%s^%d" % (name, s.times)

        return "\n".join("R%d -> %s" % (i, " ".join(map(text, rule))) for i, rule in enumerate(self.rules))


class _Answer:
    """What the command line says as JSON. Lists of rows are Tables."""

    _tables = ()

    def __init__(self, data):
        self.data = data
        for name in self._tables:
            setattr(self, name, Table.from_rows(data.get(name) or []))


class Profile(_Answer):
    """Tables `functions`, `sites`, `groups`, `ranks`; `data`: everything, as `refrain profile --format json`."""

    _tables = ("functions", "sites", "groups", "ranks")


class Posix(_Answer):
    """Tables `functions`, most time first, and `ranks`: a row for each function and rank that called it; `data`:
    everything, as `refrain profile --posix --format json`."""

    _tables = ("functions",)

    def __init__(self, data):
        super().__init__(data)
        self.ranks = Table.from_rows(
            [{"function": f["function"], **of_rank} for f in data["functions"] for of_rank in f["by_rank"]],
            ["function", "rank", "calls", "errors", "bytes", "time_ns", "min_ns", "max_ns"])


class Waits(_Answer):
    """Tables `patterns`, `delays`, `ranks` and `severities` (pattern, call path, rank, seconds); dicts
    `efficiency`, `critical_path`, `counts`; `verdict`: what explains most of the waiting, the highest first, a
    list of dicts, and `verdict_text`: the same as a sentence; `data`: everything, as `refrain waits --format json`."""

    _tables = ("delays", "ranks")

    def __init__(self, data):
        super().__init__(data)
        self.efficiency, self.counts = data["efficiency"], data["counts"]
        self.critical_path = data["critical_path"]
        self.verdict, self.verdict_text = data["verdict"], data["verdict_text"]
        nested = ("ranks", "call_paths")
        self.patterns = Table.from_rows([{k: v for k, v in p.items() if k not in nested} for p in data["patterns"]])
        self.severities = Table.from_rows([
            {"pattern": pattern["pattern"], "call": path["call"], "path": _path_text(path["path"]),
             "rank": rank["rank"], "seconds": rank["seconds"]}
            for pattern in data["patterns"] for path in pattern["call_paths"] for rank in path["ranks"]],
            ["pattern", "call", "path", "rank", "seconds"])


class Iterations(_Answer):
    """Tables `loops` and `rows` (an iteration each; `loop` names its loop); with behaviours `behaviours` and
    `segments` as well, and `patterns`, a list of dicts: what the ranks do in the same iterations. `data`:
    everything, as `refrain iterations --format json`."""

    def __init__(self, data):
        super().__init__(data)
        numbers = ("duration_ns", "mpi_ns", "waiting_ns", "bytes")
        self.loops = Table.from_rows([
            {"name": loop["name"], "most_in": loop["most_in"], "iterations": loop["iterations"], "ranks": loop["ranks"],
             "slowest": loop["slowest"], "trend_ns": loop["trend"]["ns_per_iteration"],
             **{"%s_%s" % (stat, name): loop[name][stat] for name in numbers for stat in ("mean", "max")}}
            for loop in data["loops"]])
        self.rows = Table.from_rows([{"loop": loop["name"], **row} for loop in data["loops"] for row in loop["rows"]])
        found = data.get("behaviours") or {}
        self.behaviours = Table.from_rows(found.get("rows") or [])
        self.segments = Table.from_rows(found.get("segments") or [])
        self.patterns = found.get("patterns") or []


class Diff(_Answer):
    """Tables `calls`, `loops`, `partners`: what changed, appeared or vanished; `data`: everything, as
    `refrain diff --format json`."""

    _tables = ("calls", "loops", "partners")


def _path_text(path):
    """Call sites, the outermost first, as the command line has them."""
    return " > ".join(site["site"] for site in path)


def _whole(name, value):
    """A number from the caller as an int that the native part takes. It refuses those that are out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s is a whole number, not %r" % (name, value)) from None
    return min(max(number, -(1 << 63)), (1 << 63) - 1)


def _natural(name, value, most=_FOREVER):
    """The same of numbers that begin at 0."""
    if _whole(name, value) < 0:
        raise Error("%s is a number from 0 on, not %d" % (name, value))
    return min(operator.index(value), most)


def _window(from_ns, to_ns):
    """Both ends of a window of time; to_ns None: the end of the run."""
    window = _natural("from_ns", from_ns), _FOREVER if to_ns is None else _natural("to_ns", to_ns)
    if window[0] > window[1]:
        raise Error("from_ns is later than to_ns")
    return window
