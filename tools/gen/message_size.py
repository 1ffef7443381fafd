"""What a generated wrapper asks the filter by size (src/tracer/wrap/message_size.h), from a row of spec/mpi/calls.

The answer is a C++ expression: what the call is to be marked as before it is made, 0 for nothing.
"""


def _named(call, names):
    return next((p.name for p in call.params if p.name in names), None)


def _amounts(call):
    """(count, datatype) of every amount in the row, in order: send before receive."""
    found, count = [], None
    for p in call.params:
        if p.is_array and p.kind in ('count', 'datatype'):
            return []  # another one for each rank
        if p.kind == 'count' and p.direction == 'in':
            count = p.name
        elif p.kind == 'datatype' and p.direction == 'in':
            found.append((count if count else '1', p.name))
            count = None
    return found


def _collective(call):
    amounts = _amounts(call)
    if not amounts or 'eighbor' in call.name:
        return None  # it may differ between ranks
    comm = _named(call, ('comm',))
    if len(amounts) == 1:
        (count, datatype), = amounts
        return f'size_of_collective(call, {count}, {datatype}, {comm})'
    (send, send_type), (receive, receive_type) = amounts
    if not call.param('root'):
        # The amount that is there also when the send buffer is MPI_IN_PLACE.
        return f'size_of_collective(call, {receive}, {receive_type}, {comm})'
    at_root, elsewhere = (send, send_type), (receive, receive_type)
    if call.param(receive_type).root:
        at_root, elsewhere = elsewhere, at_root
    return f'size_of_rooted(call, root, {comm}, {", ".join(at_root + elsewhere)})'


def _message(call):
    amounts = _amounts(call)
    count, datatype = amounts[0]
    if call.receives is None or 'partitioned' in call.flags:
        peer = _named(call, ('dest', 'source'))
        if 'partitioned' in call.flags:  # both sides have the same size
            count = f'int64_t{{partitions}} * {count}'
        if call.traffic == 'send' or 'partitioned' in call.flags:
            return f'size_of_send(call, {count}, {datatype}, {peer})'
        return None
    if 'persistent' in call.flags:
        return None  # each MPI_Start receives a message of its own
    if call.traffic == 'recv':
        return f'size_of_receive(call, {count}, {datatype})'
    last = amounts[-1]
    return (f'size_of_exchange(call, {count}, {datatype}, dest, {last[0]}, {last[1]}, source)')


def _access(call):
    if call.traffic == 'io' and ('_all' in call.name or '_ordered' in call.name):
        return None  # collective, and every rank has an amount of its own
    amounts = _amounts(call)
    # MPI_Get_accumulate may hand in nothing: what it gets counts.
    count, datatype = amounts[1] if 'et_accumulate' in call.name else amounts[0]
    return f'size_of_access(call, {count}, {datatype})'


def test(call):
    """The expression, or None where the size of a call plays no role or the wrapper is written by hand."""
    if 'hand' in call.flags:
        return None
    expression = None
    if call.group == 'persist' and any(p.kind == 'request' and p.direction == 'in' for p in call.params):
        expression = 'size_of_part(call, request)'
    elif call.traffic in ('send', 'recv'):
        expression = _message(call)
    elif call.traffic in ('rma', 'io'):
        expression = _access(call)
    elif call.traffic.startswith('coll') or call.traffic == 'bcast':
        expression = _collective(call)
    return expression and f'refrain::tracer::{expression}'
