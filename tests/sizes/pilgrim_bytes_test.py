#!/usr/bin/env python3
"""bench/pilgrim_bytes.py: its grammars are of what they were made of, and its sizes are those of the layout."""
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import pilgrim_bytes  # noqa: E402


def expand(grammar, name):
    for symbol in grammar.rules[name].symbols():
        for _ in range(symbol.count):
            if symbol.rule:
                yield from expand(grammar, symbol.value)
            else:
                yield symbol.value


def grammar_of(values, counts):
    grammar = pilgrim_bytes.Sequitur(counts)
    for value in values:
        grammar.append(value)
    return grammar


class Grammars(unittest.TestCase):
    def test_expand_to_what_was_put_in(self):
        chance = random.Random(7)
        for round_ in range(400):
            symbols, length = chance.randint(1, 5), chance.randint(0, 120)
            values = [chance.randrange(symbols) for _ in range(length)]
            if round_ % 3 == 0:
                values = values[:9] * chance.randint(1, 12) + values[9:15]
            for counts in (True, False):
                grammar = grammar_of(values, counts)
                self.assertEqual(list(expand(grammar, -1)), values)

    def test_uses_and_lengths_of_rules(self):
        chance = random.Random(8)
        for _ in range(200):
            values = [chance.randrange(3) for _ in range(100)]
            for counts in (True, False):
                grammar = grammar_of(values, counts)
                uses = {}
                for rule in grammar.rules.values():
                    body = list(rule.symbols())
                    self.assertTrue(rule.name == -1 or len(body) >= 2 or body[0].count >= 2)
                    for symbol in body:
                        if symbol.rule:
                            self.assertIs(symbol.rule, grammar.rules[symbol.value])
                            uses[symbol.value] = uses.get(symbol.value, 0) + 1
                self.assertEqual(set(uses), set(grammar.rules) - {-1})
                self.assertEqual(uses, {r.name: r.uses for r in grammar.rules.values() if r.name != -1})

    def test_a_loop_is_a_few_numbers(self):
        # One rule: its count, name, length, and a symbol with a count.
        self.assertEqual(grammar_of([4] * 1000, True).numbers(), [1, -1, 1, 4, 1000])
        body = grammar_of([1, 2, 3] * 1000, True).numbers()
        self.assertLess(len(body), 16)


class Signatures(unittest.TestCase):
    def test_send_and_its_partner(self):
        requests = pilgrim_bytes.Requests()

        def send(dest, rank):
            arguments = {"buf": "heap", "count": 3, "datatype": "MPI_BYTE", "dest": dest, "tag": 1, "comm": "world"}
            return pilgrim_bytes.signature({"call": "MPI_Send", "args": arguments}, rank, requests)

        key, size = send(5, 4)
        self.assertEqual(size, 2 + 32 + 5 * 4)
        self.assertEqual((key, size), send(2, 1))
        self.assertNotEqual(key, send(2, 2)[0])

    def test_requests_are_slots_that_come_again(self):
        requests = pilgrim_bytes.Requests()

        def irecv(name, tag):
            arguments = {"buf": "heap", "count": 3, "datatype": "MPI_BYTE", "source": 1, "tag": tag, "comm": "world",
                         "request": name}
            return pilgrim_bytes.signature({"call": "MPI_Irecv", "args": arguments}, 0, requests)[0]

        def waitall(*names):
            arguments = {"count": len(names), "array_of_requests": list(names), "array_of_statuses": [{}] * len(names)}
            return pilgrim_bytes.signature({"call": "MPI_Waitall", "args": arguments}, 0, requests)

        first = [irecv("request#1", 7), irecv("request#2", 8)]
        key, size = waitall("request#1", "request#2")
        self.assertEqual(size, 2 + 4 + 2 * 4 + 2 * 8)
        again = [irecv("request#4", 7), irecv("request#3", 8)]
        self.assertEqual(first, again)
        self.assertEqual(waitall("request#4", "request#3")[0], key)


if __name__ == "__main__":
    unittest.main()
