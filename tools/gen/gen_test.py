#!/usr/bin/env python3
"""Tests of tools/gen that need no MPI."""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

import check_standard
import fortran
import gen_calls
import forward
import gen_wrappers
import message_size
import mpi_header
import spec
import tested
from wrapper_body import Body, Mismatch

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'spec', 'mpi')
HEADER = '''
typedef int MPI_Comm; typedef int MPI_Group; typedef int MPI_Request;
extern "C" {
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
    __attribute__((visibility("default"), pointer_with_type_tag(MPI, 1, 3)));
int PMPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);
int MPI_Pcontrol(const int level, ...);
double MPI_Wtime(void);
int MPI_Grequest_start(int (*query)(void *, int), void *extra, MPI_Request *request);
typedef int (MPI_Copy_function)(MPI_Comm, int, void *);
}
static inline int MPI_Inline(int x) { return MPI_Other(x); }
'''


def table(text):
    """Rows that do not say what they do, for tests of something else, do nothing to unknown parts of buffers."""
    text = re.sub(r'(?m)^(?!.* (?:of|does)=)(\d+ MPI.*)$', r'\1 does=local', text)
    text = re.sub(r'(?m)^(?!.* (?:of|reissue)=)(\d+ MPI.*)$', r'\1 reissue=plain', text)
    text = re.sub(r':buffer\b(?!\{)', ':buffer{-,?}', text)
    return whole_table(text)


def whole_table(text):
    with tempfile.NamedTemporaryFile('w', suffix='.calls', delete=False) as file:
        file.write(text)
    try:
        return spec.read_calls(file.name)
    finally:
        os.unlink(file.name)


class MessageSize(unittest.TestCase):
    def setUp(self):
        self.rows = {c.name: c for c in spec.with_large(spec.read_calls(os.path.join(SPEC, 'calls')))}

    def test_asks_by_the_amount_that_both_ends_know(self):
        for name, asked in (
                ('MPI_Isend', 'size_of_send(call, count, datatype, dest)'),
                ('MPI_Irecv_c', 'size_of_receive(call, count, datatype)'),
                ('MPI_Psend_init', 'size_of_send(call, int64_t{partitions} * count, datatype, dest)'),
                ('MPI_Precv_init', 'size_of_send(call, int64_t{partitions} * count, datatype, source)'),
                ('MPI_Isendrecv', 'size_of_exchange(call, sendcount, sendtype, dest, recvcount, recvtype, '
                                  'source)'),
                ('MPI_Bcast', 'size_of_collective(call, count, datatype, comm)'),
                ('MPI_Allgather', 'size_of_collective(call, recvcount, recvtype, comm)'),
                ('MPI_Igather', 'size_of_rooted(call, root, comm, recvcount, recvtype, sendcount, '
                                'sendtype)'),
                ('MPI_Scatter', 'size_of_rooted(call, root, comm, sendcount, sendtype, recvcount, '
                                'recvtype)'),
                ('MPI_Put', 'size_of_access(call, origin_count, origin_datatype)'),
                ('MPI_Get_accumulate', 'size_of_access(call, result_count, result_datatype)'),
                ('MPI_Fetch_and_op', 'size_of_access(call, 1, datatype)'),
                ('MPI_File_write_at', 'size_of_access(call, count, datatype)'),
                ('MPI_Pready', 'size_of_part(call, request)')):
            self.assertEqual(message_size.test(self.rows[name]), 'refrain::tracer::' + asked, name)

    def test_keeps_what_may_differ_between_ranks(self):
        for name in ('MPI_Barrier', 'MPI_Gatherv', 'MPI_Scatterv_c', 'MPI_Allgatherv', 'MPI_Alltoallv',
                     'MPI_Ialltoallw',
                     'MPI_Reduce_scatter', 'MPI_Neighbor_allgather', 'MPI_Neighbor_alltoall', 'MPI_File_write_all',
                     'MPI_File_read_at_all_begin', 'MPI_File_iwrite_at_all', 'MPI_File_read_ordered',
                     'MPI_Recv_init', 'MPI_Recv', 'MPI_Reduce_local', 'MPI_Pack', 'MPI_Type_size'):
            self.assertIsNone(message_size.test(self.rows[name]), name)


