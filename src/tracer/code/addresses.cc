#include "tracer/code/addresses.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/known_mpis.h"

namespace refrain::tracer {

namespace {

const char* file_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

template <size_t N>
bool has_stem(const char* path, const char* const (&stems)[N]) {
  const char* const name = file_of(path);
  for (const char* stem : stems)
    if (std::strncmp(name, stem, std::strlen(stem)) == 0) return true;
  return false;
}

constexpr const char* kOwn[] = {"librefrain-"};

bool is_system_library(const char* path) {
  static constexpr const char* kStems[] = {"libc.so", "libc-2.", "libpthread", "ld-linux", "ld-2."};
  return has_stem(path, kStems);
}

// Modules in C say for which interpreter they are, also where it is part of another program.
bool is_of_python(const char* path) {
  static constexpr const char* kStems[] = {"python", "libpython"};
  return has_stem(path, kStems) || std::strstr(path, ".cpython-") != nullptr ||
         std::strstr(path, "/mpi4py/") != nullptr;
}

std::string read_build_id(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& ph = info.dlpi_phdr[i];
    if (ph.p_type != PT_NOTE) continue;
    const char* p = reinterpret_cast<const char*>(info.dlpi_addr + ph.p_vaddr);
    const char* end = p + ph.p_memsz;
    while (p + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, p, sizeof note);
      const char* name = p + sizeof note;
      const char* desc = name + ((note.n_namesz + 3) & ~3u);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && desc + note.n_descsz <= end &&
          std::memcmp(name, "GNU", 4) == 0) {
        static constexpr char kHex[] = "0123456789abcdef";
        std::string id(2 * size_t{note.n_descsz}, '0');
        for (size_t k = 0; k < note.n_descsz; ++k) {
          const auto b = static_cast<unsigned char>(desc[k]);
          id[2 * k] = kHex[b >> 4];
          id[2 * k + 1] = kHex[b & 15];
        }
        return id;
      }
      p = desc + ((note.n_descsz + 3) & ~3u);
    }
  }
  return {};
}

std::string path_of(const dl_phdr_info& info) {
  if (info.dlpi_name != nullptr && info.dlpi_name[0] != '\0') return info.dlpi_name;
  char exe[4096];
  const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
  return n > 0 ? std::string(exe, static_cast<size_t>(n)) : std::string("?");
}

}  // namespace

bool is_mpi_library(const char* path) {
  // Besides those that tell which MPI it is: what they consist of.
  static constexpr const char* kStems[] = {
      "librefrain-", "libopen-rte", "libopen-pal", "libmca_",   "mca_",   "libucp",  "libuct",
      "libucs",      "libucm",      "libpmix",     "libfabric", "libpmi", "libompi", "libromio",
      "libhwloc",    "libpsm",      "libprrte",    "libmpi++",  "libopa"};
  return has_stem(path, kStems) || !base::mpi_of_library(file_of(path)).empty();
}

struct AddressScan {
  AddressMap* map;
  AddressMap::Segments segments;
  bool first = true;

  static int visit(dl_phdr_info* info, size_t, void* self) {
    static_cast<AddressScan*>(self)->add(*info);
    return 0;
  }
  void add(const dl_phdr_info& info) {
    // Only the program itself has an empty name and comes first; the vdso has no segments of
    // interest.
    const bool is_program = first;
    first = false;
    if (!is_program && (info.dlpi_name == nullptr || info.dlpi_name[0] == '\0')) return;
    const Module& module = module_of(info, path_of(info));
    segments.insert(segments.end(), module.segments.begin(), module.segments.end());
  }
  const Module& module_of(const dl_phdr_info& info, const std::string& path);
};

// One that is back where it was is the same, unless another file has that name by now.
const Module& AddressScan::module_of(const dl_phdr_info& info, const std::string& path) {
  for (const Module& known : map->modules_)
    if (known.bias == info.dlpi_addr && known.path == path && known.build_id == read_build_id(info))
      return known;
  map->modules_.push_back(Module{path,
                                 read_build_id(info),
                                 info.dlpi_addr,
                                 is_system_library(path.c_str()),
                                 has_stem(path.c_str(), kOwn),
                                 is_mpi_library(path.c_str()),
                                 {}});
  Module& module = map->modules_.back();
  map->has_python_ = map->has_python_ || is_of_python(path.c_str());
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& ph = info.dlpi_phdr[i];
    if (ph.p_type != PT_LOAD) continue;
    const uintptr_t begin = info.dlpi_addr + ph.p_vaddr;
    const bool writable = (ph.p_flags & PF_W) != 0;
    module.segments.push_back(
        Segment{begin, begin + ph.p_memsz, &module, writable ? map->next_data_id_++ : -1});
  }
  return module;
}

void AddressMap::refresh() {
  AddressScan scan{this, {}};
  dl_iterate_phdr(&AddressScan::visit, &scan);
  std::sort(scan.segments.begin(), scan.segments.end(),
            [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  // A program that loads and unloads the same library again and again needs no more memory for it.
  constexpr size_t kLookBack = 8;
  for (size_t i = versions_.size(); i > 0 && i + kLookBack > versions_.size(); --i)
    if (*versions_[i - 1] == scan.segments)
      return segments_.store(versions_[i - 1].get(), std::memory_order_release);
  versions_.push_back(std::make_unique<const Segments>(std::move(scan.segments)));
  segments_.store(versions_.back().get(), std::memory_order_release);
}

const Segment* AddressMap::find(uintptr_t address) const {
  Hint none;
  look_up(address, none);
  return none.segment;
}

// Also the addresses around, of which the same is true.
void AddressMap::look_up(uintptr_t address, Hint& last) const {
  const Segments* const segments = segments_.load(std::memory_order_acquire);
  last = {segments, nullptr, 0, 0};
  if (segments == nullptr) return;
  const auto next = std::upper_bound(segments->begin(), segments->end(), address,
                                     [](uintptr_t a, const Segment& s) { return a < s.begin; });
  last.end = next == segments->end() ? UINTPTR_MAX : next->begin;
  if (next == segments->begin()) return;
  const Segment& before = next[-1];
  if (address >= before.end) {
    last.begin = before.end;
    return;
  }
  last.segment = &before;
  last.begin = before.begin;
  last.end = std::min(last.end, before.end);
}

}  // namespace refrain::tracer
