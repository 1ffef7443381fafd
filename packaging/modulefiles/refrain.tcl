#%Module1.0
## Environment Modules: copy to .../modulefiles/refrain/0.1.0 and set `prefix` to where `cmake --install`
## put it.
set prefix /opt/refrain/0.1.0
if {[info exists env(REFRAIN_PREFIX)]} { set prefix $env(REFRAIN_PREFIX) }

proc ModulesHelp {} {
    global prefix
    puts stderr "Refrain records every MPI call of a parallel program in one small file and answers"
    puts stderr "questions from it:"
    puts stderr "    mpiexec -n 4 refrain record ./app"
    puts stderr "    refrain info run.rfn"
    puts stderr "Manual: man refrain, documents: $prefix/share/doc/refrain"
}

module-whatis "lossless, compressed traces of MPI programs"
conflict refrain
setenv REFRAIN_ROOT $prefix
prepend-path PATH $prefix/bin
prepend-path MANPATH $prefix/share/man
# Programs built against the reader, and mark.h for programs that are recorded.
prepend-path CPATH $prefix/include
foreach lib {lib lib64} {
    if {[file isdirectory $prefix/$lib/pkgconfig]} {
        prepend-path PKG_CONFIG_PATH $prefix/$lib/pkgconfig
        prepend-path LD_LIBRARY_PATH $prefix/$lib
    }
}
prepend-path CMAKE_PREFIX_PATH $prefix
