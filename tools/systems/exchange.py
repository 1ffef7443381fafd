"""Recorders of one release in another: what a site does that installs one package for all its MPIs.

For each pair of roots that have a build: the other's librefrain-<mpi>.so records programs of this root's MPI
(the groups of tests/compare.py below), and `refrain info` names the version that it was built with.
"""

import shutil

import roots
import summary

MPIS = ('mpich', 'openmpi')
GROUPS = ('p2p', 'coll', 'comm')
FOREIGN = 'build/foreign'
BUILD = 'build/release'


def recorder(root, mpi):
    return root.path / roots.CLONE / BUILD / f'src/tracer/librefrain-{mpi}.so'


def script(mpi, folder):
    """Compares what was recorded with what the programs did, and asks for the version."""
    groups = ' '.join(f'--group {group}' for group in GROUPS)
    words = (f'--refrain {BUILD}/refrain --mpi {mpi} --programs {BUILD}/tests/programs/{mpi} '
             f'--shim {BUILD}/tests/yield_shim.so --libraries {folder} {groups} --older-recorder --keep {folder}/kept')
    return (f'rm -rf {folder}/kept && python3 tests/compare.py {words} && '
            f'for trace in $(find {folder}/kept -name "*.rfn" | head -n 1); do '
            f'{BUILD}/refrain info "$trace" | grep -E "^  (mpi|built with) "; done')


def pairs(entered):
    """(recorders of, in, mpi) for roots that have built both."""
    return [(theirs, ours, mpi) for ours in entered for theirs in entered for mpi in MPIS
            if ours is not theirs and recorder(ours, mpi).is_file() and recorder(theirs, mpi).is_file()]


def check(entered, run_step, progress):
    """Rows of the table's second part: {'of', 'in', 'mpi', 'status', 'passed', 'versions'}."""
    rows = []
    for theirs, ours, mpi in pairs(entered):
        folder = ours.path / roots.CLONE / FOREIGN / f'{theirs.name}-{mpi}'
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(recorder(theirs, mpi), folder)
        step = f'{mpi}-recorder-of-{theirs.name}'
        status = run_step(ours, step, script(mpi, f'{FOREIGN}/{theirs.name}-{mpi}'), progress)
        lines = summary.text_of(ours.log_folder / f'{step}.log').splitlines()
        rows.append({'of': theirs.name, 'in': ours.name, 'mpi': mpi, 'status': status,
                     'passed': next((line for line in reversed(lines) if ' passed, ' in line), ''),
                     'versions': [' '.join(line.split()) for line in lines
                                  if line.startswith(('  mpi ', '  built with '))]})
    return rows


def lines(rows):
    found = []
    for row in rows:
        good = 'good' if row['status'] == 0 else 'FAILED'
        found.append(f"{row['mpi']} recorder of {row['of']} in {row['in']}: {good}, {row['passed']}; "
                     f"{'; '.join(row['versions'])}")
    return found