class Spec(unittest.TestCase):
    def test_reads_every_part_of_a_parameter(self):
        p = spec.parse_param('recvcounts:count:out[min(a,size(comm))]@root!sendbuf?flag')
        self.assertEqual((p.name, p.kind, p.direction, p.lengths, p.root, p.in_place, p.flag),
                         ('recvcounts', 'count', 'out', ['min(a,size(comm))'], True, 'sendbuf', 'flag'))

    def test_says_where_a_table_is_wrong(self):
        for text, what in (('1 MPI_A p2p\n2 MPI_A p2p\n', 'name MPI_A is also'),
                           ('1 MPI_A p2p\n1 MPI_B p2p\n', 'id 1 is also'),
                           ('1 MPI_A p2p\n  x:colour\n', 'unknown kind "colour"'),
                           ('1 MPI_A p2p\n  x:int[n]\n', 'refers to "n"'),
                           ('1 MPI_A p2p sometimes\n', 'unknown word'),
                           ('1000 MPI_A p2p\n', 'out of range'),
                           ('  x:int\n', 'before the first call')):
            with self.assertRaisesRegex(spec.SpecError, what):
                table(text)

    def test_large_variants_have_ids_of_their_own(self):
        calls = spec.with_large(table('1 MPI_A p2p large\n2 MPI_B p2p\n'))
        self.assertEqual([(c.id, c.name) for c in calls],
                         [(1, 'MPI_A'), (2, 'MPI_B'), (1001, 'MPI_A_c')])

    def test_the_committed_tables_are_whole(self):
        calls = spec.read_calls(os.path.join(SPEC, 'calls'))
        constants = spec.read_constants(os.path.join(SPEC, 'constants'))
        domains = {d.name for d in constants.domains}
        for call in calls:
            for p in call.params:
                if p.kind in ('enum', 'bits') or (p.kind == 'function' and p.sub):
                    self.assertIn(p.sub, domains, f'{call.name} {p.name}')
        self.assertGreater(len(calls), 500)
        self.assertTrue(spec.read_exceptions(os.path.join(SPEC, 'exceptions')))

    def test_constants_may_stand_in_several_domains(self):
        constants = spec.read_constants(os.path.join(SPEC, 'constants'))
        where = [d.name for d in constants.domains if 'MPI_UNDEFINED' in d.names]
        self.assertGreater(len(where), 1)


