#!/usr/bin/env python3
"""How many bytes Pilgrim's file format takes for the calls of a trace: an estimate, from its published layout.

usage: pilgrim_bytes.py TRACE...        prints one line a trace

Pilgrim (version 3.5) keeps, in native integers and without a compressor behind them:
  - a table of signatures: 4 bytes, and for each signature 16 and its key. A key is the function (2 bytes) and the
    parameters: 4 bytes a number, rank, handle or flag, 8 an address or a size in bytes, 32 a buffer, 8 a status.
    Partners are relative to the caller's rank. A request is the number of a slot, from a pool for each function,
    partner, tag and communicator; what completes requests lists the slots in descending order.
  - a grammar: each rank's calls are coded by Sequitur with repetition counts; grammars that are equal are kept once;
    all that are left are one sequence of numbers for a last Sequitur, without counts. 16 bytes, 4 a rank, and 4 a
    number of the last grammar: rules, and for each its name, its length, and symbol and count for each symbol.
  - 16 bytes of metadata. Durations in the default mode are not written at all.
Where it is not known here what Pilgrim would have kept (a block of the heap, an attribute, text), signatures count as
equal, which takes less. size.py has numbers that were measured, and docs/decisions/0277 how far both are apart.
"""

import argparse
import json
import subprocess
import sys
import typing

import common

kInt, kLong, kBuffer, kStatus, kEntry, kGrammarHeader, kMetadata = 4, 8, 32, 8, 16, 16, 16
kBuffers = {"buf", "sendbuf", "recvbuf", "inbuf", "outbuf", "base", "baseptr", "origin_addr", "result_addr"}
kLongs = {"offset", "disp", "target_disp", "lb", "extent", "address"}
kStarts = {"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend", "MPI_Irecv"}
kRelative = {"dest", "source"}


class Symbol:
    __slots__ = ("value", "count", "rule", "before", "after", "owner")

    def __init__(self, value, count, rule=None):
        self.value, self.count, self.rule = value, count, rule
        self.before = self.after = self.owner = None


class Rule:
    """A ring of symbols around a guard, which is no symbol."""

    def __init__(self, name):
        self.name, self.uses = name, 0
        self.guard = Symbol(None, 0)
        self.guard.before = self.guard.after = self.guard
        self.guard.owner = self

    def symbols(self):
        symbol = self.guard.after
        while symbol is not self.guard:
            yield symbol
            symbol = symbol.after


class Sequitur:
    """Nevill-Manning and Witten's algorithm; with `counts`, equal neighbours are one symbol that is repeated."""

    def __init__(self, counts, next_name=-1):
        self.counts, self.next_name = counts, next_name
        self.pairs, self.rules = {}, {}
        self.start = self._rule()

    def append(self, value, count=1):
        symbol = Symbol(value, count)
        self._put(self.start.guard.before, symbol)
        self._check(symbol.before)

    def numbers(self):
        """The grammar as Pilgrim writes it."""
        result = [len(self.rules)]
        for rule in self.rules.values():
            body = list(rule.symbols())
            result += [rule.name, len(body)]
            for symbol in body:
                result += [symbol.value, symbol.count]
        return result

    def _rule(self):
        rule = Rule(self.next_name)
        self.next_name -= 1
        self.rules[rule.name] = rule
        return rule

    @staticmethod
    def _key(symbol):
        return symbol.value, symbol.count, symbol.after.value, symbol.after.count

    @staticmethod
    def _is_pair(symbol):
        return symbol.value is not None and symbol.after.value is not None

    def _forget(self, symbol):
        if self._is_pair(symbol) and self.pairs.get(self._key(symbol)) is symbol:
            del self.pairs[self._key(symbol)]

    @staticmethod
    def _put(before, symbol):
        symbol.owner = before.owner
        symbol.before, symbol.after = before, before.after
        before.after.before = symbol
        before.after = symbol
        if symbol.rule:
            symbol.rule.uses += 1

    def _take(self, symbol):
        """Takes a symbol out; the pairs on both its sides are forgotten."""
        self._forget(symbol.before)
        self._forget(symbol)
        symbol.before.after, symbol.after.before = symbol.after, symbol.before
        if symbol.rule:
            symbol.rule.uses -= 1

    def _check(self, symbol):
        """Restores the law that no pair comes twice, for the pair that begins at this symbol."""
        if not self._is_pair(symbol):
            return False
        after = symbol.after
        if self.counts and symbol.value == after.value:
            self._forget(symbol.before)
            self._take(after)
            symbol.count += after.count
            self._check(symbol.before)
            return True
        match = self.pairs.setdefault(self._key(symbol), symbol)
        if match is symbol or match.after is symbol or after is match:
            return False
        self._fold(symbol, match)
        return True

    def _fold(self, symbol, match):
        guard = match.owner.guard
        if match.before is guard and match.after.after is guard:
            rule = match.owner
            self._replace(symbol, rule)
        else:
            rule = self._rule()
            self._put(rule.guard, Symbol(match.value, match.count, match.rule))
            self._put(rule.guard.after, Symbol(match.after.value, match.after.count, match.after.rule))
            self._replace(match, rule)
            self._replace(symbol, rule)
            self.pairs[self._key(rule.guard.after)] = rule.guard.after
        first = rule.guard.after
        if first.rule and first.rule.uses < 2 and first.count < 2:
            self._expand(first)

    def _replace(self, symbol, rule):
        before = symbol.before
        self._take(symbol.after)
        self._take(symbol)
        new = Symbol(rule.name, 1, rule)
        self._put(before, new)
        if not self._check(before) and new.before is before:
            self._check(new)

    def _expand(self, symbol):
        rule, at = symbol.rule, symbol.before
        after = symbol.after
        self._take(symbol)
        for inner in list(rule.symbols()):
            self._forget(inner)
            inner.owner = at.owner
            inner.before, inner.after = at, after
            at.after = after.before = inner
            if self._is_pair(at):
                self.pairs.setdefault(self._key(at), at)
            at = inner
        if self._is_pair(at):
            self.pairs.setdefault(self._key(at), at)
        del self.rules[rule.name]


