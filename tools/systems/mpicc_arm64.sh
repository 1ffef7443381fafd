#!/bin/sh
# MPICH's compiler wrapper for arm64: the files of libmpich-dev with the cross compiler.
command="aarch64-linux-gnu-gcc"
flags="-I/opt/arm64/usr/lib/aarch64-linux-gnu/mpich/include -L/usr/lib/aarch64-linux-gnu -lmpich"
case ${1-} in
  -show) echo "$command $flags" ;;
  -showme) exit 1 ;;
  *) exec $command "$@" $flags ;;
esac