class Header(unittest.TestCase):
    def setUp(self):
        self.found = mpi_header.parse_prototypes(HEADER)

    def test_finds_the_prototypes_and_nothing_else(self):
        self.assertEqual(sorted(self.found), [
            'MPI_Grequest_start', 'MPI_Group_range_incl', 'MPI_Pcontrol', 'MPI_Send', 'MPI_Wtime',
            'PMPI_Send'])

    def test_types_survive_new_names(self):
        self.assertEqual(self.found['MPI_Group_range_incl'].declare(['a', 'b', 'c', 'd']),
                         'MPI_Group a, int b, int c[][3], MPI_Group *d')
        self.assertEqual(self.found['MPI_Grequest_start'].declare(['f', 'x', 'r']),
                         'int (*f)(void *, int), void *x, MPI_Request *r')
        self.assertEqual(self.found['PMPI_Send'].declare(list('abcdef')),
                         'const void * a, int b, MPI_Datatype c, int d, int e, MPI_Comm f')
        self.assertEqual(self.found['MPI_Pcontrol'].declare(['level']), 'const int level, ...')
        self.assertEqual(self.found['MPI_Wtime'].pointer('f'), 'double (*f)(void)')

    def test_an_overload_of_cxx_does_not_replace_the_function(self):
        found = mpi_header.parse_prototypes('int MPI_Init(int* c, char*** v); void MPI_Init();')
        self.assertEqual(found['MPI_Init'].pointer('f'), 'int (*f)(int*, char***)')

    def test_names_of_undeclared_objects_are_left_out(self):
        macros = ('#define MPI_INT SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_INT)\n'
                  '#define MPI_CXX_X SMPI_PREDEFINED_POINTER(MPI_Datatype, smpi_MPI_CXX_X)\n')
        self.assertEqual(mpi_header.undeclared_objects(macros, {'smpi_MPI_INT'}), {'MPI_CXX_X'})

    def test_an_mpi_that_calls_itself_by_name_is_passed_on(self):
        call = table('1 MPI_Wtime env\n')[0]
        wrapped = gen_wrappers.Wrapped(call, self.found['MPI_Wtime'], True)
        for name, calls_itself in (('MPI_Wtime', True), ('PMPI_Wtime', True), ('PMPI_Wtime', False)):
            text = gen_wrappers.entry_point(wrapped, name, calls_itself)
            self.assertEqual('is_mpi_itself(' in text, calls_itself and name[0] == 'P', name)

    def forwarded(self, calls):
        header = mpi_header.Header(self.found, set(), set())
        excepted = {'MPI_Wtime': 'clock', 'MPI_Greq*': 'test'}
        return gen_wrappers.join(calls, header, {}, set(), excepted)[1]

    def test_what_the_table_lacks_is_forwarded(self):
        found = self.forwarded([])
        self.assertEqual([f.prototype.name for f in found],
                         ['MPI_Group_range_incl', 'MPI_Pcontrol', 'MPI_Send'])
        self.assertEqual([f.has_wrapper for f in found], [True, False, True])
        self.assertEqual(found[2].entry_names(), ['MPI_Send', 'PMPI_Send'])

    def test_so_is_what_has_another_number_of_parameters(self):
        found = self.forwarded(table('1 MPI_Send p2p hand\n  buf:buffer count:count\n'))
        why = {f.prototype.name: f.why for f in found}
        self.assertEqual(why['MPI_Send'], '6 parameters, 2 in spec/mpi/calls')

    def test_forwarded_functions_say_what_they_may_change(self):
        text = (';int MPI_New(int count, MPI_Request array_of_requests[], const MPI_Comm *in, '
                'MPI_Comm *comm, MPI_Win wins[], void *x);')
        new = mpi_header.parse_prototypes(text)['MPI_New']
        body = forward.entry_point(new, 'MPI_New', 7)
        self.assertIn('ForwardedCall call(7,', body)
        self.assertIn('call.watch(a1, a0);', body)
        self.assertIn('call.watch(refrain::tracer::Kind::kComm, a3);', body)
        self.assertEqual(body.count('watch'), 2)  # nobody says how long `wins` is
        self.assertIn('load_real(&g_real_MPI_New, "MPI_New")(a0, a1, a2, a3, a4, a5);', body)

    def test_versions_are_those_of_the_library(self):
        self.assertEqual(forward.version_of({'MPICH_VERSION': '"4.2.1"'}), ('MPICH', '4.2.1'))
        openmpi = {'OMPI_MAJOR_VERSION': '5', 'OMPI_MINOR_VERSION': '0', 'OMPI_RELEASE_VERSION': '7'}
        self.assertEqual(forward.version_of(openmpi), ('Open MPI', '5.0.7'))

    def test_a_different_number_of_parameters_is_named(self):
        call = table('1 MPI_Send p2p\n  buf:buffer count:count\n')[0]
        with self.assertRaisesRegex(Mismatch, 'MPI_Send has 6 parameters in mpi.h and 2'):
            Body(call, self.found['MPI_Send'])


