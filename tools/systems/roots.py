"""Roots: folders with a minimal Debian, in which the project is built and tested.

debootstrap makes a root once; it stays, with the packages and the compiler's cache that came since. A
command in a root runs in a mount and a process namespace of its own: what it mounts and what it leaves
running is gone when it ends, also when it is killed.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import time

MIRROR = 'http://deb.debian.org/debian'
CLONE = 'srv/refrain'  # below the root: always the same place, so that ccache finds what it has
CERTIFICATES = '/etc/ssl/host_certificates.crt'
# Variables of the machine that a root needs to reach the network.
PASSED_ON = ('TERM', 'http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY')

# Runs in the new namespaces. The devices of the root are its own (debootstrap makes them); shared
# memory and terminals are new ones, so that nothing of the machine is seen or left behind.
ENTER = r'''
set -e
root=$1
shift
# What somebody mounted there before stays as it is outside.
for place in proc sys dev; do
  while umount --recursive --lazy "$root/$place" 2>/dev/null; do :; done
done
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mkdir -p "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -sfn pts/ptmx "$root/dev/ptmx"
exec chroot "$root" "$@"
'''


class RootError(Exception):
    """One line: what is wrong, and what to do."""


def check_machine():
    """Raises RootError when roots cannot be made or entered here."""
    if os.geteuid() != 0:
        raise RootError('roots are made and entered by root only: sudo ./dev check systems')
    for program, package in (('debootstrap', 'debootstrap'), ('unshare', 'util-linux'),
                             ('setpriv', 'util-linux'), ('git', 'git')):
        if shutil.which(program) is None:
            raise RootError(f'no {program} on this machine: install the package {package}')
    probe = subprocess.run(['unshare', '--mount', '--pid', '--fork', 'true'], capture_output=True, text=True)
    if probe.returncode != 0:
        raise RootError(f'this machine lets nobody mount (in a container?): {probe.stderr.strip()}')


class Root:
    """One root. `log_folder` receives what each step prints."""

    def __init__(self, name, suite, folder, log_folder):
        self.name = name
        self.suite = suite
        self.path = pathlib.Path(folder).resolve() / name
        self.log_folder = pathlib.Path(log_folder) / name
        self.lock = None

    def is_made(self):
        return (self.path / 'var/lib/dpkg/status').is_file() and not (self.path / 'debootstrap').exists()

    def hold(self):
        """Keeps other runs out of this root as long as this process lives."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.log_folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(f'{self.path}.lock', 'w', encoding='utf-8')
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RootError(f'another run is in {self.path}: wait until it has ended') from None

    def make(self, progress):
        """debootstrap, into a folder that gets its name when it is complete."""
        part = self.path.parent / f'{self.name}.part'
        if self.path.exists():
            raise RootError(f'{self.path} is there, but is no complete root: remove it')
        if part.exists():
            shutil.rmtree(part)
        status = run_logged(['debootstrap', '--variant=minbase', self.suite, str(part), MIRROR],
                            self.log_folder / 'debootstrap.log', progress)
        if status != 0:
            raise RootError(f'debootstrap could not make a root of {self.suite} from {MIRROR}: see '
                            f'{self.log_folder}/debootstrap.log')
        part.rename(self.path)

    def connect(self):
        """The machine's names and certificates, and a release that may be older than it says."""
        shutil.copyfile('/etc/resolv.conf', self.path / 'etc/resolv.conf')
        found = [os.environ[v] for v in ('NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE') if os.environ.get(v)]
        if found and os.path.isfile(found[0]):
            (self.path / CERTIFICATES[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found[0], self.path / CERTIFICATES[1:])
        # A mirror's copy of a release that changes daily may be out of date.
        (self.path / 'etc/apt/apt.conf.d/90refrain').write_text(
            'Acquire::Check-Valid-Until "false";\nAPT::Install-Recommends "false";\n'
            'DPkg::Options { "--force-unsafe-io"; };\n', encoding='utf-8')

    def environment(self):
        found = {'HOME': '/root', 'LANG': 'C.UTF-8', 'DEBIAN_FRONTEND': 'noninteractive',
                 'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}
        found.update({v: os.environ[v] for v in PASSED_ON if v in os.environ})
        if (self.path / CERTIFICATES[1:]).is_file():
            found.update({'NODE_EXTRA_CA_CERTS': CERTIFICATES, 'SSL_CERT_FILE': CERTIFICATES})
        return found

    def clone(self, repository):
        """A fresh clone of what is committed, in place of the one of the last run."""
        target = self.path / CLONE
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(['git', 'clone', '--quiet', '--no-hardlinks', str(repository), str(target)], check=True)

    def command(self, script):
        """What runs a shell script in the clone, or in / where there is none."""
        inside = f'cd /{CLONE} 2>/dev/null || cd /\n{script}'
        return ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--propagation', 'private', '--pid',
                '--fork', '--kill-child', 'sh', '-c', ENTER, 'sh', str(self.path), 'bash', '-c', inside]

    def run(self, step, script, progress):
        """Exit status of a step; what it prints is in LOG_FOLDER/STEP.log."""
        return run_logged(self.command(script), self.log_folder / f'{step}.log', progress, self.environment())

    def ask(self, script):
        """What a script prints in the root; empty when it fails."""
        done = subprocess.run(self.command(script), env=self.environment(), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        return done.stdout if done.returncode == 0 else ''


def run_logged(command, log, progress, environment=None):
    """Exit status. `progress` is called about once a second with the log's name while it runs."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, 'wb') as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 env=environment)
        try:
            while child.poll() is None:
                progress(log)
                time.sleep(0.5)
        finally:
            if child.poll() is None:
                child.kill()  # and with it everything in its namespaces
                child.wait()
    return child.returncode
