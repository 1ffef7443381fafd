#!/usr/bin/env python3
"""Compares spec/mpi/calls with the MPI Forum's own table of functions (apis.json of pympistandard).

usage: check_standard.py APIS_JSON [--spec DIR]
Prints every difference that tools/gen/standard_differences does not justify, and every justification
that justifies nothing any more. Exit status 1 when there is any.
"""

import argparse
import json
import os
import sys

import spec

HERE = os.path.dirname(os.path.abspath(__file__))

# Kinds of the standard's table -> our kind; prefixes, the longest match wins.
KINDS = {
    'COMMUNICATOR': 'comm', 'DATATYPE': 'datatype', 'GROUP': 'group', 'WINDOW': 'win', 'WINDOW_SIZE': 'count',
    'TOOLS_NUM_ELEM': 'int', 'FILE': 'file',
    'FILE_DESCRIPTOR': 'int', 'OPERATION': 'op', 'ERRHANDLER': 'errhandler', 'INFO': 'info',
    'INFO_VALUE_LENGTH': 'int', 'MESSAGE': 'message', 'SESSION': 'session', 'KEYVAL': 'keyval',
    'KEY_INDEX': 'int', 'KEY': 'int', 'REQUEST': 'request', 'STATUS': 'status', 'RANK': 'rank',
    'TAG': 'tag', 'LOGICAL': 'logical', 'STRING': 'string', 'STRING_LENGTH': 'int', 'BUFFER': 'buffer',
    'C_BUFFER': 'pointer', 'EXTRA_STATE': 'pointer', 'ATTRIBUTE_VAL': 'pointer', 'FUNCTION': 'function',
    'POLYFUNCTION': 'function', 'OFFSET': 'offset', 'INDEX': 'index', 'ERROR_CLASS': 'enum',
    'ACCESS_MODE': 'bits', 'ASSERT': 'bits', 'UPDATE_MODE': 'enum', 'THREAD_LEVEL': 'enum',
    'COMM_COMPARISON': 'enum', 'GROUP_COMPARISON': 'enum', 'SPLIT_TYPE': 'enum', 'LOCK_TYPE': 'enum',
    'ORDER': 'enum', 'DISTRIB_ENUM': 'enum', 'DTYPE_DISTRIBUTION': 'enum', 'COMBINER': 'enum',
    'TYPECLASS': 'enum', 'TYPECLASS_SIZE': 'int', 'TOPOLOGY_TYPE': 'enum', 'BIND_TYPE': 'enum',
    'VARIABLE_SCOPE': 'enum', 'TOOL_VAR_VERBOSITY': 'enum', 'PVAR_CLASS': 'enum',
    'CALLBACK_SAFETY': 'enum', 'SOURCE_ORDERING': 'enum', 'TOOLS_ENUM': 'tool_handle',
    'CVAR': 'tool_handle', 'CVAR_INDEX': 'int', 'PVAR': 'tool_handle', 'PVAR_INDEX': 'int',
    'PVAR_SESSION': 'tool_handle', 'EVENT_REGISTRATION': 'tool_handle', 'EVENT_INSTANCE': 'pointer',
    'EVENT_CB': 'function', 'EVENT_FREE_CB': 'function', 'EVENT_DROP_CB': 'function',
    'TOOL_MPI_OBJ': 'pointer', 'ARGUMENT_LIST': 'string', 'F90_STATUS': 'pointer',
    'F08_STATUS': 'pointer', 'LOCATION_SMALL': 'address',
}
COUNTS = ('NUM_ELEM', 'NUM_BYTES', 'PACK_SIZE', 'WINDOW_SIZE', 'ALLOC_MEM', 'WIN_ATTACH')
DISPLACEMENTS = ('DISPLACEMENT', 'STRIDE')


def kind_of(standard):
    matches = [k for k in KINDS if standard == k or standard.startswith(k + '_')
               or (standard.startswith(k) and standard[len(k):].isdigit())]
    if standard.startswith('F90_') and standard != 'F90_STATUS':
        return 'int'
    if matches:
        return KINDS[max(matches, key=len)]
    if any(word in standard for word in COUNTS):
        return 'count'
    if 'DISPOFFSET' in standard:
        return 'offset' if standard == 'DISPOFFSET_SMALL' else 'displacement'
    if any(word in standard for word in DISPLACEMENTS) and not standard.startswith('POLYRMA'):
        return 'displacement'
    return 'int'


def in_c(param, large):
    return 'c_parameter' not in param['suppress'] and (large or not param['large_only'])


def is_function(api):
    attributes = api['attributes']
    return (attributes['c_expressible'] and not attributes['callback']
            and not attributes['predefined_function'] and not api['name'].endswith('_function')
            and not api['name'].isupper())


def compare_params(call, params):
    if [p['name'] for p in params] != [p.name for p in call.params]:
        yield f'{call.name}: parameters: standard {" ".join(p["name"] for p in params)}'
        return
    for theirs, ours in zip(params, call.params):
        where = f'{call.name}.{ours.name}'
        kind = kind_of(theirs['kind'])
        if kind != ours.kind:
            yield f'{where}: kind {theirs["kind"]} is {ours.kind} here'
        direction = 'inout' if ours.direction == 'free' else ours.direction
        # A buffer is recorded as the address that the program passed.
        if ours.kind != 'buffer' and direction != theirs['param_direction']:
            yield f'{where}: direction {theirs["param_direction"]} is {direction} here'
        is_string = ours.kind == 'string' and theirs['kind'] == 'STRING'
        if bool(theirs['length'] is not None) != ours.is_array and not is_string:
            yield f'{where}: length {theirs["length"]} is {ours.lengths or "none"} here'


def compare(apis, calls):
    rows = {c.name: c for c in calls}
    for api in apis.values():
        name = api['name']
        if not is_function(api):
            continue
        if name not in rows:
            yield f'{name}: is not here'
            continue
        yield from compare_params(rows[name], [p for p in api['parameters'] if in_c(p, False)])
        has_large = any('POLY' in p['kind'] or p['large_only'] for p in api['parameters'])
        if has_large and 'large' not in rows[name].flags and name + '_c' not in rows:
            yield f'{name}: has no {name}_c here'
        if not has_large and 'large' in rows[name].flags:
            yield f'{name}: has {name}_c here only'
    known = {api['name'] for api in apis.values()}
    for call in calls:
        base = call.name[:-2] if call.name.endswith('_c') else call.name
        if call.name not in known and base not in known and not call.name.startswith('MPIX_'):
            yield f'{call.name}: is not in the standard'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('apis')
    parser.add_argument('--spec', default=os.path.join(HERE, '..', '..', 'spec', 'mpi'))
    args = parser.parse_args()
    try:
        calls = spec.read_calls(os.path.join(args.spec, 'calls'))
        justified = {}
        for _, line in spec.content_lines(os.path.join(HERE, 'standard_differences')):
            difference, _, reason = line.partition('  -- ')
            justified[difference.strip()] = reason.strip()
        with open(args.apis, encoding='utf-8') as file:
            found = list(compare(json.load(file), calls))
    except (OSError, ValueError, spec.SpecError) as error:
        sys.exit(f'check_standard: {error}')
    problems = [d for d in found if d not in justified]
    problems += [f'justified, but no difference: {d}' for d in justified if d not in found]
    for problem in problems:
        print(problem)
    agreed = sum(d in justified for d in found)
    print(f'{len(calls)} functions, {len(found)} differences, {agreed} justified')
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
