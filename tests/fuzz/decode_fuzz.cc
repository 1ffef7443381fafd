// libFuzzer: any bytes into everything that reads trace files. Checksums are repaired first, so
// that the fuzzer gets past them:  clang++ build with -DREFRAIN_FUZZ=ON, then ./decode_fuzz
// CORPUS_DIR
#include <cstddef>
#include <cstdint>
#include <string>

#include "format/checksum.h"
#include "format/decode/decode.h"
#include "format/expr.h"

namespace {

void put_u32(std::string& bytes, size_t at, uint32_t v) {
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>(v >> (8 * i));
}

// Makes magic, lengths and checksums right and leaves everything else as it is.
std::string repair(std::string bytes) {
  using namespace refrain::format;
  if (bytes.size() < kHeaderBytes) return bytes;
  bytes.replace(0, kMagic.size(), kMagic);
  bytes[8] = static_cast<char>(kMajor);
  for (size_t i = 0; i < 8; ++i)
    bytes[16 + i] = static_cast<char>(static_cast<uint64_t>(bytes.size()) >> (8 * i));
  const auto table = static_cast<uint8_t>(bytes[24]);
  put_u32(bytes, 24, table);
  const auto seal = [&] {
    std::string covered = bytes.substr(0, kChecksumOffset);
    if (bytes.size() >= kHeaderBytes + table) covered += bytes.substr(kHeaderBytes, table);
    put_u32(bytes, kChecksumOffset, checksum32(covered));
  };
  seal();
  const auto header = read_header(bytes, "fuzz");
  if (!header.ok()) return bytes;
  for (const SectionEntry& e : header->sections) {
    const uint32_t sum = checksum32(std::string_view(bytes).substr(e.offset, e.stored_bytes));
    // The checksum is the last field of an entry; the next entry begins right after it.
    const size_t next = &e == &header->sections.back() ? kHeaderBytes + header->table_bytes
                                                       : (&e + 1)->entry_offset;
    put_u32(bytes, next - 4, sum);
  }
  seal();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::format;
  const std::string bytes = repair(std::string(reinterpret_cast<const char*>(data), size));
  auto trace = decode(bytes, "fuzz");
  if (trace.ok()) {
    SlotEvaluator evaluator(*trace);
    for (const Group& g : trace->groups) {
      for (const uint32_t s : g.signatures)
        (void)evaluator.values(s, static_cast<uint64_t>(g.ranks.at(0)), 0).size();
    }
  }
  (void)annotate(bytes).size();
  return trace.ok() == check(bytes).empty() ? 0 : (__builtin_trap(), 0);
}
