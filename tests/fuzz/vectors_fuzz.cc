// Any bytes as computation vectors: vectors or an error; what was read can be written again, and is
// read the same. The checksums of the header and of blocks are made right, so that mutations come
// behind them.
#include "format/vectors/vector_file.h"

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

constexpr size_t kHeaderBytes = 32;

void put_u32(std::string& s, size_t at, uint32_t v) {
  for (size_t i = 0; i < 4; ++i) s[at + i] = static_cast<char>(v >> (8 * i));
}

// Of the header, and of the blocks of all vectors as far as they can be followed.
void reseal(std::string& file) {
  if (file.size() < kHeaderBytes) return;
  for (size_t i = 0; i < sizeof(format::vectors::kMagic); ++i) file[i] = format::vectors::kMagic[i];
  put_u32(file, 28, format::checksum32(std::string_view(file).substr(0, 28)));
  const bool has_totals = file[10] == format::vectors::kHasTotals && file[11] == 0;
  base::ByteReader in(std::string_view(file).substr(kHeaderBytes));
  while (in.ok() && !in.at_end()) {
    in.varint(), in.varint(), in.u8(), in.varint(), in.varint();
    const uint64_t units = in.varint();
    if (has_totals) {
      const size_t begin = kHeaderBytes + in.position();
      for (uint64_t left = in.varint(); in.ok() && left > 0; --left) in.varint();
      const size_t end = kHeaderBytes + in.position();
      in.u32();
      if (in.ok())
        put_u32(file, end, format::checksum32(std::string_view(file).substr(begin, end - begin)));
    }
    for (uint64_t first = 0; in.ok() && first < units; first += format::vectors::kBlockUnits) {
      in.u32();
      const uint32_t stored = in.u32();
      const size_t at = kHeaderBytes + in.position();
      in.u32();
      const std::string_view bytes = in.bytes(stored);
      if (in.ok()) put_u32(file, at, format::checksum32(bytes));
    }
  }
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain::fuzz;
  namespace vectors = refrain::format::vectors;
  std::string file(view_of(data, size));
  reseal(file);
  const auto read = vectors::decode(file, "file");
  if (!read.ok()) return 0;
  const auto again = vectors::decode(vectors::encode(*read), "again");
  require(again.ok() && *again == *read, "what was read is written and read the same");
  return 0;
}
