# Debian packages by CPack, one for each component of RefrainInstall.cmake:
#
#   cmake --build build/release --target refrain_installable && cpack --config build/release/CPackConfig.cmake
#
# refrain, refrain-<mpi> for each recorder (RefrainKnownMpis.cmake), librefrain-reader0.1, librefrain-dev, python3-refrain.
# A recorder is a package of its own because it depends on its MPI: nobody has to install three.
include_guard()
if(REFRAIN_SANITIZE)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME refrain)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The Refrain authors")
if(NOT CPACK_PACKAGE_CONTACT)  # who makes packages for others says so: -DCPACK_PACKAGE_CONTACT="Name <address>"
  set(CPACK_PACKAGE_CONTACT "The Refrain authors <refrain@localhost.localdomain>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "lossless, compressed traces of MPI programs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# And ldconfig runs when the library comes or goes.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Compresses what policy wants compressed, and adds copyright and changelog to every package.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian/finish.cmake)

set(CPACK_COMPONENTS_ALL tool reader dev)

# Every package has the summary above, and a paragraph of its own.
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME refrain)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
"Records every MPI call of a parallel program with every parameter in one
small file, and answers questions from it: profile, communication matrix,
wait states, critical path.")

foreach(mpi ${REFRAIN_INSTALLED_MPIS})
  list(APPEND CPACK_COMPONENTS_ALL recorder-${mpi})
  string(TOUPPER ${mpi} upper)
  set(CPACK_DEBIAN_RECORDER-${upper}_PACKAGE_NAME refrain-${mpi})
  set(CPACK_DEBIAN_RECORDER-${upper}_PACKAGE_DEPENDS
      "refrain (= ${PROJECT_VERSION}), libunwind8")  # opened by name
  set(CPACK_DEBIAN_RECORDER-${upper}_DESCRIPTION
"The recorder for ${mpi}: what `refrain record` preloads into a program.")
  list(APPEND recorder_names refrain-${mpi})
endforeach()
# That of the standard's ABI works with any MPI that has it; asked which package the library at hand is
# from, dpkg-shlibdeps names one.
set(CPACK_DEBIAN_RECORDER-ABI_PACKAGE_SHLIBDEPS OFF)
string(APPEND CPACK_DEBIAN_RECORDER-ABI_PACKAGE_DEPENDS
       ", libmpich12 | libopenmpi40, libc6, libzstd1")
list(JOIN recorder_names " | " recorder_names)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "${recorder_names}")

set(reader_package librefrain-reader${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_READER_PACKAGE_NAME ${reader_package})
set(CPACK_DEBIAN_READER_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_READER_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_READER_DESCRIPTION
"The C++ library that opens traces of MPI programs and walks their calls.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME librefrain-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${reader_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_DESCRIPTION
"Headers, CMake package and pkg-config file of the reader library, and
refrain/mark.h for programs that are recorded.")

if(TARGET refrain_python)
  # The module is for one version of Python.
  list(APPEND CPACK_COMPONENTS_ALL python)
  list(GET REFRAIN_PYTHON_VERSION 0 major)
  list(GET REFRAIN_PYTHON_VERSION 1 minor)
  math(EXPR next "${minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-refrain)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= ${major}.${minor}), python3 (<< ${major}.${next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/python/prerm)
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION
"The Python package that opens traces of MPI programs: calls, profile, matrix,
wait states and timeline as NumPy arrays.")
endif()

include(CPack)
