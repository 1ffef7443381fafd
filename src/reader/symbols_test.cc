#include "reader/symbols.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdio>
#include <string>

#include "reader/source_paths.h"
#include "reader/symbols_test_library.h"
#include "reader/test_trace.h"

namespace refrain::reader {
namespace {

struct Where {
  std::string module, build_id;
  int64_t offset = -1;
};

struct Search {
  uintptr_t address;
  Where found;
};

std::string build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    const char* end = at + info.dlpi_phdr[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* name = at + sizeof(*note);
      const char* data = name + ((note->n_namesz + 3) & ~3U);
      if (note->n_type == NT_GNU_BUILD_ID && std::string(name) == "GNU") {
        std::string out;
        char pair[3];
        for (unsigned k = 0; k < note->n_descsz; ++k) {
          std::snprintf(pair, sizeof(pair), "%02x", static_cast<unsigned char>(data[k]));
          out += pair;
        }
        return out;
      }
      at = data + ((note->n_descsz + 3) & ~3U);
    }
  }
  return "";
}

// As the recorder does it: the module of an address, and the address minus the module's load bias.
Where locate(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& out = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || out.address < begin ||
              out.address >= begin + segment.p_memsz)
            continue;
          out.found.module = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
          out.found.build_id = build_id_of(*info);
          out.found.offset = static_cast<int64_t>(out.address - info->dlpi_addr);
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

__attribute__((noinline)) const void* here() {
  __asm__ volatile("");  // two calls in a row are two
  return __builtin_return_address(0);
}

__attribute__((noinline)) CallPlace call_in_program() {
  CallPlace place{};
  place.line = __LINE__ + 1;
  place.return_address = here();
  return place;
}

__attribute__((always_inline)) inline CallPlace call_inlined() {
  CallPlace place{};
  place.line = __LINE__ + 1;
  place.return_address = here();
  return place;
}

void expect_resolves(const CallPlace& call, const std::string& file, const std::string& function) {
  const Where where = locate(call.return_address);
  ASSERT_FALSE(where.build_id.empty());
  Symbols symbols;
  const SourcePlace& place = symbols.find(where.module, where.build_id, where.offset);
  EXPECT_EQ(place.status, SymbolStatus::kFound);
  EXPECT_EQ(place.file.substr(place.file.rfind('/') + 1), file);
  EXPECT_EQ(place.line, call.line);
  EXPECT_EQ(place.function, function);
  Site site;
  site.module = where.module;
  site.build_id = where.build_id;
  site.offset = where.offset;
  EXPECT_EQ(symbols.label(site), file + ":" + std::to_string(call.line));
}

TEST(Symbols, ResolvesItsOwnProgram) {
  expect_resolves(call_in_program(), "symbols_test.cc",
                  "refrain::reader::(anonymous namespace)::call_in_program");
}

TEST(Symbols, ResolvesASharedLibrary) {
  expect_resolves(call_in_library(), "symbols_test_library.cc", "refrain::reader::call_in_library");
}

// Debug information has the lambda's function inside of this one.
TEST(Symbols, KnowsWhatIsInlinedInAFunctionOfAFunction) {
  CallPlace (*volatile call)() = [] { return call_inlined(); };
  const CallPlace place = call();
  const Where where = locate(place.return_address);
  Symbols symbols;
  const SourcePlace& found = symbols.find(where.module, where.build_id, where.offset);
  EXPECT_EQ(found.line, place.line);
  EXPECT_NE(found.function.find("call_inlined"), std::string::npos) << found.function;
  EXPECT_FALSE(found.origin.empty());
}

TEST(Symbols, RefusesAModuleThatChanged) {
  const Where where = locate(call_in_library().return_address);
  Symbols symbols;
  const SourcePlace& place = symbols.find(where.module, "00112233", where.offset);
  EXPECT_EQ(place.status, SymbolStatus::kModuleChanged);
  EXPECT_EQ(place.line, 0);
  EXPECT_EQ(place.file, "");
}

TEST(Symbols, TrustsTheFileWithoutABuildId) {
  const CallPlace call = call_in_library();
  const Where where = locate(call.return_address);
  Symbols symbols;
  EXPECT_EQ(symbols.find(where.module, "", where.offset).line, call.line);
}

TEST(Symbols, LabelsWhatItCannotResolve) {
  Symbols symbols;
  Site site;
  EXPECT_EQ(symbols.label(site), "");
  site.module = "/no/such/place/libsolver.so";
  site.offset = 0x1234;
  EXPECT_EQ(symbols.find(site).status, SymbolStatus::kNoModule);
  EXPECT_EQ(symbols.label(site), "libsolver.so+0x1234");
  site.module = "/etc/passwd";  // no ELF file
  EXPECT_EQ(symbols.label(site), "passwd+0x1234");
  site.module = "/proc/self/exe";
  site.offset = INT64_MAX;
  EXPECT_EQ(symbols.find(site).status, SymbolStatus::kUnknownPlace);
}

// What a compiler makes of a call that it copies: two addresses, one place in the source.
#define TWICE(first, second) (first) = here(), (second) = here()

__attribute__((always_inline)) inline const void* inlined() { return here(); }

struct Calls {
  const void *first, *copy, *inlined_here, *inlined_there;
};

__attribute__((noinline)) Calls calls_in_program() {
  Calls calls{};
  TWICE(calls.first, calls.copy);
  calls.inlined_here = inlined();
  calls.inlined_there = inlined();
  return calls;
}

uint32_t site_of(TraceBuilder& builder, const void* address) {
  const Where where = locate(address);
  return builder.site(where.module, where.build_id, where.offset);
}

TEST(SourcePaths, CopiesOfACallAreOne) {
  const Calls calls = calls_in_program();
  ASSERT_NE(calls.first, calls.copy);
  TraceBuilder builder(1);
  const uint32_t outer = site_of(builder, call_in_library().return_address);
  const uint32_t unknown = builder.site("/no/such/app", "", 0x100);
  const uint32_t first = builder.path({site_of(builder, calls.first), outer});
  const uint32_t copy = builder.path({site_of(builder, calls.copy), outer});
  const uint32_t elsewhere = builder.path({site_of(builder, calls.copy), unknown});
  const uint32_t here_inlined = builder.path({site_of(builder, calls.inlined_here), outer});
  const uint32_t there_inlined = builder.path({site_of(builder, calls.inlined_there), outer});
  builder.group({0}, {builder.signature(ShapeWriter("MPI_Barrier").object(copy).object(0))});
  const Trace trace = builder.open();
  Symbols symbols;
  const SourcePaths paths(trace, symbols);
  EXPECT_EQ(paths.of(first), first);
  EXPECT_EQ(paths.of(copy), first);
  EXPECT_EQ(paths.of(elsewhere), elsewhere);
  EXPECT_EQ(paths.of(unknown), unknown);
  // One line, and yet two calls of the program: they were inlined at different places.
  EXPECT_EQ(paths.of(here_inlined), here_inlined);
  EXPECT_EQ(paths.of(there_inlined), there_inlined);
  EXPECT_EQ(SourcePaths().of(copy), copy);
}

}  // namespace
}  // namespace refrain::reader
