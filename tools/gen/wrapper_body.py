"""One row of spec/mpi/calls and one C prototype -> the C++ that records the call."""

import re

import spec

# Generated locals; a parameter of such a name would hide one.
LOCALS = ('call_scope', 'real', 'rc', 'ok', 'enc', 'at_root', 'given', 'words')
# Calls that stand in inner loops; the others always go the long way.
REPEATING_GROUPS = ('p2p', 'coll', 'rma', 'comm')
MAX_WORDS = 12  # more: comparing them costs as much as encoding them
SCALARS = {'int': 'integer', 'count': 'integer', 'logical': 'integer', 'address': 'integer',
           'offset': 'integer', 'displacement': 'integer', 'rank': 'rank', 'tag': 'tag',
           'index': 'undefined_or'}
ARRAYS = {'rank': 'rank_array', 'index': 'index_array'}
CREATORS = {'datatype': 'new_datatype({0})', 'win': 'new_win({1}, {0})', 'file': 'new_file({1}, {0})',
            'comm': 'new_comm({1}, {0})'}


class Mismatch(Exception):
    """The table and the mpi.h at hand disagree."""


def kind_of_handle(param):
    name = 'Tool' + spec.camel(param.sub) if param.kind == 'tool_handle' else spec.camel(param.kind)
    return f'Kind::k{name}'


def domain(param):
    return f'domain::k{spec.camel(param.sub)}'


