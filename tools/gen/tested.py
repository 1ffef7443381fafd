#!/usr/bin/env python3
"""Which functions of an MPI the recorder records, and which of them a program of tests/programs calls
and logs, so that tests/compare.py holds the trace against what the program did.

usage: tested.py measure --spec DIR --programs DIR --mpi NAME "COMPILER -I..." LIBRARY [--version TEXT]
                         > ONE.json
       tested.py page --spec DIR ONE.json... > docs/coverage.md
       tested.py check --spec DIR --programs DIR [--mpi NAME "COMPILER -I..." LIBRARY]... [ONE.json...]

`check` fails for each function of the standard that no program of the normal run calls on an MPI, that has no line in
spec/mpi/untested, and that is not the large variant of one that is called.
`measure` runs where that MPI is; `page` puts what was measured anywhere into one document.
docs/coverage.md has the commands. A function counts as tested when a program of the manifest has a call of
it and a line of the log for it after preprocessing with that MPI's mpi.h: guards and macros count as the
compiler sees them.
"""

import argparse
import fnmatch
import glob
import json
import os
import re
import shlex
import subprocess
import sys

import gen_wrappers
import mpi_header
import spec

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tests', 'support'))
import sample  # noqa: E402

TITLES = {'mpich': 'MPICH', 'openmpi': 'Open MPI', 'smpi': 'SimGrid SMPI', 'abi': 'standard ABI'}
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# What the log calls a function: DO and GET write the call as a text, DID its name.
LOGGED = re.compile(r'"(MPIX?_\w+)')
CALLED = re.compile(r'\b(MPIX?_\w+)\s*\(')
FORTRAN_LOGGED = re.compile(r"\bdone\('(MPIX?_\w+)'", re.IGNORECASE)
FORTRAN_CALLED = re.compile(r'\bcall\s+(mpix?_\w+)', re.IGNORECASE)


def sources_of(programs, mpi):
    """The files of the manifest's programs that this MPI runs."""
    name = 'manifest_smpi.json' if mpi == 'smpi' else 'manifest.json'
    with open(os.path.join(programs, name), encoding='utf-8') as file:
        entries = json.load(file)['programs']
    found = set()
    run = [entry for entry in entries if mpi in entry.get('mpi', [mpi]) and 'python' not in entry]
    # What the normal run of the tests takes: SMPI runs all of its list, and of the others no MPI less than "other".
    for entry, _ in sample.cases(run, None if mpi == 'smpi' else 'other'):
        names = [entry.get('source', entry['name'] + '.c'), entry['name'] + '.c', entry['name'] + '.F90']
        for source in names:
            found.update(glob.glob(os.path.join(programs, '*', source)))
    return sorted(found)


def own_lines(text, programs):
    """Of a preprocessor's output, what came from the programs' folder."""
    kept, own = [], False
    folder = os.path.realpath(programs) + os.sep
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = os.path.realpath(marker[1]).startswith(folder)
        elif own:
            kept.append(line)
    return '\n'.join(kept)


def calls_in_c(path, programs, compiler):
    is_c = path.endswith('.c')
    command = compiler + mpi_header.DEFINES + [
        '-I' + programs, '-I' + os.path.join(programs, '..', '..', 'include'), '-D_GNU_SOURCE',
        '-x', 'c' if is_c else 'c++', '-E', path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f'{path} cannot be read: {mpi_header.first_error(done.stderr)}')
    text = own_lines(done.stdout, programs)
    called = set(CALLED.findall(STRING.sub('""', text)))
    logged = set(LOGGED.findall(text))
    return called & logged


def calls_in_fortran(path, spelling):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    logged = {n.lower() for n in FORTRAN_LOGGED.findall(text)}
    called = {n.lower() for n in FORTRAN_CALLED.findall(text)}
    return {spelling[n] for n in called & logged if n in spelling}


def calls_of_programs(programs, mpi, compiler, names):
    spelling = {n.lower(): n for n in names}
    found = set()
    for path in sources_of(programs, mpi):
        if path.endswith('.F90'):
            # The standard ABI has no Fortran compiler of its own; SMPI runs no Fortran here.
            if mpi not in ('abi', 'smpi'):
                found |= calls_in_fortran(path, spelling)
        else:
            found |= calls_in_c(path, programs, compiler)
    return found