class Requests:
    """Pilgrim's numbers of one rank's requests."""

    def __init__(self):
        self.free, self.live, self.made = {}, {}, 0

    def start(self, name, pool):
        free = self.free.setdefault(pool, [])
        if free:
            number = free.pop(0)
        else:
            number, self.made = self.made, self.made + 1
        self.live[name] = (number, pool)
        return number

    def number(self, name):
        return self.live[name][0] if name in self.live else -1

    def complete(self, name):
        if name in self.live:
            number, pool = self.live.pop(name)
            self.free[pool].append(number)


def number_of(value, rank, name):
    return rank - value if name in kRelative and isinstance(value, int) else value


def size_of(name, value):
    if name in kBuffers:
        return kBuffer
    if isinstance(value, list):
        return sum(size_of(name, v) for v in value)
    if isinstance(value, dict):
        return kStatus
    return kLong if name in kLongs else kInt


def signature(call, rank, requests):
    """(what makes a signature, bytes of its key) of one call of the dump."""
    function, arguments = call["call"], call["args"]
    size, key = 2, [function]
    several = arguments.get("array_of_requests")
    for name, value in arguments.items():
        if name.endswith("_in") and name[:-3] in arguments:
            continue  # what a parameter was before the call: Pilgrim has the value after it
        if name in ("status", "array_of_statuses"):
            continue
        if name == "request" and function in kStarts:
            pool = (function, arguments.get("dest", arguments.get("source")), arguments["tag"], arguments["comm"])
            key.append(requests.start(value, pool))
            size += kInt
        elif name == "array_of_requests":
            key.append(tuple(sorted((requests.number(v) for v in value), reverse=True)))
            size += kInt * len(value)
        elif name == "request":
            key.append(requests.number(value) if value in requests.live else requests.start(value, function))
            size += kInt
        else:
            key.append(json.dumps(number_of(value, rank, name)))
            size += size_of(name, value)
    if function in ("MPI_Wait", "MPI_Test"):
        size += kStatus
        if arguments.get("flag", 1):
            requests.complete(arguments["request"])
    elif function in ("MPI_Waitall", "MPI_Testall"):
        size += kStatus * len(several)
        if arguments.get("flag", 1):
            for name in several:
                requests.complete(name)
    elif function in ("MPI_Waitany", "MPI_Testany"):
        size += kStatus
        if isinstance(arguments["index"], int) and 0 <= arguments["index"] < len(several):
            requests.complete(several[arguments["index"]])
    elif function in ("MPI_Waitsome", "MPI_Testsome"):
        indices = arguments.get("array_of_indices") or []
        size += kStatus * len(indices)
        for index in indices:
            requests.complete(several[index])
    return tuple(key), size


def calls_of(trace, rank):
    with subprocess.Popen([common.REFRAIN, "dump", "--format", "jsonl", "--no-resolve", "--rank", str(rank), trace],
                          stdout=subprocess.PIPE, text=True) as dump:
        for line in dump.stdout:
            call = json.loads(line)
            if call["call"] not in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"):  # Pilgrim keeps none of them
                yield call


class Estimate(typing.NamedTuple):
    signatures: int
    table: int  # bytes
    grammar: int

    @property
    def total(self):
        return self.table + self.grammar + kMetadata


def estimate(trace):
    table, grammars = {}, {}
    ranks = common.info(trace)["ranks"]
    table_bytes = kInt
    for rank in range(ranks):
        requests, grammar = Requests(), Sequitur(counts=True)
        for call in calls_of(trace, rank):
            key, size = signature(call, rank, requests)
            if key not in table:
                table[key] = len(table)
                table_bytes += kEntry + size
            grammar.append(table[key])
        grammars.setdefault(tuple(grammar.numbers()), rank)
    last = Sequitur(counts=False, next_name=min(min(g) for g in grammars) - 1)
    for grammar in grammars:
        position = 1
        last.append(grammar[0])
        for _ in range(grammar[0]):
            name, length = grammar[position:position + 2]
            last.append(name)
            last.append(length)
            position += 2
            for _ in range(length):
                last.append(grammar[position], grammar[position + 1])
                position += 2
    return Estimate(len(table), table_bytes, kGrammarHeader + kInt * ranks + kInt * len(last.numbers()))


def main():
    parser = argparse.ArgumentParser(description="Bytes of Pilgrim's format for the calls of a trace, estimated.")
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    if arguments.refrain:
        common.REFRAIN = arguments.refrain
    for trace in arguments.traces:
        found = estimate(trace)
        print(f"{trace}: {found.signatures} signatures, {found.table} bytes of them, {found.grammar} of grammar, "
              f"{found.total} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
