#!/usr/bin/env python3
"""What the recorder sees of each MPI: declared functions, wrapped, recorded with every parameter, and
exceptions with their reasons. Exit status 1 when something declared is neither wrapped nor an exception.

usage: coverage.py --spec DIR --mpi NAME "COMPILER -I..." LIBRARY [--fortran NAME LIBRARY]...
                   [--format text|json]
"""

import argparse
import json
import os
import shlex
import sys

import fortran
import gen_wrappers
import mpi_header
import spec
from wrapper_body import Body, Mismatch


def every_parameter(call, prototype):
    """Hand-written wrappers follow the table too: the tests compare them with what programs did."""
    if prototype.varargs:
        return False
    if 'hand' in call.flags:
        return len(call.params) == len(prototype.params)
    try:
        Body(call, prototype)
    except Mismatch:
        return False
    return True


def measure(tables, name, compiler, library, fortran_libraries):
    header = mpi_header.read_header(shlex.split(compiler))
    exported = mpi_header.exported_names(library)
    rows = {c.name: c for c in spec.with_large(tables['calls'])}
    excepted, missing, wrapped, complete, varargs = {}, [], [], [], []
    for function in sorted(header.functions()):
        prototype = header.prototypes[function]
        if function in rows:
            wrapped.append(function)
            if every_parameter(rows[function], prototype):
                complete.append(function)
            elif prototype.varargs:
                varargs.append(function)
        elif gen_wrappers.is_exception(function, tables['exceptions']):
            excepted[function] = tables['exceptions'][function]
        else:
            missing.append(function)
    beyond = [n for n in tables['undeclared'] if n not in header.prototypes and n in exported]
    unknown = [n for n in sorted(exported) if n.startswith(('MPI_', 'MPIX_'))
               and n not in header.prototypes and n not in beyond
               and not gen_wrappers.is_exception(n, tables['exceptions'])]
    entries = fortran.entry_points(fortran_libraries, [rows[n] for n in wrapped])
    return {'mpi': name, 'declared': len(header.functions()), 'wrapped': len(wrapped),
            'every_parameter': len(complete), 'undeclared_but_wrapped': beyond,
            'fortran_entry_points': sum(len(names) for _, names in entries),
            'hand_written': sum('hand' in rows[n].flags for n in wrapped),
            'varargs': varargs, 'exceptions': excepted, 'exported_unknown': unknown,
            'missing': missing,
            'fortran_direct': tables['fortran_direct'] if fortran_libraries else {}}


def print_text(report):
    print(f'{report["mpi"]}: {report["declared"]} functions declared, {report["wrapped"]} wrapped, '
          f'{report["every_parameter"]} recorded with every parameter '
          f'({report["hand_written"]} by hand)')
    print(f'  Fortran entry points with a trampoline: {report["fortran_entry_points"]}')
    print(f'  exported without a declaration, wrapped all the same: '
          f'{len(report["undeclared_but_wrapped"])}')
    print(f'  recorded at the Fortran entry point as well: {len(report["fortran_direct"])}')
    for name, reason in report['exceptions'].items():
        print(f'  exceptions: {name}: {reason}')
    for name in report['varargs']:
        print(f'  exceptions: {name}: the arguments behind "..." have no meaning that anyone defines')
    for name in report['exported_unknown']:
        print(f'  exported, not declared, not wrapped: {name}')
    for name in report['missing']:
        print(f'  MISSING: {name} is declared, and neither in spec/mpi/calls nor an exception')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--spec', required=True)
    parser.add_argument('--mpi', nargs=3, action='append', required=True,
                        metavar=('NAME', 'COMPILER', 'LIBRARY'))
    parser.add_argument('--fortran', nargs=2, action='append', default=[],
                        metavar=('NAME', 'LIBRARY'))
    parser.add_argument('--format', choices=('text', 'json'), default='text')
    args = parser.parse_args()
    at = lambda name: os.path.join(args.spec, name)  # noqa: E731
    try:
        tables = {'calls': spec.read_calls(at('calls')),
                  'exceptions': spec.read_exceptions(at('exceptions')),
                  'undeclared': mpi_header.read_undeclared(at('undeclared')),
                  'fortran_direct': spec.read_exceptions(at('fortran_direct'))}
        reports = [measure(tables, name, compiler, library,
                           [path for n, path in args.fortran if n == name])
                   for name, compiler, library in args.mpi]
    except (spec.SpecError, OSError) as error:
        sys.exit(f'coverage: {error}')
    if args.format == 'json':
        print(json.dumps(reports, indent=1))
    else:
        for report in reports:
            print_text(report)
    sys.exit(1 if any(report['missing'] for report in reports) else 0)


if __name__ == '__main__':
    main()
