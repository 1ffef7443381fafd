"""A foreign architecture: arm64, compiled for on this machine, its unit tests under qemu.

A root of SUITE with a cross compiler, qemu's user emulation, and libraries of arm64 beside those of this
machine. There is no launcher for emulated programs: a program of one rank is recorded.
"""

import pathlib
import shutil
import time

import roots
import summary

NAME = 'arm64'
SUITE = 'trixie'
HERE = pathlib.Path(__file__).resolve().parent

HERE_PACKAGES = ('ccache gcc g++-aarch64-linux-gnu cmake ninja-build pkg-config python3 qemu-user libprotozero-dev '
                 'libcli11-dev nlohmann-json3-dev libtomlplusplus-dev')
THERE_PACKAGES = ' '.join(f'{p}:arm64' for p in (
    'libmpich12', 'libfmt-dev', 'libzstd-dev', 'libxxhash-dev', 'libunwind-dev', 'libdw-dev', 'libelf-dev',
    'libgtest-dev', 'libbenchmark-dev', 'libsqlite3-dev', 'zlib1g-dev', 'libopen-trace-format2-dev'))
INSTALL = 'apt-get -q -o Dpkg::Use-Pty=0 install -y --no-install-recommends'
# libmpich-dev wants a compiler that runs on arm64, which would push the cross compiler out: only its files.
PREPARE = f'''set -e
export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture arm64
apt-get -q update
{INSTALL} {HERE_PACKAGES}
{INSTALL} {THERE_PACKAGES}
ccache --max-size 10G
ln -sf /usr/bin/aarch64-linux-gnu-nm /usr/local/bin/nm
if [ ! -e /opt/arm64/usr ]; then
  cd /tmp
  apt-get -q download libmpich-dev:arm64
  dpkg-deb -x libmpich-dev_*_arm64.deb /opt/arm64
  rm libmpich-dev_*_arm64.deb
fi
cp -P /opt/arm64/usr/lib/aarch64-linux-gnu/libmpich.so /usr/lib/aarch64-linux-gnu/
'''
BUILD = '''set -e
cmake --preset release --toolchain tools/systems/arm64.cmake -DREFRAIN_MPICC_mpich=/usr/local/bin/mpicc_arm64 \
  -DREFRAIN_WITH_PYTHON=OFF -DREFRAIN_WERROR=ON \
  -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
cmake --build build/release -j "$(nproc)" --target refrain refrain-verbs refrain-mpich
'''
# Those that start the command line need a system that runs arm64's programs by itself.
TEST = '''set -e
cmake --build build/release -j "$(nproc)"
ctest --test-dir build/release --output-on-failure -j "$(nproc)" -L unit -LE cli --output-junit ctest.xml
'''
# Recorded as `refrain record` would do it, which cannot start an emulated program, nor refrain-verbs.
RECORD = '''set -e
export UCX_TLS=self MPIR_CVAR_NOLOCAL=1 QEMU_LD_PREFIX=/
mpicc_arm64 -std=c11 -O2 -g -o build/heat examples/heat/heat.c -lm
qemu-aarch64 -E LD_PRELOAD=$PWD/build/release/src/tracer/librefrain-mpich.so -E REFRAIN_OUTPUT=$PWD/build/heat.rfn \
  build/heat
qemu-aarch64 build/release/refrain-verbs info build/heat.rfn
qemu-aarch64 build/release/refrain-verbs check build/heat.rfn
qemu-aarch64 build/release/refrain-verbs profile build/heat.rfn
'''
STEPS = (('build', BUILD), ('record', RECORD), ('test', TEST))


def check(root, repository, run_step, progress):
    """arm64 as data (summary.read_release)."""
    for log in root.log_folder.glob('*.log'):
        log.unlink()
    begin = time.monotonic()
    statuses = {'prepare': run_step(root, 'prepare', PREPARE, progress)}
    if statuses['prepare'] == 0:
        mpicc = root.path / 'usr/local/bin/mpicc_arm64'
        shutil.copyfile(HERE / 'mpicc_arm64.sh', mpicc)
        mpicc.chmod(0o755)
        root.clone(repository)
        for step, script in STEPS:
            statuses[step] = run_step(root, step, script, progress)
            if statuses[step] != 0:
                break
    probe = root.ask('tools/systems/probe.sh aarch64-linux-gnu-')
    return summary.read_release(root.name, statuses, time.monotonic() - begin, root.log_folder, probe,
                                root.path / roots.CLONE / 'build/release')
