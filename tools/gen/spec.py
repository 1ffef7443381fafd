"""Reads spec/mpi/: the tables of calls, constants and exceptions. Nothing else knows their syntax."""

import re
from dataclasses import dataclass, field

LARGE_DISTANCE = 1000  # id of NAME_c = id of NAME + LARGE_DISTANCE

GROUPS = ('p2p completion coll rma io comm group topo type info env error attr spawn session persist '
          'tool misc mark').split()
KINDS = ('int count rank tag logical index address offset displacement enum bits buffer string status '
         'request comm datatype group win file op errhandler info message session keyval tool_handle '
         'function pointer ranges stream').split()
HANDLE_KINDS = ('comm datatype group win file op errhandler info message session keyval '
                'tool_handle stream').split()
TOOL_HANDLES = 'enum cvar pvar pvar_session event registration'.split()
TRAFFIC = ('nothing send start recv coll coll_root coll_vector coll_vector_root coll_w '
           'coll_times_size coll_times_neighbours bcast rma io').split()
TRAFFIC_KEYS = 'count times type peer tag comm root'.split()
FLAGS = 'hand large persistent partitioned detour'.split()
DOES = 'send receive probe start complete collective epoch access file make free local'.split()
HOW = 'returns waits polls nonblocking persistent enqueues'.split()
MODES = 'standard buffered synchronous ready'.split()
FLOWS = ('nothing barrier from_root to_root scan all neighbours window fence file init finalize '
         'worlds').split()
REISSUE = 'plain forced stand_in local refused'.split()
TIMES = 'once size local_size indegree outdegree'.split()
LENGTH_FUNCTIONS = ('size local_size indegree outdegree ndims graph_nodes graph_edges graph_degree '
                    'envelope_integers envelope_addresses envelope_large_counts envelope_datatypes '
                    'min sum last').split()

PARAMETER = re.compile(
    r'(?P<name>\w+):(?P<kind>[a-z_]+)(?:/(?P<sub>\w+))?(?::(?P<direction>out|inout|free))?'
    r'(?:\{(?P<touch>[^}]+)\})?'
    r'(?P<lengths>(?:\[[^\]]+\])*)(?P<root>@root)?(?:!(?P<in_place>\w+))?(?:\?(?P<flag>\w+))?$')


TOUCH = re.compile(r'(?P<access>-|(?:r|w|rw)!?(?:@root)?|r@root/w@others),(?P<extent>\S+)$')
EXTENT = re.compile(
    r'(?:(?P<opaque>\?)|bytes\((?P<bytes>\w+)\)|(?P<counted>sum|own)\((?P<list>\w+)\)\*(?P<list_type>\w+)|'
    r'(?P<blocks>\w+)\[(?P<displs>\w+)\]\*(?P<block_type>\w+)|'
    r'(?:(?:(?P<times>\w+)\*)?(?P<count>\w+)\*)?(?P<type>\w+))$')


class SpecError(Exception):
    """What is wrong in a table: file:line: message."""


@dataclass
class Param:
    name: str
    kind: str
    sub: str = ''
    direction: str = 'in'  # in, out, inout, free
    lengths: list = field(default_factory=list)
    root: bool = False
    in_place: str = ''
    flag: str = ''
    touch: str = ''  # of a buffer: what is done to which part of it

    @property
    def is_string_with_room(self):
        return self.kind == 'string' and self.direction == 'out'

    @property
    def is_array(self):
        return bool(self.lengths) and not self.is_string_with_room


@dataclass
class Call:
    id: int
    name: str
    group: str
    flags: set = field(default_factory=set)
    receives: list = None  # None, or [] or [source, tag] of the receive that its request stands for
    returns: str = 'error'
    traffic: str = 'nothing'
    traffic_params: dict = field(default_factory=dict)
    params: list = field(default_factory=list)
    line: int = 0
    of: str = ''       # the blocking function that this is another form of
    does: list = field(default_factory=list)
    how: str = ''
    mode: str = ''
    flow: str = ''
    over: str = ''     # the parameter with the communicator that it is collective over
    window: str = ''   # what an access does to the target's memory
    reissue: str = ''  # how it is made again: a word of REISSUE
    refused: str = ''  # why it is not

    def param(self, name):
        return next((p for p in self.params if p.name == name), None)

    def index(self, name):
        return next((i for i, p in enumerate(self.params) if p.name == name), -1)

    def large(self):
        """The row of the variant with large counts."""
        return Call(self.id + LARGE_DISTANCE, self.name + '_c', self.group, self.flags - {'large'},
                    self.receives, self.returns, self.traffic, self.traffic_params, self.params,
                    self.line, self.of or self.name, self.does, self.how, self.mode, self.flow,
                    self.over, self.window, self.reissue, self.refused)


