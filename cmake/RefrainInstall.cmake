# What `cmake --install` puts where (GNUInstallDirs), in components, which are also Debian's packages:
#
#   tool             bin/refrain, LIBDIR/refrain/refrain-verbs, librefrain-heap.so, librefrain-posix.so, librefrain-cluster.so, man pages, completion,
#                    documents, examples
#   recorder-<mpi>   LIBDIR/refrain/librefrain-<mpi>.so, librefrain-solo-<mpi>.so, refrain-replay-<mpi>, refrain-calibrate-<mpi> and refrain-relay-<mpi>, for each MPI found
#                    LIBDIR/librefrain-coupling-<mpi>.so, for programs that link it
#                    LIBDIR/librefrain-blackboard-<mpi>.so, the same
#   reader           LIBDIR/librefrain-reader.so.0.1, LIBDIR/librefrain-blackboard.so
#   dev              include/refrain, RefrainConfig.cmake, refrain.pc
#   python           REFRAIN_PYTHON_DIR/refrain, the Python package, if it is built (REFRAIN_WITH_PYTHON)
#
# Nothing depends on the prefix: an installed tree may be moved.
include_guard()
# A sanitized build is for tests only.
if(REFRAIN_SANITIZE)
  return()
endif()
include(CMakePackageConfigHelpers)

# -- the reader as a library --

# One shared library out of the static ones, with nothing visible but include/refrain. Until 1.0 every minor
# version may change it, so both numbers are in its name.
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/reader_library.cc "// All of it is in the archives.\n")
add_library(refrain_reader_library SHARED ${CMAKE_CURRENT_BINARY_DIR}/reader_library.cc)
set(symbols ${CMAKE_SOURCE_DIR}/cmake/reader_symbols.map)
target_link_libraries(refrain_reader_library PRIVATE
  -Wl,--whole-archive $<TARGET_FILE:refrain_reader> -Wl,--no-whole-archive
  refrain_reader -Wl,--version-script=${symbols} -Wl,--no-undefined -Wl,--as-needed)
target_include_directories(refrain_reader_library INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(refrain_reader_library INTERFACE cxx_std_20)
set_target_properties(refrain_reader_library PROPERTIES
  OUTPUT_NAME refrain-reader EXPORT_NAME reader VERSION ${PROJECT_VERSION} SOVERSION ${abi}
  LINK_DEPENDS ${symbols})

# The blackboard, for programs and plug-ins in C: found by its name, so without CMake's package.
install(TARGETS refrain_blackboard_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT reader)

install(TARGETS refrain_reader_library EXPORT RefrainTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT reader NAMELINK_COMPONENT dev)
file(GLOB headers ${CMAKE_SOURCE_DIR}/include/refrain/*.h)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/refrain COMPONENT dev)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Refrain)
install(EXPORT RefrainTargets NAMESPACE Refrain:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/refrain_config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/RefrainConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/RefrainConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/RefrainConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/RefrainConfigVersion.cmake DESTINATION ${package_dir} COMPONENT dev)

# From LIBDIR/pkgconfig to the prefix, so that the file may be moved with it.
file(RELATIVE_PATH REFRAIN_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_SOURCE_DIR}/cmake/refrain.pc.in ${CMAKE_CURRENT_BINARY_DIR}/refrain.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/refrain.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# -- the tool and its recorders --

install(TARGETS refrain RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(TARGETS refrain-verbs RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT tool)
set(installable refrain refrain-verbs refrain_reader_library refrain_blackboard_library)
if(TARGET refrain-heap)
  # Loaded by name into other programs, never linked: it has no version, and `record` knows where it is.
  install(TARGETS refrain-heap refrain-posix refrain-wtime
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT tool)
  list(APPEND installable refrain-heap refrain-posix refrain-wtime)
endif()
if(TARGET refrain-cluster)
  install(TARGETS refrain-cluster
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT tool)
  list(APPEND installable refrain-cluster)
endif()
set(REFRAIN_INSTALLED_MPIS)
foreach(mpi ${REFRAIN_KNOWN_MPIS})
  if(TARGET refrain-${mpi})
    install(TARGETS refrain-${mpi}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT recorder-${mpi})
    foreach(program replay calibrate relay)
      if(TARGET refrain-${program}-${mpi})
        install(TARGETS refrain-${program}-${mpi}
          RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT recorder-${mpi}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT recorder-${mpi})
        list(APPEND installable refrain-${program}-${mpi})
      endif()
    endforeach()
    if(TARGET refrain-solo-${mpi})
      install(TARGETS refrain-solo-${mpi}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/refrain COMPONENT recorder-${mpi})
      list(APPEND installable refrain-solo-${mpi})
    endif()
    if(TARGET refrain-coupling-${mpi})
      # Programs link it by name, so it is where linkers look.
      install(TARGETS refrain-coupling-${mpi} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT recorder-${mpi})
      list(APPEND installable refrain-coupling-${mpi})
    endif()
    if(TARGET refrain-blackboard-${mpi})
      install(TARGETS refrain-blackboard-${mpi} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT recorder-${mpi})
      list(APPEND installable refrain-blackboard-${mpi})
    endif()
    list(APPEND REFRAIN_INSTALLED_MPIS ${mpi})
    list(APPEND installable refrain-${mpi})
  endif()
endforeach()

# -- the Python package --

if(TARGET refrain_python)
  # Debian's own packages have a folder for all versions of Python 3.
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig as s
system = 'deb_system' if 'deb_system' in s.get_scheme_names() else s.get_default_scheme()
print(s.get_path('platlib', system, {'base': '', 'platbase': ''}).lstrip('/'))"
    OUTPUT_VARIABLE python_dir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(REFRAIN_PYTHON_DIR ${python_dir} CACHE STRING "Folder of Python packages, below the prefix")
  install(TARGETS refrain_python
    LIBRARY DESTINATION ${REFRAIN_PYTHON_DIR}/refrain COMPONENT python)
  install(FILES ${REFRAIN_PYTHON_FILES} DESTINATION ${REFRAIN_PYTHON_DIR}/refrain COMPONENT python)
  list(APPEND installable refrain_python_package)
endif()

# -- man pages and completion, written by the executable from what it parses --

set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/refrain.1 ${manual}/refrain.bash
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND refrain-verbs manual -o ${manual}
  DEPENDS refrain-verbs VERBATIM COMMENT "Writing the man pages")
add_custom_target(refrain_manual ALL DEPENDS ${manual}/refrain.1)
list(APPEND installable refrain_manual)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool
  FILES_MATCHING PATTERN "*.1")
install(FILES ${manual}/refrain.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME refrain COMPONENT tool)

# -- documents and examples --

install(FILES README.md CHANGELOG.md ARCHITECTURE.md LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
# Programs that somebody built in examples/ have no suffix.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool
  FILES_MATCHING REGEX "/(Makefile|[^/]+\\.[a-z]+)$" PATTERN "__pycache__" EXCLUDE)

# `./dev` and whoever installs build this one, without the tests.
add_custom_target(refrain_installable)
add_dependencies(refrain_installable ${installable})