class Wrapper(unittest.TestCase):
    def body(self, row, prototype):
        found = mpi_header.parse_prototypes(';' + prototype + ';')
        call = table(row)[0]
        return Body(call, found[call.name]).text()

    def test_outputs_are_read_after_success_only(self):
        text = self.body('1 MPI_Info_get info\n  key:string value:string:out?flag flag:logical:out\n',
                         'int MPI_Info_get(const char *key, char *value, int *flag)')
        self.assertIn('if (ok && *flag != 0) enc.string(value);', text)
        self.assertIn('if (ok) enc.integer(*flag);', text)

    def test_one_field_per_parameter(self):
        text = self.body('1 MPI_Isend p2p\n  buf:buffer comm:comm request:request:out\n',
                         'int MPI_Isend(const void *buf, MPI_Comm comm, MPI_Request *request)')
        order = [text.index(s) for s in ('enc.buffer(buf)', 'enc.handle(Kind::kComm, comm)',
                                         'enc.new_request(request', 'commit()')]
        self.assertEqual(order, sorted(order))

    def test_results_are_recorded_as_what_they_are(self):
        text = self.body('1 MPIX_State env returns=pointer\n  thing:pointer\n', 'void *MPIX_State(MPIX_Thing thing)')
        self.assertIn('enc.result();\n  encode_pointer(enc, rc);', text)

    def test_significance(self):
        text = self.body('1 MPI_G coll\n  sendbuf:buffer t:datatype!sendbuf counts:count[size(comm)]@root '
                         'root:rank comm:comm\n',
                         'int MPI_G(void *sendbuf, MPI_Datatype t, const int counts[], int root, '
                         'MPI_Comm comm)')
        self.assertIn('enc.handle(Kind::kDatatype, t, sendbuf != MPI_IN_PLACE);', text)
        self.assertIn('const bool at_root = enc.is_root(comm, root);', text)
        self.assertIn('if (at_root) enc.int_array(counts, enc.comm_size(comm));', text)

    def test_freed_handles_are_looked_up_before_the_call(self):
        text = self.body('1 MPI_Win_free rma\n  win:win:free\n', 'int MPI_Win_free(MPI_Win *win)')
        self.assertLess(text.index('capture_to_free(Kind::kWin, *win)'), text.index('real(win)'))
        self.assertIn('if (ok) call_scope.released(Kind::kWin, before_win);', text)

    def test_a_detour_stands_for_the_real_function(self):
        wrapped = types.SimpleNamespace(
            call=table('1 MPI_Comm_spawn spawn detour\n  command:string comm:comm intercomm:comm:out\n')[0],
            prototype=mpi_header.parse_prototypes(';int MPI_Comm_spawn(const char *command, MPI_Comm comm, '
                                                  'MPI_Comm *intercomm);')['MPI_Comm_spawn'])
        text = gen_wrappers.entry_point(wrapped, 'PMPI_Comm_spawn', False)
        self.assertIn('MPI_Comm_spawn_body(call_scope, refrain::tracer::detour::MPI_Comm_spawn, command,', text)
        self.assertIn('if (!call_scope.active()) return real(command,', text)
        self.assertIn('int MPI_Comm_spawn(const char *command,', gen_wrappers.hand_header([wrapped]))

    def test_a_function_without_program_or_reason_is_counted(self):
        report = {'mpi': 'mpich', 'version': '1', 'recorded': ['MPI_A', 'MPI_B', 'MPI_B_c', 'MPI_C', 'MPIX_D'],
                  'tested': ['MPI_B']}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(tested.uncovered(report, {'MPI_A': 'it ends the job'}), ['MPI_C'])
            self.assertEqual(tested.uncovered(report, {'MPI_*': 'a pattern'}), [])
        self.assertIn('4 functions of the standard, programs call 1, spec/mpi/untested says why not 2, '
                      'without either 1',
                      said.getvalue())

    def test_names_that_collide_with_locals_stop(self):
        with self.assertRaisesRegex(Mismatch, 'hides a generated variable'):
            self.body('1 MPI_A misc\n  rc:int\n', 'int MPI_A(int rc)')


