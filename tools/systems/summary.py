"""What the logs of a run say, as data, and as the table at its end."""

import json
import pathlib
import re
import xml.etree.ElementTree

MPIS = ('mpich', 'openmpi', 'abi', 'smpi')
COLUMNS = ('release', 'compilers', 'MPI', 'declared', 'known', 'forwarded', 'passed', 'failed', 'skipped',
           'warnings', 'minutes')
WARNING = re.compile(r'^\S.*?(?::\d+(?::\d+)?)?: (?:warning|Warning): ', re.MULTILINE)
LACKING = re.compile(r"^==> apt-get knows no package '([^']+)'", re.MULTILINE)


def text_of(path):
    path = pathlib.Path(path)
    return path.read_text(encoding='utf-8', errors='replace') if path.is_file() else ''


def read_tests(junit):
    """{'passed': [...], 'failed': [...], 'skipped': [...]}, names of tests, of ctest's JUnit file."""
    found = {'passed': [], 'failed': [], 'skipped': []}
    if not pathlib.Path(junit).is_file():
        return found
    for case in xml.etree.ElementTree.parse(junit).getroot().iter('testcase'):
        skip = case.find('skipped')
        if case.get('status') == 'run' and case.find('failure') is None:
            word = 'passed'
        elif case.get('status') == 'disabled' or (
                skip is not None and skip.get('message', '').startswith('SKIP_')):
            word = 'skipped'
        else:
            word = 'failed'
        found[word].append(case.get('name'))
    return found


def read_functions(generated):
    """{mpi: {'declared', 'known', 'forwarded'}} of the generator's functions.json of each MPI."""
    found = {}
    for path in sorted(pathlib.Path(generated).glob('*/functions.json')):
        data = json.loads(path.read_text(encoding='utf-8'))
        found[path.parent.name] = {'declared': data['declared'], 'known': data['known'],
                                   'forwarded': len(data['forwarded'])}
    return found


def read_probe(text):
    """{name: version} of probe.sh; what is not there has no entry."""
    pairs = (line.split() for line in text.splitlines())
    return {words[0]: words[1] for words in pairs if len(words) == 2 and words[1].strip('.')}


def warnings_of(texts):
    """Lines that a compiler began with a place and `warning:`, each once."""
    lines = {line for text in texts for line in text.splitlines() if WARNING.match(line)}
    return sorted(lines)


def read_release(release, statuses, seconds, folder, probe='', build=''):
    """One release as data. `statuses`: exit status of each step that ran; `folder`: their logs; `probe`: what
    probe.sh printed; `build`: the build folder that was tested."""
    logs = {step: text_of(pathlib.Path(folder) / f'{step}.log') for step in statuses}
    versions = read_probe(probe)
    functions = read_functions(pathlib.Path(build) / 'generated') if build else {}
    lacking = sorted({name for text in logs.values() for name in LACKING.findall(text)})
    data = {'release': release, 'steps': statuses, 'minutes': round(seconds / 60, 1), 'versions': versions,
            'mpis': {m: functions.get(m, {}) for m in MPIS if m in versions or m in functions},
            'tests': read_tests(pathlib.Path(build) / 'ctest.xml'),
            'warnings': warnings_of(logs.values()), 'lacking': lacking}
    data['good'] = (all(s == 0 for s in statuses.values()) and not data['warnings']
                    and not data['tests']['failed'])
    return data


def rows_of(data):
    """Lines of the table for one release: one for each MPI, the first with what all share."""
    versions, tests = data['versions'], data['tests']
    compilers = ' '.join(f'{n} {versions[n]}' for n in ('g++', 'clang') if n in versions)
    counts = [str(len(tests[w])) for w in ('passed', 'failed', 'skipped')] if any(tests.values()) else ['-'] * 3
    shared = counts + [str(len(data['warnings'])), f'{data["minutes"]:.1f}']
    rows = []
    for mpi, numbers in data['mpis'].items():
        cells = [str(numbers.get(w, '-')) for w in ('declared', 'known', 'forwarded')]
        rows.append([f'{mpi} {versions.get(mpi, "")}'.strip(), *cells])
    if 'mpi4py' in versions:
        rows.append([f'mpi4py {versions["mpi4py"]}', '', '', ''])
    rows = rows or [['none', '', '', '']]
    return [[data['release'], compilers, *rows[0], *shared]] + [['', '', *row, *[''] * 5] for row in rows[1:]]


def table(all_data):
    """The table and what it has no column for, as lines."""
    rows = [list(COLUMNS)] + [row for data in all_data for row in rows_of(data)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = []
    for row in rows:
        cells = [c.ljust(w) if i < 3 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        lines.append('  '.join(cells).rstrip())
    for data in all_data:
        lines += notes(data)
    return lines


def notes(data):
    failed_steps = [f'{step} (exit status {s})' for step, s in data['steps'].items() if s != 0]
    for title, words in (('failed', failed_steps + data['tests']['failed']),
                         ('skipped', data['tests']['skipped']), ('not in this release', data['lacking'])):
        if words:
            yield f'{data["release"]}: {title}: {", ".join(words)}'
    for line in data['warnings'][:20]:
        yield f'{data["release"]}: {line}'
    if len(data['warnings']) > 20:
        yield f'{data["release"]}: ... and {len(data["warnings"]) - 20} warnings more'


def write(all_data, path):
    pathlib.Path(path).write_text(json.dumps(all_data, indent=1) + '\n', encoding='utf-8')
