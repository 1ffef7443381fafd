#include "cli/launch/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "cli/launch/file_mapping.h"

namespace refrain::cli {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr uint16_t kMachine = EM_PPC64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#else
constexpr uint16_t kMachine = EM_NONE;
#endif
constexpr unsigned char kByteOrder =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

class Parser {
 public:
  explicit Parser(std::string_view bytes) : bytes_(bytes) {}

  bool parse(Symbols symbols, ElfFile& out) {
    Elf64_Phdr last{};
    if (!get(0, header_) || header_.e_phnum == 0 || !segment_at(header_.e_phnum - 1U, last))
      return false;
    parse_segments(out);
    if (symbols == Symbols::kRead) parse_sections(out);
    return true;
  }

 private:
  // Copies a T out of the file; false past its end.
  template <class T>
  bool get(uint64_t offset, T& out) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The zero-terminated string at an offset, empty when there is none.
  std::string_view string_at(uint64_t table, uint64_t index) const {
    const uint64_t offset = table + index;
    if (offset < table || offset >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(offset);
    const size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  }

  // Offset in the file of a virtual address; past the end when no segment holds it.
  uint64_t offset_of(uint64_t address) const {
    Elf64_Phdr segment{};
    for (unsigned i = 0; i < header_.e_phnum && segment_at(i, segment); ++i)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return bytes_.size();
  }

  bool segment_at(unsigned i, Elf64_Phdr& out) const {
    return get(header_.e_phoff + uint64_t{i} * sizeof(Elf64_Phdr), out);
  }

  void parse_segments(ElfFile& out) {
    Elf64_Phdr segment{};
    for (unsigned i = 0; i < header_.e_phnum && segment_at(i, segment); ++i) {
      if (segment.p_type == PT_INTERP)
        out.interpreter = std::string(string_at(segment.p_offset, 0));
      if (segment.p_type == PT_DYNAMIC) parse_dynamic(segment, out);
    }
  }

  void parse_dynamic(const Elf64_Phdr& segment, ElfFile& out) {
    out.is_dynamic = true;
    uint64_t strings = bytes_.size();
    Elf64_Dyn entry{};
    const uint64_t count = segment.p_filesz / sizeof(entry);
    const auto entry_at = [&](uint64_t i) {
      return get(segment.p_offset + i * sizeof(entry), entry) && entry.d_tag != DT_NULL;
    };
    for (uint64_t i = 0; i < count && entry_at(i); ++i)
      if (entry.d_tag == DT_STRTAB) strings = offset_of(entry.d_un.d_ptr);
    for (uint64_t i = 0; i < count && entry_at(i); ++i) {
      const std::string text(string_at(strings, entry.d_un.d_val));
      if (entry.d_tag == DT_NEEDED) out.needed.push_back(text);
      if (entry.d_tag == DT_SONAME) out.soname = text;
      if (entry.d_tag == DT_RUNPATH) out.run_path = split_path(text);
      if (entry.d_tag == DT_RPATH) out.rpath = split_path(text);
    }
  }

  void parse_sections(ElfFile& out) const {
    Elf64_Shdr section{}, strings{};
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      if (!get(header_.e_shoff + uint64_t{i} * sizeof(section), section)) return;
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_type == SHT_SYMTAB) out.has_symbol_table = true;
      if (get(header_.e_shoff + uint64_t{section.sh_link} * sizeof(strings), strings))
        parse_symbols(section, strings.sh_offset, out);
    }
  }

  void parse_symbols(const Elf64_Shdr& section, uint64_t strings, ElfFile& out) const {
    Elf64_Sym symbol{};
    for (uint64_t i = 0; i < section.sh_size / sizeof(symbol); ++i) {
      if (!get(section.sh_offset + i * sizeof(symbol), symbol)) return;
      const std::string_view name = string_at(strings, symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF) {
        if (loads_more(name)) out.may_load_more = true;
      } else if (name == "MPI_Init" || name == "PMPI_Init") {
        out.defines_mpi = true;
      }
    }
  }

  // Functions through which a program gets at code that its file does not name.
  static bool loads_more(std::string_view name) {
    for (const std::string_view known :
         {"dlopen", "dlmopen", "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle",
          "fexecve", "execveat", "posix_spawn", "posix_spawnp"})
      if (name == known) return true;
    return false;
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
};

}  // namespace

base::Result<ElfFile> read_elf(const std::string& path, Symbols symbols) {
  const FileMapping file(path);
  if (file.error_number() != 0) return base::fail(std::strerror(file.error_number()), path);
  const std::string_view bytes = file.bytes();
  if (bytes.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG))
    return base::usage("not a program that the system can run", path);
  ElfFile out;
  out.is_native = bytes.size() >= sizeof(Elf64_Ehdr) && bytes[EI_CLASS] == ELFCLASS64 &&
                  bytes[EI_DATA] == static_cast<char>(kByteOrder);
  if (!out.is_native) return out;
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  out.is_native = header.e_machine == kMachine;
  if (out.is_native && !Parser(bytes).parse(symbols, out))
    return base::usage("a damaged program: its headers lie past the end of the file", path);
  return out;
}

std::vector<std::string> split_path(const std::string& list) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace refrain::cli
