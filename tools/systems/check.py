#!/usr/bin/env python3
"""Builds and tests a fresh clone in roots of other releases: `./dev check systems` runs it.

usage: check.py [--roots DIR] [--logs DIR] [--steps demo,test,clang] [--format text|json] [RELEASE...]
       check.py --self-test

A root is made by debootstrap, once (roots.py). In each, one after the other, a fresh clone of what is
committed runs `./dev demo`, `./dev test` and `./dev check clang`; what they print is in
LOGS/RELEASE/STEP.log. Then recorders of one release record in the others (exchange.py). At the end: a table,
also as LOGS/systems.json and LOGS/exchange.json. Exit status 0: everything that ran
is good; 1: something is not, 2: usage.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

import arm64
import exchange
import roots
import self_test
import summary

RELEASES = ('bookworm', 'trixie', 'sid')
SCRIPTS = {'demo': './dev demo', 'test': './dev test', 'clang': './dev check clang'}
# ccache is what makes a second run quick. A run that was interrupted may have left packages half installed.
PREPARE = ('dpkg --configure -a && apt-get -q update && apt-get -q install -y ccache && ccache --max-size 10G && '
           'ccache --set-config base_dir=/srv && ccache --set-config hash_dir=false')


class Progress:
    """One line that is written over, on a terminal only."""

    def __init__(self, out):
        self.out = out
        self.is_shown = out.isatty()
        self.begin = time.monotonic()
        self.what = ''

    def start(self, what):
        self.what = what
        self.begin = time.monotonic()
        if not self.is_shown:
            print(f'==> {what}', file=self.out, flush=True)

    def __call__(self, log):
        if not self.is_shown:
            return
        minutes, seconds = divmod(int(time.monotonic() - self.begin), 60)
        with open(log, 'rb') as file:
            file.seek(max(0, log.stat().st_size - 400))
            lines = file.read().decode('utf-8', 'replace').split('\n')
        last = next((line for line in reversed(lines) if line.strip()), '')
        line = f'{self.what} {minutes}:{seconds:02} {last.strip()}'.replace('\r', ' ')
        print(f'\r{line[:99]:99}', end='', file=self.out, flush=True)

    def end(self, result):
        seconds = time.monotonic() - self.begin
        start = f'\r{"":99}\r' if self.is_shown else ''
        print(f'{start}==> {self.what}: {result}, {seconds / 60:.1f} minutes', file=self.out, flush=True)


def run_step(root, step, script, progress):
    progress.start(f'{root.name}: {step}')
    status = root.run(step, script, progress)
    progress.end('good' if status == 0 else f'FAILED (exit status {status}), see {root.log_folder}/{step}.log')
    return status


def enter(root, progress):
    """A root that is made and connected, held by this process."""
    root.hold()
    if not root.is_made():
        progress.start(f'{root.name}: making a root of {root.suite}')
        root.make(progress)
        progress.end('made')
    root.connect()


def check_release(root, repository, steps, progress):
    """One release, as data (summary.read_release)."""
    for log in root.log_folder.glob('*.log'):
        log.unlink()
    begin = time.monotonic()
    enter(root, progress)
    statuses = {'prepare': run_step(root, 'prepare', PREPARE, progress)}
    if statuses['prepare'] == 0:
        root.clone(repository)
        for step in steps:
            statuses[step] = run_step(root, step, SCRIPTS[step], progress)
    probe = root.ask('tools/systems/probe.sh')
    return summary.read_release(root.name, statuses, time.monotonic() - begin, root.log_folder, probe,
                                root.path / roots.CLONE / 'build/release')


def parse():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--roots', type=pathlib.Path, default=here / 'build/roots')
    parser.add_argument('--logs', type=pathlib.Path, default=here / 'build/systems')
    parser.add_argument('--steps', default=','.join(SCRIPTS), help='some of ' + ', '.join(SCRIPTS))
    parser.add_argument('--format', choices=('text', 'json'), default='text')
    parser.add_argument('--self-test', action='store_true')
    parser.add_argument('releases', nargs='*', metavar='RELEASE', help='bookworm, trixie, sid, arm64; without: all')
    args = parser.parse_args()
    args.repository = here
    args.steps = args.steps.split(',')
    args.releases = args.releases or [*RELEASES, arm64.NAME]
    for wrong in [s for s in args.steps if s not in SCRIPTS] + [
            r for r in args.releases if r not in (*RELEASES, arm64.NAME)]:
        parser.error(f"no release or step '{wrong}'")
    return args


def run(args, progress):
    """What became of each release, and of recorders of one in another."""
    found, entered = [], []
    for name in args.releases:
        try:
            if name == arm64.NAME:
                root = roots.Root(name, arm64.SUITE, args.roots, args.logs)
                enter(root, progress)
                found.append(arm64.check(root, args.repository, run_step, progress))
            else:
                root = roots.Root(name, name, args.roots, args.logs)
                found.append(check_release(root, args.repository, args.steps, progress))
                entered.append(root)
        except (roots.RootError, OSError) as error:
            print(f'check systems: {name}: {error}', file=sys.stderr)
            found.append(summary.read_release(name, {'root': 1}, 0, root.log_folder))
        args.logs.mkdir(parents=True, exist_ok=True)
        summary.write(found, args.logs / 'systems.json')
    exchanged = exchange.check(entered, run_step, progress)
    (args.logs / 'exchange.json').write_text(json.dumps(exchanged, indent=1) + '\n', encoding='utf-8')
    return found, exchanged


def main():
    args = parse()
    if args.self_test:
        return self_test.run()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        roots.check_machine()
    except roots.RootError as error:
        sys.exit(f'check systems: {error}')
    try:
        found, exchanged = run(args, Progress(sys.stderr))
    except KeyboardInterrupt:
        print('\ncheck systems: interrupted; nothing is left mounted', file=sys.stderr)
        return 130
    if args.format == 'json':
        print(json.dumps(found, indent=1))
    else:
        print('\n'.join(['', *summary.table(found), *exchange.lines(exchanged)]))
    return 0 if all(data['good'] for data in found) and not any(row['status'] for row in exchanged) else 1


if __name__ == '__main__':
    sys.exit(main())