@dataclass
class Domain:
    name: str
    type: str  # integer, bits, pointer, function, handle
    names: list = field(default_factory=list)


@dataclass
class Constants:
    ids: dict = field(default_factory=dict)      # name -> id
    unstable: set = field(default_factory=set)   # values differ between versions of one ABI
    domains: list = field(default_factory=list)


def content_lines(path):
    with open(path, encoding='utf-8') as text:
        for number, line in enumerate(text, 1):
            line = line.split('#', 1)[0].rstrip()
            if line:
                yield number, line


def parse_param(text):
    m = PARAMETER.match(text)
    if not m:
        raise ValueError(f'cannot read parameter "{text}"')
    return Param(m['name'], m['kind'], m['sub'] or '', m['direction'] or 'in',
                 re.findall(r'\[([^\]]+)\]', m['lengths']), bool(m['root']), m['in_place'] or '',
                 m['flag'] or '', m['touch'] or '')


def parse_head(line):
    words = line.split()
    if len(words) < 3 or not words[0].isdigit():
        raise ValueError('expected: ID NAME GROUP [WORD...]')
    call = Call(int(words[0]), words[1], words[2])
    for word in words[3:]:
        key, equals, value = word.partition('=')
        if word in FLAGS:
            call.flags.add(word)
        elif key == 'receives':
            call.receives = value.split(',') if value else []
        elif key == 'returns':
            call.returns = value
        elif key == 'traffic':
            call.traffic = value
        elif key == 'does':
            call.does = value.split(',')
        elif key in ('of', 'how', 'mode', 'flow', 'over', 'window'):
            setattr(call, key, value)
        elif key == 'reissue':
            call.reissue, _, why = value.partition(':')
            call.refused = why.replace('_', ' ')
        elif equals and key in TRAFFIC_KEYS:
            call.traffic_params[key] = value
        else:
            raise ValueError(f'unknown word "{word}"')
    return call


def names_in(length):
    return [w for w in re.findall(r'[A-Za-z_]\w*', length) if w not in LENGTH_FUNCTIONS]


def parse_extent(text):
    m = EXTENT.match(text)
    if not m:
        raise ValueError(f'cannot read extent "{text}"')
    return m


def take_form(call, plain):
    """What a form has in common with the blocking function stands in the row of that one alone."""
    if plain.of:
        raise ValueError(f'{call.name}: {plain.name} is a form of another itself')
    call.does = call.does or plain.does
    if not call.reissue:
        call.reissue, call.refused = plain.reissue, plain.refused
    for word in ('mode', 'flow', 'over', 'window'):
        setattr(call, word, getattr(call, word) or getattr(plain, word))
    if call.traffic == 'nothing':
        call.traffic, call.traffic_params = plain.traffic, plain.traffic_params
    for p in call.params:
        its = plain.param(p.name)
        if p.kind == 'buffer' and not p.touch and its:
            p.touch = its.touch


def default_how(call):
    if 'persistent' in call.flags:
        return 'persistent'
    makes_request = any(p.kind == 'request' and p.direction == 'out' for p in call.params)
    return 'nonblocking' if makes_request else 'returns'


def check_meaning(call):
    if not call.does:
        raise ValueError(f'{call.name}: does= is missing')
    for word, known in ((call.how, HOW), (call.mode or 'standard', MODES), (call.flow or 'nothing', FLOWS)):
        if word not in known:
            raise ValueError(f'{call.name}: unknown word "{word}"')
    for word in call.does:
        if word not in DOES:
            raise ValueError(f'{call.name}: does not know "{word}"')
    if ('collective' in call.does) != bool(call.flow):
        raise ValueError(f'{call.name}: a collective, and only that, has a flow')
    if call.over and not call.param(call.over):
        raise ValueError(f'{call.name}: {call.over} is no parameter')
    touched = [(p.name, p.touch) for p in call.params if p.kind == 'buffer']
    for name, touch in touched + ([('window', call.window)] if call.window else []):
        m = TOUCH.match(touch)
        if not m:
            raise ValueError(f'{call.name}: what is done to {name}?')
        extent = parse_extent(m['extent'])
        if extent['times'] and extent['times'] not in TIMES and not call.param(extent['times']):
            raise ValueError(f'{call.name}: {name} has "{extent["times"]}" times what?')
        for group in ('bytes', 'list', 'list_type', 'blocks', 'displs', 'block_type', 'count', 'type'):
            if extent[group] and not call.param(extent[group]):
                raise ValueError(f'{call.name}: {name} refers to {extent[group]}, which is no parameter')
    if call.reissue not in REISSUE:
        raise ValueError(f'{call.name}: reissue= is missing, or not one of {", ".join(REISSUE)}')
    if (call.reissue == 'refused') != bool(call.refused):
        raise ValueError(f'{call.name}: what is refused, and only that, has a reason')


