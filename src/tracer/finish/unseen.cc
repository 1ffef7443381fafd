#include "tracer/finish/unseen.h"

#include <elf.h>
#include <link.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tracer/calls/forwarded_functions.h"
#include "tracer/code/addresses.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// What a module's dynamic section says of the names that it needs.
struct Names {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  uint32_t count = 0;  // symbols that may be undefined stand before this one
};

// Null: it has none.
const ElfW(Dyn) * dynamic_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

// Whether a module of which these are the names asks the loader for a library of MPI by itself.
bool asks_for_mpi(const dl_phdr_info& info, const Names& names) {
  for (const auto* d = dynamic_of(info); d != nullptr && d->d_tag != DT_NULL; ++d)
    if (d->d_tag == DT_NEEDED && is_mpi_library(names.strings + d->d_un.d_val)) return true;
  return false;
}

// Whether an address lies in what the loader has mapped of a module. (That of the kernel's own
// module has been made no address of.)
bool is_inside(const dl_phdr_info& info, const void* address) {
  const auto a = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& ph = info.dlpi_phdr[i];
    const uintptr_t begin = info.dlpi_addr + ph.p_vaddr;
    if (ph.p_type == PT_LOAD && a >= begin && a < begin + ph.p_filesz) return true;
  }
  return false;
}

// Defined names stand behind all others where the loader's newer table says so. A program may have
// an undefined one among them: a function whose address it has taken.
Names names_of(const dl_phdr_info& info, bool is_program) {
  Names names;
  uint32_t first_defined = 0;
  for (const auto* d = dynamic_of(info); d != nullptr && d->d_tag != DT_NULL; ++d) {
    const auto* const words = reinterpret_cast<const uint32_t*>(d->d_un.d_ptr);
    const bool is_address = d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_HASH ||
                            d->d_tag == DT_GNU_HASH;
    if (!is_address) continue;
    if (!is_inside(info, words)) return {};
    if (d->d_tag == DT_SYMTAB) names.symbols = reinterpret_cast<const ElfW(Sym)*>(words);
    if (d->d_tag == DT_STRTAB) names.strings = reinterpret_cast<const char*>(words);
    if (d->d_tag == DT_HASH) names.count = std::max(names.count, words[1]);
    if (d->d_tag == DT_GNU_HASH) first_defined = words[1];
  }
  if (names.count == 0 || (!is_program && first_defined > 0)) names.count = first_defined;
  return names;
}

// Asked of every name that any module needs, on every rank.
bool is_mpi_name(const char* name) {
  if (name[0] == 'P') ++name;
  if (name[0] != 'M' || name[1] != 'P' || name[2] != 'I') return false;
  return std::strncmp(name, "MPI_", 4) == 0 || std::strncmp(name, "MPIX_", 5) == 0;
}

bool is_left_alone(const char* name) {
  if (name[0] == 'P') ++name;
  return std::any_of(kLeftAloneNames, kLeftAloneNames + kLeftAloneCount,
                     [&](const char* known) { return std::strcmp(known, name) == 0; });
}

bool is_function(const void* address) {
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(address, &info, &extra, RTLD_DL_SYMENT) == 0 || extra == nullptr) return false;
  return ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(extra)->st_info) == STT_FUNC;
}

// Most of a process's libraries came with MPI's own (those of graphics cards, of compilers) and
// have large tables of names, which nobody else reads: a rank looks into its program and into
// libraries that ask for MPI. Rank 0 looks into all of them, because one that was linked carelessly
// does not say what it needs.
struct Search {
  Process* process;
  std::vector<std::string> found;
  bool is_program = true;  // which comes first

  static int visit(dl_phdr_info* info, size_t, void* self) {
    static_cast<Search*>(self)->look_into(*info);
    return 0;
  }
  void look_into(const dl_phdr_info& info) {
    const bool is_first = std::exchange(is_program, false);
    if (info.dlpi_phnum == 0) return;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      if (info.dlpi_phdr[i].p_type != PT_LOAD) continue;
      const uintptr_t begin = info.dlpi_addr + info.dlpi_phdr[i].p_vaddr;
      if (process->code.is_mpi(begin) || process->code.is_system(begin)) return;
      break;
    }
    const Names names = names_of(info, is_first);
    if (names.symbols == nullptr || names.strings == nullptr) return;
    if (!is_first && process->rank != 0 && !asks_for_mpi(info, names)) return;
    for (uint32_t i = 1; i < names.count; ++i) {
      const ElfW(Sym)& symbol = names.symbols[i];
      const char* const name = names.strings + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF || !is_mpi_name(name) || is_left_alone(name)) continue;
      const void* const address = dlsym(RTLD_DEFAULT, name);
      const auto at = reinterpret_cast<uintptr_t>(address);
      if (address == nullptr || process->code.is_own(at) || !process->code.is_mpi(at)) continue;
      if (is_function(address)) found.emplace_back(name);
    }
  }
};

}  // namespace

std::vector<std::string> functions_without_wrapper() {
  Search search{&process(), {}};
  dl_iterate_phdr(&Search::visit, &search);
  std::sort(search.found.begin(), search.found.end());
  search.found.erase(std::unique(search.found.begin(), search.found.end()), search.found.end());
  return search.found;
}

}  // namespace refrain::tracer
