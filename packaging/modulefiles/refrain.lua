-- Lmod: copy to .../modulefiles/refrain/0.1.0.lua and set `prefix` to where `cmake --install` put it.
local prefix = os.getenv("REFRAIN_PREFIX") or "/opt/refrain/0.1.0"

help([[
Refrain records every MPI call of a parallel program in one small file and answers questions from it:
    mpiexec -n 4 refrain record ./app
    refrain info run.rfn
Manual: man refrain, documents: ]] .. pathJoin(prefix, "share/doc/refrain"))
whatis("Name: refrain")
whatis("Version: 0.1.0")
whatis("Category: tools, performance, MPI")
whatis("Description: lossless, compressed traces of MPI programs")

conflict("refrain")
setenv("REFRAIN_ROOT", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
-- Programs built against the reader, and mark.h for programs that are recorded.
prepend_path("CPATH", pathJoin(prefix, "include"))
for _, lib in ipairs({"lib", "lib64"}) do
  if isDir(pathJoin(prefix, lib, "pkgconfig")) then
    prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, lib, "pkgconfig"))
    prepend_path("LD_LIBRARY_PATH", pathJoin(prefix, lib))
  end
end
prepend_path("CMAKE_PREFIX_PATH", prefix)
