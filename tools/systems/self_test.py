"""Cases of what summary.py must make of logs."""

import json
import pathlib
import tempfile

import summary

JUNIT = """<testsuite>
<testcase name="good" status="run"/>
<testcase name="bad" status="fail"><failure message=""/></testcase>
<testcase name="left_out" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
<testcase name="not_built" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""
DEMO_LOG = """==> apt-get knows no package 'libprotozero-dev': what needs it is skipped
/srv/refrain/src/a.cc:12:5: warning: something [-Wsomething]
a.f90:3:2: Warning: something else
    12 |  warning: is a word of a program here
/srv/refrain/src/a.cc:12:5: warning: something [-Wsomething]
"""
FUNCTIONS = {'declared': 623, 'known': 620, 'forwarded': {'MPI_One': '', 'MPIX_Two': ''}}
PROBE = 'g++ 14.2.0\nclang\nmpich 4.2.1\nopenmpi ..\nmpi4py 4.0.3\n'


def release():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'demo.log').write_text(DEMO_LOG, encoding='utf-8')
        (folder / 'generated/mpich').mkdir(parents=True)
        (folder / 'generated/mpich/functions.json').write_text(json.dumps(FUNCTIONS), encoding='utf-8')
        (folder / 'ctest.xml').write_text(JUNIT, encoding='utf-8')
        return summary.read_release('trixie', {'demo': 0, 'test': 8}, 90, folder, PROBE, folder)


def cases():
    """(what, found, expected)"""
    data = release()
    yield 'tests', data['tests'], {'passed': ['good'], 'failed': ['bad', 'not_built'], 'skipped': ['left_out']}
    yield 'warnings', len(data['warnings']), 2
    yield 'lacking', data['lacking'], ['libprotozero-dev']
    yield 'versions', data['versions'], {'g++': '14.2.0', 'mpich': '4.2.1', 'mpi4py': '4.0.3'}
    yield 'mpis', data['mpis'], {'mpich': {'declared': 623, 'known': 620, 'forwarded': 2}}
    yield 'good', data['good'], False
    lines = summary.table([data])
    yield 'row', lines[1].split(), ['trixie', 'g++', '14.2.0', 'mpich', '4.2.1', '623', '620', '2',
                                    '1', '2', '1', '2', '1.5']
    yield 'notes', lines[3], 'trixie: failed: test (exit status 8), bad, not_built'


def run():
    """Exit status: 0 when all cases are good."""
    count, failures = 0, 0
    for what, found, expected in cases():
        count += 1
        if found != expected:
            failures += 1
            print(f'self-test: {what}: {found}, not {expected}')
    print(f'systems self-test: {count} cases, {failures} failed')
    return 1 if failures else 0
