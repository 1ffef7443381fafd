#!/bin/sh
# Runs in a clone that was built: says which compilers and MPIs this system has, one `key value` a line.
# usage: probe.sh [PREFIX]     of the compiler: aarch64-linux-gnu-

version() { command -v "$1" >/dev/null 2>&1 && "$1" --version | sed -n '1s/.* \([0-9][0-9.]*[0-9]\).*/\1/p'; }
macros() { echo "#include <$2>" | "$1" -E -dM - 2>/dev/null; }
macro() { sed -n "s/^#define $1 \"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" | head -n 1; }

echo "g++ $("${1-}g++" -dumpfullversion)"
echo "clang $(version clang)"
echo "python $(version python3)"
for mpicc in mpicc.mpich mpicc_arm64; do
  if command -v $mpicc >/dev/null; then echo "mpich $(macros $mpicc mpi.h | macro MPICH_VERSION)"; fi
done
if command -v mpirun.openmpi >/dev/null; then
  echo "openmpi $(mpirun.openmpi --version | sed -n 's/.*(Open MPI) //p')"
fi
if command -v smpicc >/dev/null; then
  for header in version config; do
    all=$(macros gcc "simgrid/$header.h")
    case $all in *SIMGRID_VERSION_MAJOR*) break ;; esac
  done
  echo "smpi $(echo "$all" | macro SIMGRID_VERSION_MAJOR).$(echo "$all" | macro SIMGRID_VERSION_MINOR)"
fi
echo "mpi4py $(python3 -c 'import mpi4py; print(mpi4py.__version__)' 2>/dev/null)"