class Body:
    """Statements before the call and after it."""

    def __init__(self, call, prototype):
        if len(call.params) != len(prototype.params):
            raise Mismatch(f'{call.name} has {len(prototype.params)} parameters in mpi.h and '
                           f'{len(call.params)} in the table')
        for p in call.params:
            if p.name in LOCALS:
                raise Mismatch(f'{call.name}: parameter "{p.name}" hides a generated variable')
        self.call = call
        self.prototype = prototype
        self.c = {p.name: c for p, c in zip(call.params, prototype.params)}
        self.before = []
        self.after = []
        self.uses_ok = False
        self.uses_root = False
        for p in call.params:
            self.after += self.record(p)

    # -- expressions --

    def value(self, p):
        return f'*{p.name}' if self.c[p.name].is_pointer and not p.is_array else p.name

    def is_output(self, p):
        return p.direction == 'out'

    def operand(self, name):
        p = self.call.param(name)
        return f'*{name}' if p.direction in ('out', 'inout') and not p.is_array else name

    def length(self, text):
        """C++ for a length; see the head of spec/mpi/calls."""
        text = text.strip()
        if text == 'null':
            return '-1'
        m = re.fullmatch(r'(\w+)\((.*)\)', text)
        if m:
            parts, depth, part = [], 0, ''
            for c in m[2]:
                depth += {'(': 1, ')': -1}.get(c, 0)
                if c == ',' and depth == 0:
                    parts.append(part)
                    part = ''
                else:
                    part += c
            parts = [self.length(x) for x in parts + [part]]
            if m[1] == 'size':
                return f'enc.comm_size({parts[0]})'
            if m[1] in ('indegree', 'outdegree', 'ndims'):
                return f'enc.{m[1]}({parts[0]})'
            if m[1] == 'min':
                return f'std::min<int64_t>({", ".join(parts)})'
            return f'{m[1]}_of({", ".join(parts)})' if m[1] in ('sum', 'last') else (
                f'{m[1]}({", ".join(parts)})')
        if text.isdigit():
            return text
        return self.operand(text)

    def parent(self):
        comm = next((p for p in self.call.params if p.kind == 'comm' and p.direction == 'in'
                     and not p.is_array), None)
        return comm.name if comm else 'MPI_COMM_NULL'

    # -- conditions --

    def conditions(self, p):
        found = []
        if self.is_output(p):
            self.uses_ok = True
            found.append('ok')
            if self.call.group == 'tool':  # MPI_T: any output may be left out
                found.append(f'{p.name} != nullptr')
        if p.flag:
            found.append(f'*{p.flag} != 0')
        if p.root:
            self.uses_root = True
            found.append('at_root')
        if p.in_place:
            found.append(f'{p.in_place} != MPI_IN_PLACE')
        if p.is_string_with_room and p.lengths:
            self.save(p.lengths[0])
            found.append(f'before_{p.lengths[0]} > 0')
        return found

    def save(self, name):
        line = f'const int before_{name} = {name} != nullptr ? *{name} : 0;'
        if line not in self.before:
            self.before.append(line)

    # -- one parameter --

    def record(self, p):
        if p.direction in ('inout', 'free'):
            return self.record_inout(p)
        if not self.is_output(p) and p.kind in spec.HANDLE_KINDS and not p.is_array:
            significant = ' && '.join(self.conditions(p))
            tail = f', {significant}' if significant else ''
            return [f'enc.handle({kind_of_handle(p)}, {p.name}{tail});']
        conditions = self.conditions(p)
        statement = self.encode(p)
        if not conditions:
            return statement
        if statement[0].startswith('if '):
            return [f'if ({" && ".join(conditions)}) {{', '  ' + statement[0], '} else {',
                    '  enc.none();', '}']
        return [f'if ({" && ".join(conditions)}) {statement[0]}', 'else enc.none();']

    def encode(self, p):
        if p.is_array:
            return self.encode_array(p)
        value = self.value(p) if self.is_output(p) else p.name
        if p.kind == 'request' and self.is_output(p):
            return [f'enc.new_request({p.name}, {self.traits()});']
        if p.kind in spec.HANDLE_KINDS:
            return [self.encode_new_handle(p, value)]
        return [self.encode_scalar(p, value)]

    def encode_scalar(self, p, value):
        if p.kind in SCALARS:
            method = 'undefined_or' if p.sub == 'undefined' else SCALARS[p.kind]
            return f'enc.{method}({value});'
        if p.kind in ('enum', 'bits'):
            return f'enc.{"named" if p.kind == "enum" else "bits"}({domain(p)}, {value});'
        if p.kind == 'pointer':
            if not self.is_output(p):
                return f'encode_pointer(enc, {p.name});'
            if p.sub:
                return f'encode_attribute(enc, {p.sub}, {p.name});'
            return f'encode_pointer(enc, pointer_at({p.name}));'
        if p.kind == 'function':
            address = f'function_address({p.name})'
            where = f'{domain(p)}' if p.sub else '0'
            return f'encode_function(enc, {where}, {address});'
        if p.kind == 'status':
            defined = not self.is_output(p) or p.sub == 'given'
            return f'enc.status({p.name}, StatusHow::k{"Message" if defined else "Undefined"});'
        method = {'buffer': 'buffer', 'string': 'string', 'request': 'request'}[p.kind]
        return f'enc.{method}({p.name});'

    def encode_new_handle(self, p, value):
        if p.kind == 'comm' and any(q.kind == 'request' for q in self.call.params):
            request = next(q for q in self.call.params if q.kind == 'request')
            return f'enc.new_comm_pending({self.parent()}, {p.name}, {request.name});'
        if p.kind in CREATORS:
            return f'enc.{CREATORS[p.kind].format(value, self.parent())};'
        return f'enc.new_handle({kind_of_handle(p)}, {value});'

    def encode_array(self, p):
        lengths = [self.length(x) for x in p.lengths]
        count = lengths[0]
        if p.kind == 'string':
            method = 'string_array2' if len(lengths) > 1 else 'string_array'
            statement = f'enc.{method}({p.name}, {count});'
        elif p.kind == 'enum':
            statement = f'enc.named_array({domain(p)}, {p.name}, {count});'
        elif p.kind == 'ranges':
            statement = f'enc.range_array({p.name}, {count});'
        elif p.kind == 'datatype' and self.is_output(p):
            statement = f'encode_new_datatypes(enc, {p.name}, {count});'
        elif p.kind in spec.HANDLE_KINDS:
            statement = f'enc.handle_array({kind_of_handle(p)}, {p.name}, {count});'
        else:
            statement = f'enc.{ARRAYS.get(p.kind, "int_array")}({p.name}, {count});'
        if p.sub and p.kind in ('string', 'int'):
            return [f'if (!encode_named_pointer(enc, {domain(p)}, {p.name})) {statement}']
        return [statement]

    def record_inout(self, p):
        pointer = self.c[p.name].is_pointer
        if p.kind in spec.HANDLE_KINDS and not p.is_array:
            capture = 'capture_to_free' if p.direction == 'free' else 'capture'
            if pointer:
                self.before.append(f'const Captured before_{p.name} = {p.name} != nullptr ? '
                                   f'call_scope.{capture}({kind_of_handle(p)}, *{p.name}) : Captured{{}};')
            else:
                self.before.append(f'const Captured before_{p.name} = '
                                   f'call_scope.{capture}({kind_of_handle(p)}, {p.name});')
            lines = [f'enc.captured(before_{p.name});']
            if p.direction == 'free':
                self.uses_ok = True
                lines.append(f'if (ok) call_scope.released({kind_of_handle(p)}, before_{p.name});')
                lines.append(f'else call_scope.not_released({kind_of_handle(p)}, before_{p.name});')
            return lines
        if p.kind == 'status':
            return [f'enc.status({p.name}, StatusHow::kMessage);']
        if p.is_array:
            count = self.length(p.lengths[0])
            self.before.append(f'const SavedInts before_{p.name}({p.name}, {count});')
            return [f'encode_changed(enc, {p.name}, before_{p.name});']
        self.save(p.name)
        return [f'if ({p.name} != nullptr) enc.changed(*{p.name}, before_{p.name});',
                'else enc.none();']

    def traits(self):
        """What the runtime must know of the request, in the order of RequestTraits' members."""
        fields = ['.persistent = true'] if 'persistent' in self.call.flags else []
        if self.call.receives is not None:
            fields.append('.is_receive = true')
            # A matched message has been chosen already: nothing was asked for that a status could equal.
            names = self.call.receives or ['MPI_UNDEFINED', 'MPI_UNDEFINED']
            fields += [f'.{field} = {name}' for field, name in zip(('source', 'tag'), names)]
        if 'partitioned' in self.call.flags:
            fields.append('.partitioned = true')
        return f'RequestTraits{{{", ".join(fields)}}}'

    # -- the short way: see CallScope::repeats() --

    def words(self):
        """C++ for the values that fix the signature, or None where more than scalars do."""
        if self.call.returns != 'error' or self.call.group not in REPEATING_GROUPS:
            return None
        words = []
        for p in self.call.params:
            if p.is_array or p.direction in ('inout', 'free'):
                return None
            if p.kind == 'request' and self.is_output(p):
                continue
            plain = p.kind in SCALARS or p.kind in ('enum', 'bits')
            if self.is_output(p):
                if not plain:
                    return None
                flag = f'*{p.flag} == 0 ? 0 : ' if p.flag else ''
                words.append(f'{flag}word(*{p.name})')
            elif plain or p.kind == 'buffer' or (p.kind in spec.HANDLE_KINDS):
                words.append(f'word({p.name})')
            else:
                return None
        return words if 0 < len(words) <= MAX_WORDS else None

    # -- the function --

    def root_line(self):
        comm = next(p.name for p in self.call.params if p.kind == 'comm' and p.direction == 'in')
        return f'const bool at_root = enc.is_root({comm}, root);'

    def text(self):
        call, names = self.call, [p.name for p in self.call.params]
        params = ['CallScope& call_scope', f'decltype(RealFunctions::{call.name}) real'] + [
            c.declare(n) for c, n in zip(self.prototype.params, names)]
        error = call.returns == 'error'
        returns = self.prototype.returns
        words = self.words()
        head = f'{returns} {call.name}_body({", ".join(params)}) {{'
        # The short way is part of each wrapper, the long way stands once and out of the way.
        lines = ['[[gnu::always_inline]] inline ' + head] if words else [head]
        lines += ['  ' + s for s in self.before]
        lines += ['  call_scope.begin();', f'  const auto rc = real({", ".join(names)});', '  call_scope.end();']
        if words:  # outputs of a call that failed are not looked at
            request = next((p.name for p in call.params if p.kind == 'request'), None)
            repeats = f'repeats_request({request}, ' if request else 'repeats('
            lines += [f'  if (rc == MPI_SUCCESS && call_scope.{repeats}{", ".join(words)})) [[likely]]',
                      '    return rc;']
            passed = ', '.join(['call_scope', 'rc'] + names)
            lines += [f'  {call.name}_long_way({passed});', '  return rc;', '}', '']
            short_way = lines
            given = [f'CallScope& call_scope, {returns} rc'] + params[2:]
            recurs = f'recurs_request({request}, ' if request else 'recurs('
            lines = [f'[[gnu::noinline]] void {call.name}_long_way({", ".join(given)}) {{',
                     f'  if (rc == MPI_SUCCESS && call_scope.{recurs}{", ".join(words)})) return;']
        if self.uses_ok:
            lines.append(f'  const bool ok = {"rc == MPI_SUCCESS" if error else "true"};')
        encoder = f'call_scope.encoder({"rc" if error else "MPI_SUCCESS"});'
        lines.append(f'  Encoder& enc = {encoder}' if self.after or not error else f'  {encoder}')
        if self.uses_root:
            lines.append('  ' + self.root_line())
        lines += ['  ' + s for s in self.after]
        if not error:
            result = spec.Param('rc', call.returns)
            lines.append('  enc.result();')
            if call.returns in spec.HANDLE_KINDS:
                lines.append(f'  enc.handle({kind_of_handle(result)}, rc);')
            else:
                other = {'request': 'enc.request(rc);', 'pointer': 'encode_pointer(enc, rc);'}
                lines.append('  ' + other.get(call.returns, 'enc.integer(rc);'))
        lines.append('  call_scope.commit();')
        if words:
            lines += ['  if (rc != MPI_SUCCESS) return;', f'  call_scope.memorise({", ".join(words)});', '}', '']
            return '\n'.join(lines + short_way)
        return '\n'.join(lines + ['  return rc;', '}', ''])