class Fortran(unittest.TestCase):
    def test_names_of_entry_points(self):
        ids = {'mpi_send': 1, 'mpi_send_c': 1001, 'mpi_isend': 3}
        for symbol, call in (('mpi_send_', 1), ('pmpi_send__', 1), ('MPI_SEND', 1),
                             ('mpi_send_f08ts_large_', 1001), ('pmpir_isend_f08ts_', 3),
                             ('mpi_isend_f08_', 3), ('MPI_Send_f', None), ('ompi_send_f', None),
                             ('mpi_wtime_', None), ('mpi_send_cdesc_x', None)):
            self.assertEqual(fortran.call_of(symbol, ids), call, symbol)

    def test_every_slot_has_its_trampoline_and_its_lazy_code(self):
        text = fortran.assembly([(1, ['mpi_send', 'mpi_send_']), (3, ['mpi_isend_']),
                                 (7, ['mpi_comm_get_attr_'])], {7: 'MPI_Comm_get_attr'})
        self.assertEqual(text.count('refrain_entry 1, 3'), 1)
        self.assertEqual(text.count('refrain_direct_entry 2, 7, refrain_fortran_MPI_Comm_get_attr'), 1)
        self.assertEqual(text.count('refrain_lazy 1'), 1)
        self.assertIn('.globl mpi_send_\n', text)


class Meaning(unittest.TestCase):
    SEND = ('1 MPI_Send p2p large traffic=send count=count does=send mode=ready how=waits reissue=forced\n'
            '  buf:buffer{r,2n*count*type} 2n:int count:count type:datatype\n').replace('2n', 'parts')

    def test_a_form_has_what_its_function_has(self):
        calls = whole_table(self.SEND + '2 MPI_Isend p2p of=MPI_Send\n'
                            '  buf:buffer parts:int count:count type:datatype request:request:out\n')
        form = calls[1]
        self.assertEqual((form.does, form.mode, form.how, form.traffic, form.traffic_params),
                         (['send'], 'ready', 'nonblocking', 'send', {'count': 'count'}))
        rows = gen_calls.call_meanings(spec.with_large(calls))
        self.assertIn('{0, true, false, false, false, false, Extent::kElements, Times::kParts, 2, -1, 3, 1}', rows)
        for row in ('{2, {1, kDoesSend, How::kNonblocking,', '{1001, {1, kDoesSend, How::kWaits,'):
            self.assertIn(row + ' SendMode::kReady, Flow::kNothing, -1, kBuffers_', rows)
        self.assertEqual(rows.count('Reissue::kForced, ""'), 3)

    def test_extents(self):
        elements = 'Extent::kElements, Times::kOnce'
        of_size = 'Extent::kElements, Times::kSize'
        for touch, row in (('w@root,size*n*t', f'false, true, false, true, false, {of_size}, 1, -1, 3'),
                           ('r!,n[d]*t', 'true, false, true, false, false, Extent::kBlocks, Times::kOnce, 1, 2, 3'),
                           ('rw,sum(n)*t', 'true, true, false, false, false, Extent::kSum, Times::kOnce, 1, -1, 3'),
                           ('w,own(n)*t', 'false, true, false, false, false, Extent::kOwn, Times::kOnce, 1, -1, 3'),
                           ('r@root/w@others,t', f'true, true, false, false, true, {elements}, -1, -1, 3'),
                           ('r,bytes(n)', 'true, false, false, false, false, Extent::kBytes, Times::kOnce, 1, -1, -1'),
                           ('-,?', 'false, false, false, false, false, Extent::kUnknown, Times::kOnce, -1, -1, -1')):
            calls = whole_table(
                '1 MPI_A coll does=local reissue=local\n'
                f'  b:buffer{{{touch}}} n:count d:displacement t:datatype\n')
            self.assertIn('{0, ' + row + ', -1}', gen_calls.call_meanings(calls))

    def test_says_what_a_row_lacks(self):
        for text, what in (('1 MPI_A p2p\n', 'does= is missing'),
                           ('1 MPI_A p2p does=guess\n', 'does not know "guess"'),
                           ('1 MPI_A p2p does=send how=slowly\n', 'unknown word "slowly"'),
                           ('1 MPI_A coll does=collective\n', 'has a flow'),
                           ('1 MPI_A coll does=local flow=all\n', 'has a flow'),
                           ('1 MPI_A p2p of=MPI_B\n', 'MPI_B is no function'),
                           ('1 MPI_A p2p does=send reissue=plain\n2 MPI_B p2p of=MPI_A\n'
                            '3 MPI_C p2p of=MPI_B\n', 'of another itself'),
                           ('1 MPI_A p2p does=send\n  b:buffer\n', 'what is done to b'),
                           ('1 MPI_A p2p does=send\n  b:buffer{r,n*t}\n', 'refers to n'),
                           ('1 MPI_A p2p does=send\n  b:buffer{r,n*m*t} m:count t:datatype\n', '"n" times what'),
                           ('1 MPI_A p2p does=send\n  b:buffer{r,(n)}\n', 'cannot read extent'),
                           ('1 MPI_A p2p does=send\n', 'reissue= is missing'),
                           ('1 MPI_A p2p does=send reissue=maybe\n', 'not one of plain'),
                           ('1 MPI_A p2p does=send reissue=refused\n', 'has a reason'),
                           ('1 MPI_A p2p does=send reissue=plain:it_can\n', 'has a reason')):
            with self.assertRaisesRegex(spec.SpecError, what):
                whole_table(text)


