// Calls MPI only inside a shared library, which it loads itself when a path is given.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (access(argv[1], F_OK) != 0) return 77;  // there is no compiler for it
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(library, "run_in_library");
  return run ? run(argc, argv) : 2;
}