def check_call(call):
    names = [p.name for p in call.params]
    if len(set(names)) != len(names):
        raise ValueError(f'{call.name}: two parameters of one name')
    if call.group not in GROUPS:
        raise ValueError(f'{call.name}: unknown group "{call.group}"')
    if call.traffic not in TRAFFIC:
        raise ValueError(f'{call.name}: unknown traffic "{call.traffic}"')
    if call.returns != 'error' and call.returns not in KINDS:
        raise ValueError(f'{call.name}: unknown return kind "{call.returns}"')
    for p in call.params:
        if p.kind not in KINDS:
            raise ValueError(f'{call.name}: unknown kind "{p.kind}" of {p.name}')
        if p.kind == 'tool_handle' and p.sub not in TOOL_HANDLES:
            raise ValueError(f'{call.name}: unknown tool handle "{p.sub}" of {p.name}')
        if p.kind in ('enum', 'bits') and not p.sub:
            raise ValueError(f'{call.name}: {p.name} needs a domain')
    used = list(call.traffic_params.values()) + (call.receives or [])
    for p in call.params:
        used += [n for n in (p.in_place, p.flag) if n]
        used += [n for length in p.lengths for n in names_in(length) if n != 'null']
    for name in used:
        if name not in names:
            raise ValueError(f'{call.name}: refers to "{name}", which is no parameter')


def read_calls(path):
    """All calls in order of their ids; NAME_c are not among them: see Call.large."""
    calls = []
    number = 0
    try:
        for number, line in content_lines(path):
            if line[0].isspace():
                if not calls:
                    raise ValueError('a parameter before the first call')
                calls[-1].params += [parse_param(p) for p in line.split()]
            else:
                calls.append(parse_head(line))
                calls[-1].line = number
        by_name = {call.name: call for call in calls}
        for call in calls:
            number = call.line
            if call.of and call.of not in by_name:
                raise ValueError(f'{call.name}: {call.of} is no function')
            if call.of:
                take_form(call, by_name[call.of])
            call.how = call.how or default_how(call)
            check_call(call)
            check_meaning(call)
            if call.id == 0 or call.id >= LARGE_DISTANCE:
                raise ValueError(f'{call.name}: id {call.id} is out of range')
    except ValueError as error:
        raise SpecError(f'{path}:{number}: {error}') from None
    for key in ('id', 'name'):
        seen = {}
        for call in calls:
            value = getattr(call, key)
            if value in seen:
                raise SpecError(f'{path}:{call.line}: {key} {value} is also that of line {seen[value]}')
            seen[value] = call.line
    return sorted(calls, key=lambda c: c.id)


def with_large(calls):
    """The same with the large-count variants, by id."""
    return sorted(calls + [c.large() for c in calls if 'large' in c.flags], key=lambda c: c.id)


def read_constants(path):
    constants = Constants()
    used = {}
    for number, line in content_lines(path):
        words = line.split()
        if words[0] == 'domain' and len(words) == 3:
            constants.domains.append(Domain(words[1], words[2]))
        elif len(words) == 2 and constants.domains and words[0] == '=':
            if words[1] not in constants.ids:
                raise SpecError(f'{path}:{number}: {words[1]} is not known yet')
            constants.domains[-1].names.append(words[1])
        elif len(words) == 2 and constants.domains and words[0].isdigit():
            value = int(words[0])
            if words[1].endswith('~'):
                words[1] = words[1][:-1]
                constants.unstable.add(words[1])
            if value in used or words[1] in constants.ids or value == 0:
                raise SpecError(f'{path}:{number}: id or name is used twice')
            used[value] = words[1]
            constants.ids[words[1]] = value
            constants.domains[-1].names.append(words[1])
        else:
            raise SpecError(f'{path}:{number}: cannot read "{line}"')
    return constants


def read_exceptions(path):
    """Name -> reason, for what an mpi.h declares or a library exports and the recorder leaves alone."""
    result = {}
    for number, line in content_lines(path):
        name, _, reason = line.partition(' ')
        if not reason.strip():
            raise SpecError(f'{path}:{number}: {name} has no reason')
        result[name] = reason.strip()
    return result


def camel(word):
    return ''.join(part.capitalize() for part in word.split('_'))