class Calls(unittest.TestCase):
    def test_rows_name_their_traffic_parameters(self):
        calls = table('1 MPI_Send p2p traffic=send count=count peer=dest\n  buf:buffer count:count '
                      'dest:rank\n')
        self.assertIn('Traffic::kSend, 1, -1, -1, 2, -1, -1, -1, false, "error"',
                      gen_calls.call_rows(calls))

    def test_the_generator_says_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'calls'), 'w', encoding='utf-8') as file:
                file.write('1 MPI_A nowhere\n')
            done = subprocess.run([sys.executable, gen_calls.__file__, '--spec', folder, '--out', folder],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'calls:1: MPI_A: unknown group "nowhere"')


class Tested(unittest.TestCase):
    def test_a_call_counts_where_the_compiler_sees_it_and_the_log_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'a.c')
            with open(path, 'w', encoding='utf-8') as file:
                file.write('#define DO(call) log_call(#call, (call))\n#define BOTH(k) DO(MPI_##k##_toint(1))\n'
                           '#if 0\nint a(void) { return DO(MPI_Send()); }\n#endif\n'
                           'int b(void) { MPI_Recv(); return DO(MPI_Isend()) + BOTH(Comm); }\n'
                           'const char* c = "MPI_Bcast";\n')
            self.assertEqual(tested.calls_in_c(path, folder, ['cc']), {'MPI_Isend', 'MPI_Comm_toint'})

    def test_reasons(self):
        reasons = {'MPI_Win_*': 'windows', 'MPI_Win_test': 'this one'}
        why = lambda name: tested.reason_of(name, reasons, {'MPI_Win_put'}, 'none')  # noqa: E731
        self.assertEqual([why(n) for n in ('MPI_Win_test', 'MPI_Win_get', 'MPI_Put')],
                         ['this one', 'windows', 'none'])
        self.assertIn('without `_c`', why('MPI_Win_put_c'))


class Standard(unittest.TestCase):
    def api(self, **changes):
        param = {'name': 'comm', 'kind': 'COMMUNICATOR', 'param_direction': 'in', 'length': None,
                 'suppress': '', 'large_only': False}
        param.update(changes)
        attributes = {'c_expressible': True, 'callback': False, 'predefined_function': None}
        return {'mpi_barrier': {'name': 'MPI_Barrier', 'attributes': attributes, 'parameters': [param]}}

    def test_differences_are_found(self):
        calls = table('1 MPI_Barrier coll\n  comm:comm\n')
        self.assertEqual(list(check_standard.compare(self.api(), calls)), [])
        for change in ({'name': 'c'}, {'kind': 'GROUP'}, {'param_direction': 'out'}, {'length': 'n'}):
            self.assertEqual(len(list(check_standard.compare(self.api(**change), calls))), 1, change)
        self.assertEqual(list(check_standard.compare(self.api(), [])), ['MPI_Barrier: is not here'])


if __name__ == '__main__':
    unittest.main()
