#include "replay/solo/sites.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/known_mpis.h"

namespace refrain::replay::solo {
namespace {

std::string build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& ph = info.dlpi_phdr[i];
    if (ph.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + ph.p_vaddr);
    const char* const end = at + ph.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof(note));
      const auto padded = [](uint32_t n) { return (n + 3u) & ~3u; };
      const char* const name = at + sizeof(note);
      const char* const data = name + padded(note.n_namesz);
      at = data + padded(note.n_descsz);
      if (at > end || note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
          std::memcmp(name, "GNU", 4) != 0)
        continue;
      std::string text;
      for (uint32_t k = 0; k < note.n_descsz; ++k) {
        constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(data[k]);
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
      }
      return text;
    }
  }
  return {};
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string own_program() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

}  // namespace

void Sites::refresh() {
  modules_.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& all = *static_cast<std::vector<Module>*>(out);
        const bool is_program = all.empty();
        const std::string path = is_program                   ? own_program()
                                 : info->dlpi_name == nullptr ? ""
                                                              : info->dlpi_name;
        all.push_back({path, build_id_of(*info), info->dlpi_addr});
        return 0;
      },
      &modules_);
}

const Sites::Module* Sites::module_of(const Site& site) {
  const auto find = [&](auto&& is_it) {
    const auto known = std::find_if(modules_.begin(), modules_.end(), is_it);
    return known == modules_.end() ? nullptr : &*known;
  };
  const Module* found = find([&](const Module& m) { return m.path == site.module; });
  if (found == nullptr && !site.build_id.empty())
    found = find([&](const Module& m) { return m.build_id == site.build_id; });
  if (found == nullptr)
    found = find([&](const Module& m) { return file_of(m.path) == file_of(site.module); });
  return found;
}

uintptr_t Sites::address_of(DefinitionId id) {
  if (id == kNoDefinition) return 0;
  const auto [known, is_new] = known_.try_emplace(id, 0);
  if (!is_new) return known->second;
  const auto site = trace_.site(trace_.call_site(id));
  if (!site || site->module.empty() || site->offset < 0) return 0;
  // A callback whose last statement is a call returns into the MPI that called it: here, into us.
  if (!base::mpi_of_library(file_of(site->module)).empty()) return 0;
  const Module* module = module_of(*site);
  if (module == nullptr) {
    refresh();
    module = module_of(*site);
  }
  if (module == nullptr) {
    known_.erase(id);  // it may be loaded later
    return 0;
  }
  if (!site->build_id.empty() && !module->build_id.empty() && module->build_id != site->build_id) {
    if (std::find(told_.begin(), told_.end(), module->path) == told_.end()) {
      told_.push_back(module->path);
      changed_.push_back(module->path);
    }
    return 0;
  }
  return known->second = module->base + static_cast<uintptr_t>(site->offset);
}

std::string Sites::text_of(uintptr_t address) {
  if (address == 0) return "an unknown place";
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address - 1), &info) == 0 || info.dli_fname == nullptr)
    return "an unknown place";
  char text[64];
  std::snprintf(
      text, sizeof(text), "+0x%llx",
      static_cast<unsigned long long>(address - reinterpret_cast<uintptr_t>(info.dli_fbase)));
  std::string out = std::string(file_of(info.dli_fname)) + text;
  if (info.dli_sname != nullptr) out += std::string(" (") + info.dli_sname + ")";
  return out;
}

bool Sites::is_mpi(uintptr_t address) {
  const auto [known, is_new] = is_mpi_.try_emplace(address, false);
  if (!is_new) return known->second;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address - 1), &info) != 0 && info.dli_fname != nullptr)
    known->second = !base::mpi_of_library(file_of(info.dli_fname)).empty();
  return known->second;
}

std::vector<std::string> Sites::changed() { return std::exchange(changed_, {}); }

}  // namespace refrain::replay::solo