def version_of(header, mpi):
    values = {name: value.strip('"') for name, value in header.values.items()}
    if mpi == 'mpich':
        return values.get('MPICH_VERSION', '')
    if mpi == 'openmpi':
        parts = [values.get(f'OMPI_{part}_VERSION', '') for part in ('MAJOR', 'MINOR', 'RELEASE')]
        return '.'.join(parts)
    if mpi == 'abi':
        return values.get('MPI_VERSION', '') + '.' + values.get('MPI_SUBVERSION', '')
    return ''


def measured(args, mpi, version=''):
    name, compiler, library = mpi
    compiler = shlex.split(compiler)
    header = mpi_header.read_header(compiler)
    exported = mpi_header.exported_names(library)
    rows = {c.name: c for c in spec.with_large(spec.read_calls(os.path.join(args.spec, 'calls')))}
    exceptions = spec.read_exceptions(os.path.join(args.spec, 'exceptions'))
    undeclared = mpi_header.read_undeclared(os.path.join(args.spec, 'undeclared'))
    beyond = {n for n in undeclared if n not in header.prototypes and n in exported}
    kinds = {'recorded': sorted(beyond), 'forwarded': [], 'excepted': []}
    for function in sorted(header.functions()):
        if gen_wrappers.is_known(rows.get(function), header.prototypes[function]):
            kinds['recorded'].append(function)
        elif gen_wrappers.is_exception(function, exceptions):
            kinds['excepted'].append(function)
        else:
            kinds['forwarded'].append(function)
    recorded = set(kinds['recorded'])
    tested = calls_of_programs(args.programs, name, compiler, recorded) & recorded
    standard = f'{header.values.get("MPI_VERSION", "?")}.{header.values.get("MPI_SUBVERSION", "?")}'
    return {'mpi': name, 'version': version or version_of(header, name), 'standard': standard,
            'declared': len(header.functions()), 'beyond': len(beyond),
            'recorded': sorted(recorded), 'tested': sorted(tested),
            'forwarded': kinds['forwarded'], 'excepted': kinds['excepted']}


def measure(args):
    json.dump(measured(args, args.mpi, args.version), sys.stdout, indent=1)
    print()


def reason_of(function, reasons, tested, otherwise):
    """Why no program calls it."""
    if function in reasons:
        return reasons[function]
    if function.endswith('_c') and function[:-2] in tested:
        return 'recorded by the row of the function without `_c`, which a program calls'
    for pattern, reason in reasons.items():
        if fnmatch.fnmatchcase(function, pattern):
            return reason
    return otherwise


def by_reason(functions, reasons, tested, otherwise='no program yet'):
    groups = {}
    for function in sorted(functions):
        groups.setdefault(reason_of(function, reasons, tested, otherwise), []).append(function)
    return sorted(groups.items(), key=lambda pair: (pair[0] == otherwise, pair[0]))


def title_of(report):
    return f'{TITLES.get(report["mpi"], report["mpi"])} {report["version"]}'.strip()


def is_covered(function, reasons, tested):
    """Whether it is known why no program calls it on this MPI."""
    if function in reasons or (function.endswith('_c') and function[:-2] in tested):
        return True
    return any(fnmatch.fnmatchcase(function, pattern) for pattern in reasons)


def is_ahead(report):
    """Open MPI 5 has functions of MPI 4 under an MPI_VERSION of 3, by which programs ask for them."""
    return report['mpi'] == 'openmpi' and report['version'].startswith('5.')


def uncovered(report, reasons):
    """Functions of the standard that neither a program calls nor a line says why."""
    tested = set(report['tested'])
    standard = {f for f in report['recorded'] if f.startswith('MPI_')}
    missing = sorted(f for f in standard - tested if not is_covered(f, reasons, tested))
    print(f'{title_of(report)}: {len(standard)} functions of the standard, programs call {len(standard & tested)}, '
          f'spec/mpi/untested says why not {len(standard - tested) - len(missing)}, without either {len(missing)}')
    return missing


def check(args):
    reasons = spec.read_exceptions(os.path.join(args.spec, 'untested'))
    reports = [measured(args, mpi) for mpi in args.mpi]
    for path in args.reports:
        with open(path, encoding='utf-8') as file:
            reports.append(json.load(file))
    status = 0
    for report in reports:
        missing = uncovered(report, reasons)
        if is_ahead(report):
            print('  these are not asked for: it says that it has MPI 3.1')
            continue
        for function in missing:
            print(f'  {function}: write a program of tests/programs, or the reason into spec/mpi/untested')
        status |= bool(missing)
    return status


