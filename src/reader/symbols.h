// From an address in a module to file, line and function, by the module's debug information (DWARF,
// through elfutils' libdw), also for position-independent programs and shared libraries, and with
// debug information in files of their own (/usr/lib/debug, .gnu_debuglink).
//
//   refrain::reader::Symbols symbols;
//   std::string where = symbols.label(*trace.site(id));    // "heat.c:41"
//
// Reads files of this machine: addresses recorded elsewhere can be resolved only if the same files
// are here. Never fails: an address that cannot be resolved has no file, and a reason. Caches every
// module and every result; not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "refrain/definitions.h"

namespace refrain::reader {

enum class SymbolStatus : uint8_t {
  kFound,          // file and line are known
  kFunctionOnly,   // only the name of the function: no debug information
  kUnknownPlace,   // the module is as recorded but says nothing about this address
  kNoModule,       // the trace does not know the module, or the file is not there
  kModuleChanged,  // the file there now is not the one that ran: other build id
};

struct SourcePlace {
  SymbolStatus status = SymbolStatus::kNoModule;
  std::string file;  // as the compiler was given it; empty: unknown
  int line = 0;
  // Innermost, also if it was inlined, as readable_name() of function_names.h; empty: unknown.
  std::string function;
  // File, line, column and function of the call, and of each call that was inlined around it: equal
  // for the copies that the compiler made of one call. Empty: unknown. Only to be compared.
  std::string origin;
};

class Symbols {
 public:
  Symbols();
  Symbols(Symbols&&) noexcept;
  Symbols& operator=(Symbols&&) noexcept;
  ~Symbols();

  // `return_offset`: the address that a call returns to, minus the module's load bias, so that it
  // compares with the addresses in the module's own headers. The call is the instruction before.
  // `build_id`: hexadecimal; empty: not known, then the file is trusted. Valid as long as this
  // object.
  const SourcePlace& find(std::string_view module, std::string_view build_id,
                          int64_t return_offset);
  const SourcePlace& find(const Site& site);

  // "heat.c:41", or "module+0x1234" when find() does not know more; empty: nothing is known.
  std::string label(const Site& site);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace refrain::reader
