# The MPIs that there is a recorder for: the only list of them. CMake finds and builds by it, install and
# packages have a component for each, the tests run on each, and `refrain record` recognises programs by it
# (known_mpis.inc, below). docs/porting.md says how another one gets in.
include_guard()

# In the order in which a machine is searched. The word is that of --mpi and of librefrain-<word>.so.
set(REFRAIN_KNOWN_MPIS mpich openmpi abi smpi)
# Those whose ranks are processes that a launcher starts, with a compiler wrapper of their own.
set(REFRAIN_LAUNCHED_MPIS mpich openmpi)

# Of each of these: a regular expression for what its compiler wrapper prints with -show or -showme (they are tried in
# the order above, as "-lmpi" fits most); its library, and its Fortran layers, as the linker names them.
set(REFRAIN_SHOWN_mpich "-lmpich|-lmpi_abi|mpich")
set(REFRAIN_LIBRARY_NAME_mpich mpich)
set(REFRAIN_FORTRAN_NAMES_mpich mpichfort mpifort)
set(REFRAIN_SHOWN_openmpi "-lmpi")
set(REFRAIN_LIBRARY_NAME_openmpi mpi)
set(REFRAIN_FORTRAN_NAMES_openmpi mpi_mpifh mpi_usempi_ignore_tkr mpi_usempi mpi_usempif08)

# Libraries that a program of it needs: begin of the file name, and the major version behind ".so." (*: any).
# The first row that fits a name decides; the order is that of REFRAIN_MPI_LIBRARY_ROWS.
set(REFRAIN_MPI_LIBRARY_ROWS
  "smpi libsimgrid.so *"
  "mpich libmpich *"
  "abi libmpi_abi *"
  "openmpi libopen-pal. *"
  "openmpi libopen-rte. *"
  "openmpi libopen_mpi. *"
  # The MPICH ABI: MPICH, Intel MPI, Cray MPICH, MVAPICH.
  "mpich libmpi.so 12"
  "mpich libmpifort.so 12"
  "mpich libmpicxx.so 12"
  "mpich libmpi_ 12"
  "openmpi libmpi.so 40"
  "openmpi libmpi_ 40"
  "openmpi libmpi.so 20"
  "openmpi libmpi_ 20"
  # Names that an MPI without a recorder may have as well.
  "other libmpi.so *"
  "other libmpi_ *"
  "other libmpifort.so *"
  "other libmpicxx.so *"
  "other libmpt.so *")

# For base/known_mpis.cc: the words, and rows as {"libmpich", "*", "mpich"}.
function(refrain_write_known_mpis path)
  set(text "// Generated from cmake/RefrainKnownMpis.cmake: do not edit.\n")
  list(JOIN REFRAIN_KNOWN_MPIS "\", \"" words)
  string(APPEND text "constexpr std::string_view kKnownMpis[] = {\"${words}\"};\n")
  list(JOIN REFRAIN_LAUNCHED_MPIS "\", \"" words)
  string(APPEND text "constexpr std::string_view kLaunchedMpis[] = {\"${words}\"};\n")
  set(libraries libmpi_abi)
  foreach(mpi ${REFRAIN_LAUNCHED_MPIS})
    list(APPEND libraries lib${REFRAIN_LIBRARY_NAME_${mpi}}.so)
  endforeach()
  list(JOIN libraries "\", \"" libraries)
  string(APPEND text "constexpr std::string_view kMainLibraries[] = {\"${libraries}\"};\n\nconstexpr LibraryRow kLibraryRows[] = {\n")
  foreach(row ${REFRAIN_MPI_LIBRARY_ROWS})
    string(REPLACE " " ";" words "${row}")
    list(GET words 0 mpi)
    list(GET words 1 prefix)
    list(GET words 2 major)
    string(APPEND text "    {\"${prefix}\", \"${major}\", \"${mpi}\"},\n")
  endforeach()
  string(APPEND text "};\n")
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
endfunction()