PAGE_HEAD = '''# What is recorded, and what is tested, of each MPI

One line for each MPI that the recorder has been built against.

- *declared*: functions in its `mpi.h`; *beyond*: further ones that the library exports and
  `spec/mpi/undeclared` knows, such as those of `mpi-ext.h`.
- *recorded*: with every parameter, by a row of `spec/mpi/calls`.
- *tested*: recorded ones that a program of `tests/programs` calls and logs by its own hand, so that
  `tests/compare.py` holds every parameter in the trace against what the program did.
- *forwarded*: unknown to the table; the call goes through, and the trace counts it.
- *excepted*: left alone, for the reasons in `spec/mpi/exceptions`.

| MPI | its standard | declared | beyond | recorded | tested | forwarded | excepted |
|---|---|---|---|---|---|---|---|
'''

PAGE_HOW = '''
This page is made by `tools/gen/tested.py`, which needs Python alone. Where the MPI is:
```
tools/gen/tested.py measure --spec spec/mpi --programs tests/programs \\
    --mpi mpich "c++ -I/usr/lib/x86_64-linux-gnu/mpich/include" /usr/lib/x86_64-linux-gnu/libmpich.so > mpich.json
```
and from all the files, anywhere:
```
tools/gen/tested.py page --spec spec/mpi *.json > docs/coverage.md
```
'''


def print_groups(groups):
    print()
    for reason, functions in groups:
        print(f'- {reason} ({len(functions)}): ' + ', '.join(f'`{f}`' for f in functions))


def page(args):
    reports = []
    for path in args.reports:
        with open(path, encoding='utf-8') as file:
            reports.append(json.load(file))
    order = list(TITLES)
    reports.sort(key=lambda r: (order.index(r['mpi']) if r['mpi'] in order else len(order),
                                [int(n) for n in re.findall(r'\d+', r['version'])]))
    reasons = spec.read_exceptions(os.path.join(args.spec, 'untested'))
    print(PAGE_HEAD, end='')
    for r in reports:
        print(f'| {title_of(r)} | {r["standard"]} | {r["declared"]} | {r["beyond"]} | {len(r["recorded"])} '
              f'| {len(r["tested"])} | {len(r["forwarded"])} | {len(r["excepted"])} |')
    print(PAGE_HOW, end='')
    recorded = set().union(*(r['recorded'] for r in reports))
    tested = set().union(*(r['tested'] for r in reports))
    print(f'\n## Functions that no program calls\n\nOn none of these MPIs: {len(recorded - tested)} of '
          f'{len(recorded)} functions.', end='')
    print(' Those of the standard:')
    print_groups(by_reason((f for f in recorded - tested if f.startswith('MPI_')), reasons, tested))
    print('\nExtensions:')
    print_groups(by_reason((f for f in recorded - tested if f.startswith('MPIX_')), reasons, tested))
    print('\n## Functions that programs call on other MPIs only')
    special = {n: reason for n, reason in reasons.items() if not reason.startswith('no program')}
    for r in reports:
        if r['mpi'] == 'smpi':  # runs a part of the programs
            continue
        missing = (set(r['recorded']) & tested) - set(r['tested'])
        if missing:
            print(f'\n{title_of(r)}:')
            print_groups(by_reason(missing, special, set(), 'the program that calls it is not for this MPI'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest='verb', required=True)
    one = verbs.add_parser('measure')
    one.add_argument('--spec', required=True)
    one.add_argument('--programs', required=True)
    one.add_argument('--mpi', nargs=3, required=True, metavar=('NAME', 'COMPILER', 'LIBRARY'))
    one.add_argument('--version', default='')
    every = verbs.add_parser('page')
    every.add_argument('--spec', required=True)
    every.add_argument('reports', nargs='+')
    gate = verbs.add_parser('check')
    gate.add_argument('--spec', required=True)
    gate.add_argument('--programs')
    gate.add_argument('--mpi', nargs=3, action='append', default=[], metavar=('NAME', 'COMPILER', 'LIBRARY'))
    gate.add_argument('reports', nargs='*')
    args = parser.parse_args()
    try:
        if args.verb == 'check':
            sys.exit(check(args))
        measure(args) if args.verb == 'measure' else page(args)
    except (spec.SpecError, OSError) as error:
        sys.exit(f'tested: {error}')


if __name__ == '__main__':
    main()
