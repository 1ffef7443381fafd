// Files and lines by libdwfl of elfutils, from the debug information of the module on this machine,
// where it has the build id of the one that was recorded. All answers are kept: a profile asks for
// the same few sites again and again.

#include "reader/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "format/source_site.h"
#include "reader/code_scopes.h"
#include "reader/function_names.h"

namespace refrain::reader {
namespace {

using base::base_name;

std::string hexadecimal(const unsigned char* bytes, int count) {
  std::string out;
  char pair[3];
  for (int i = 0; i < count; ++i) {
    std::snprintf(pair, sizeof(pair), "%02x", bytes[i]);
    out += pair;
  }
  return out;
}

char* debug_info_path = nullptr;  // libdwfl's default search path
const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, &debug_info_path};

// One file, opened on its own: offsets in it need no address space of the program that ran.
class Module {
 public:
  Module(const std::string& path, std::string_view build_id) {
    struct stat info {};
    if (path.empty() || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    dwfl_ = dwfl_begin(&kCallbacks);
    if (dwfl_ == nullptr) return;
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_offline(dwfl_, path.c_str(), path.c_str(), -1);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr) return;
    status_ = SymbolStatus::kUnknownPlace;
    const unsigned char* id = nullptr;
    GElf_Addr unused = 0;
    const int length = dwfl_module_build_id(module_, &id, &unused);
    if (!build_id.empty() && hexadecimal(id, length) != build_id)
      status_ = SymbolStatus::kModuleChanged;
  }
  ~Module() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  SourcePlace find(int64_t return_offset) {
    SourcePlace out;
    out.status = status_;
    if (status_ != SymbolStatus::kUnknownPlace || return_offset <= 0) return out;
    // The offset is of the address that the call returns to, which may belong to the next line.
    const Dwarf_Addr address = static_cast<Dwarf_Addr>(return_offset) - 1 + bias_;
    int column = 0;
    if (Dwfl_Line* line = dwfl_module_getsrc(module_, address)) {
      if (const char* file = dwfl_lineinfo(line, nullptr, &out.line, &column, nullptr, nullptr)) {
        out.file = file;
        out.status = SymbolStatus::kFound;
      }
    }
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    std::vector<Dwarf_Die> scopes;  // from the inside
    if (unit != nullptr) scopes = scopes_.around(unit, address - bias);
    out.function = function_at(address, scopes);
    if (out.status != SymbolStatus::kFound && !out.function.empty())
      out.status = SymbolStatus::kFunctionOnly;
    if (out.status == SymbolStatus::kFound)
      if (std::string around = calls_around(address, unit, scopes); !around.empty())
        out.origin =
            out.file + ":" + std::to_string(out.line) + ":" + std::to_string(column) + around;
    return out;
  }

 private:
  // By debug information, which knows inlined functions, or by the table of symbols.
  std::string function_at(Dwarf_Addr address, std::vector<Dwarf_Die>& scopes) {
    for (Dwarf_Die& scope : scopes)
      if (std::string name = name_of(&scope, address); !name.empty()) return name;
    return symbol_at(address);
  }

  // The calls that were inlined around an address, from the inside, and the function that holds
  // them; empty where that is not known.
  std::string calls_around(Dwarf_Addr address, Dwarf_Die* unit, std::vector<Dwarf_Die>& scopes) {
    std::string out;
    for (Dwarf_Die& scope : scopes) {
      const std::string name = name_of(&scope, address);
      if (name.empty()) continue;
      out += "|" + name;
      if (dwarf_tag(&scope) == DW_TAG_subprogram) break;
      for (const unsigned int what : {DW_AT_call_file, DW_AT_call_line, DW_AT_call_column}) {
        Dwarf_Attribute attribute;
        Dwarf_Word value = 0;
        dwarf_formudata(dwarf_attr(&scope, what, &attribute), &value);
        out += ":" + std::to_string(value);
      }
    }
    const char* file = unit == nullptr ? nullptr : dwarf_diename(unit);
    return out.empty() || file == nullptr ? "" : out + "|" + file;
  }

  std::string symbol_at(Dwarf_Addr address) {
    const char* symbol = dwfl_module_addrname(module_, address);
    return symbol == nullptr ? "" : readable_name(symbol);
  }

  // Of a function, which may be inlined; empty of any other scope. Its own name is neither
  // qualified nor does it always have template arguments; what the linker calls it tells both, but
  // is not with every function: a lambda's has none.
  std::string name_of(Dwarf_Die* scope, Dwarf_Addr address) {
    const int tag = dwarf_tag(scope);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) return "";
    Dwarf_Attribute attribute;
    const char* linkage =
        dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));
    if (linkage != nullptr && std::strncmp(linkage, "_Z", 2) == 0) return readable_name(linkage);
    const char* name = dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_name, &attribute));
    if (linkage == nullptr && tag == DW_TAG_subprogram) {
      const char* symbol = dwfl_module_addrname(module_, address);
      if (symbol != nullptr && std::strncmp(symbol, "_Z", 2) == 0) return readable_name(symbol);
    }
    return name == nullptr ? "" : name;
  }

  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  GElf_Addr bias_ = 0;
  CodeScopes scopes_;
  SymbolStatus status_ = SymbolStatus::kNoModule;
};

}  // namespace

struct Symbols::Impl {
  struct Known {
    Module module;
    std::unordered_map<int64_t, SourcePlace> places;
    Known(const std::string& path, std::string_view build_id) : module(path, build_id) {}
  };
  std::map<std::pair<std::string, std::string>, Known> modules;
  std::map<std::tuple<std::string, std::string, int64_t>, SourcePlace> sources;
};

Symbols::Symbols() : impl_(std::make_unique<Impl>()) {}
Symbols::Symbols(Symbols&&) noexcept = default;
Symbols& Symbols::operator=(Symbols&&) noexcept = default;
Symbols::~Symbols() = default;

const SourcePlace& Symbols::find(std::string_view module, std::string_view build_id,
                                 int64_t return_offset) {
  std::pair<std::string, std::string> key{module, build_id};
  auto known = impl_->modules.find(key);
  if (known == impl_->modules.end())
    known = impl_->modules
                .emplace(std::piecewise_construct, std::forward_as_tuple(key),
                         std::forward_as_tuple(key.first, key.second))
                .first;
  const auto [place, is_new] = known->second.places.try_emplace(return_offset);
  if (is_new) place->second = known->second.module.find(return_offset);
  return place->second;
}

const SourcePlace& Symbols::find(const Site& site) {
  // A site of an interpreter: its "module" is a source file, its "offset" the line.
  if (format::is_source(site.build_id)) {
    const auto [known, is_new] = impl_->sources.try_emplace(
        {std::string(site.module), std::string(site.build_id), site.offset});
    if (is_new)
      known->second = {SymbolStatus::kFound, std::string(site.module),
                       static_cast<int>(site.offset),
                       std::string(format::source_function(site.build_id))};
    return known->second;
  }
  return find(site.module, site.build_id, site.offset);
}

std::string Symbols::label(const Site& site) {
  if (site.module.empty() || site.offset < 0) return base_name(site.module);
  // Without a line, the offset is still something to give to addr2line.
  const SourcePlace& place = find(site);
  if (place.status == SymbolStatus::kFound)
    return base_name(place.file) + ":" + std::to_string(place.line);
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%llx", static_cast<unsigned long long>(site.offset));
  return base_name(site.module) + offset;
}

}  // namespace refrain::reader
