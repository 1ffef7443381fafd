#!/usr/bin/env python3
"""Which steps of a build take longest, from ninja's log: each output by the last time it was made.

usage: build_times.py build/release/.ninja_log | --self-test

Times are of the clock, while other steps ran beside: their sum is more than the build took, and more than its
processor time where there were more steps than cores.
"""

import io
import sys

SLOWEST = 20


def read(lines):
    """{output: seconds}. One step may have several outputs: each has its time."""
    steps = {}
    for line in lines:
        words = line.rstrip('\n').split('\t')
        if len(words) == 5 and not line.startswith('#'):
            steps[words[3]] = (int(words[1]) - int(words[0])) / 1000, words[4]
    return steps


def folder_of(output):
    """What a step belongs to: src/analysis/CMakeFiles/refrain_analysis.dir/waits/op.cc.o is of refrain_analysis."""
    for word in output.split('/'):
        if word.endswith('.dir'):
            return word[:-len('.dir')]
    return 'libraries, programs and what is generated'


def text(steps):
    """The slowest steps, and all by target."""
    once = {}  # a step's outputs have its command's hash in common
    for output, (seconds, command) in steps.items():
        once.setdefault((command, seconds), (output, seconds))
    ordered = sorted(once.values(), key=lambda step: -step[1])
    out = [f'{len(ordered)} steps, {sum(s for _, s in ordered):.0f} s one after the other; the slowest:']
    out += [f'{seconds:8.1f} s  {output}' for output, seconds in ordered[:SLOWEST]]
    targets = {}
    for output, seconds in ordered:
        count, sum_of = targets.get(folder_of(output), (0, 0))
        targets[folder_of(output)] = count + 1, sum_of + seconds
    out.append('by target:')
    for name, (count, seconds) in sorted(targets.items(), key=lambda t: -t[1][1])[:SLOWEST]:
        out.append(f'{seconds:8.1f} s  {name} ({count} steps)')
    return '\n'.join(out)


SELF_TEST = '''# ninja log v5
0\t9000\t0\tsrc/a/CMakeFiles/a.dir/one.cc.o\t11
0\t2500\t0\tsrc/a/CMakeFiles/a.dir/one.cc.o\t11
2500\t4000\t0\tsrc/a/CMakeFiles/a.dir/two.cc.o\t12
4000\t4500\t0\tgenerated/x.h\t13
4000\t4500\t0\tgenerated/x.inc\t13
'''


def self_test():
    found = text(read(io.StringIO(SELF_TEST)))
    print(found)
    return 0 if '3 steps, 4 s' in found and '4.0 s  a (2 steps)' in found else 1


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip().splitlines()[2], file=sys.stderr)
        return 2
    if sys.argv[1] == '--self-test':
        return self_test()
    try:
        with open(sys.argv[1], encoding='utf-8') as log:
            print(text(read(log)))
    except OSError as error:
        print(f'build_times: {error}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
