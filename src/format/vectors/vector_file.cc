#include "format/vectors/vector_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <zstd.h>

#include "base/bytes.h"
#include "base/text_file.h"
#include "format/codes/checksum.h"

namespace refrain::format::vectors {
namespace {

using base::ByteReader;
using base::ByteWriter;

// One zstd frame where that is shorter, else the bytes themselves.
std::string squeezed(std::string_view raw) {
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const size_t n = ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3);
  if (ZSTD_isError(n) != 0 || n >= raw.size()) return std::string(raw);
  out.resize(n);
  return out;
}

void put_column(ByteWriter& out, const std::vector<uint64_t>& values, uint64_t first,
                uint64_t count) {
  uint64_t before = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    out.put_zigzag(static_cast<int64_t>(values[i] - before));
    before = values[i];
  }
}

bool get_column(ByteReader& in, uint64_t count, std::vector<uint64_t>& values) {
  uint64_t before = 0;
  for (uint64_t i = 0; i < count; ++i) {
    before += static_cast<uint64_t>(in.zigzag());
    if (!in.ok() || before > kMaxNs) return false;
    values.push_back(before);
  }
  return true;
}

void put_vector(ByteWriter& out, const Vector& v, bool has_totals) {
  const uint64_t units = v.least_ns.size();
  out.put_varint(v.rank);
  out.put_varint(v.thread);
  out.put_u8(static_cast<uint8_t>(v.clock));
  out.put_varint(v.runs);
  out.put_varint(v.doubtful);
  out.put_varint(units);
  if (has_totals) {
    ByteWriter totals;
    totals.put_varint(v.totals_ns.size());
    for (const uint64_t total : v.totals_ns) totals.put_varint(total);
    out.put_bytes(totals.view().data(), totals.view().size());
    out.put_u32(checksum32(totals.view()));
  }
  for (uint64_t first = 0; first < units; first += kBlockUnits) {
    const uint64_t count = std::min(kBlockUnits, units - first);
    ByteWriter raw;
    for (const auto* column : {&v.least_ns, &v.median_ns, &v.spread_ns})
      put_column(raw, *column, first, count);
    const std::string stored = squeezed(raw.view());
    out.put_u32(static_cast<uint32_t>(raw.size()));
    out.put_u32(static_cast<uint32_t>(stored.size()));
    out.put_u32(checksum32(stored));
    out.put_bytes(stored.data(), stored.size());
  }
}

class Decoder {
 public:
  Decoder(std::string_view bytes, std::string name)
      : bytes_(bytes), in_(bytes), name_(std::move(name)) {}

  base::Result<VectorFile> file() {
    VectorFile out;
    if (bytes_.size() < 8 || std::memcmp(bytes_.data(), kMagic, 8) != 0)
      return base::fail("no computation vectors: it does not begin like a .rfv file", name_);
    in_.bytes(8);
    const int major = in_.u8();
    in_.u8();
    if (in_.ok() && major != kMajor)
      return base::unsupported("version " + std::to_string(major) + " of computation vectors",
                               name_);
    const uint16_t features = in_.u16();
    if ((features & ~kHasTotals) != 0)
      return base::unsupported("a later Refrain wrote it, with features that this one lacks",
                               name_);
    out.run = in_.u64();
    out.ranks = in_.u32();
    const uint32_t vectors = in_.u32();
    const uint32_t sum = in_.u32();
    if (!in_.ok()) return damaged("it ends within its header");
    if (sum != checksum32(bytes_.substr(0, 28)))
      return damaged("the checksum of its header is wrong");
    if (out.ranks > kMaxRanks) return damaged("too many ranks");
    for (uint32_t i = 0; i < vectors; ++i) {
      Vector v;
      if (auto good = vector(v, out.ranks, features == kHasTotals); !good.ok()) return good.error();
      const auto key = [](const Vector& x) { return std::pair(x.rank, x.thread); };
      if (!out.vectors.empty() && key(out.vectors.back()) >= key(v))
        return damaged("its vectors are not in order");
      out.vectors.push_back(std::move(v));
    }
    if (in_.remaining() != 0) return damaged("something follows its last vector");
    return out;
  }

 private:
  base::Error damaged(const std::string& what) const {
    return base::fail(
        "damaged at offset " + std::to_string(bytes_.size() - in_.remaining()) + ": " + what,
        name_);
  }

  base::Status vector(Vector& v, uint32_t ranks, bool has_totals) {
    const uint64_t rank = in_.varint(), thread = in_.varint();
    const uint8_t clock = in_.u8();
    const uint64_t runs = in_.varint();
    v.doubtful = in_.varint();
    const uint64_t units = in_.varint();
    if (!in_.ok()) return damaged("it ends within the head of a vector");
    if (rank >= ranks || thread >= kMaxThreads || clock > 1 || runs == 0 || runs > UINT32_MAX ||
        v.doubtful > units)
      return damaged("the head of a vector makes no sense");
    v.rank = static_cast<uint32_t>(rank);
    v.thread = static_cast<uint32_t>(thread);
    v.clock = static_cast<Clock>(clock);
    v.runs = static_cast<uint32_t>(runs);
    if (has_totals)
      if (auto good = totals(v); !good.ok()) return good;
    for (uint64_t first = 0; first < units; first += kBlockUnits)
      if (auto good = block(v, std::min(kBlockUnits, units - first)); !good.ok()) return good;
    return base::Done{};
  }

  base::Status totals(Vector& v) {
    const size_t begin = in_.position();
    const uint64_t count = in_.varint();
    if (!in_.ok() || (count != 0 && count != v.runs) || count > in_.remaining())
      return damaged("the totals of the runs make no sense");
    for (uint64_t i = 0; i < count; ++i) {
      v.totals_ns.push_back(in_.varint());
      if (!in_.ok() || v.totals_ns.back() > kMaxNs)
        return damaged("the total of a run is out of range");
    }
    const std::string_view summed = bytes_.substr(begin, in_.position() - begin);
    if (in_.u32() != checksum32(summed) || !in_.ok())
      return damaged("the checksum of the totals is wrong");
    return base::Done{};
  }

  base::Status block(Vector& v, uint64_t count) {
    const uint32_t raw_bytes = in_.u32(), stored_bytes = in_.u32();
    const uint32_t sum = in_.u32();
    constexpr uint64_t kMostBytes = 3 * 10;  // of a unit
    if (!in_.ok() || stored_bytes > in_.remaining() || stored_bytes > raw_bytes ||
        raw_bytes > count * kMostBytes || raw_bytes < count * 3)
      return damaged("the head of a block makes no sense");
    const std::string_view stored = in_.bytes(stored_bytes);
    if (checksum32(stored) != sum) return damaged("the checksum of a block is wrong");
    std::string raw(stored);
    if (stored_bytes < raw_bytes) {
      raw.assign(raw_bytes, '\0');
      const size_t n = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
      if (ZSTD_isError(n) != 0 || n != raw_bytes) return damaged("a block cannot be unpacked");
    }
    ByteReader in(raw);
    for (auto* column : {&v.least_ns, &v.median_ns, &v.spread_ns})
      if (!get_column(in, count, *column)) return damaged("a time is out of range");
    if (in.remaining() != 0) return damaged("a block has more than its units");
    return base::Done{};
  }

  std::string_view bytes_;
  ByteReader in_;
  std::string name_;
};

}  // namespace

std::string encode(const VectorFile& file) {
  ByteWriter out;
  out.put_bytes(kMagic, sizeof(kMagic));
  out.put_u8(kMajor);
  out.put_u8(kMinor);
  const bool has_totals = std::any_of(file.vectors.begin(), file.vectors.end(),
                                      [](const Vector& v) { return !v.totals_ns.empty(); });
  out.put_u16(has_totals ? kHasTotals : 0);
  out.put_u64(file.run);
  out.put_u32(file.ranks);
  out.put_u32(static_cast<uint32_t>(file.vectors.size()));
  out.put_u32(checksum32(out.view()));
  for (const Vector& v : file.vectors) put_vector(out, v, has_totals);
  return out.take();
}

base::Result<VectorFile> decode(std::string_view bytes, const std::string& name) {
  return Decoder(bytes, name).file();
}

base::Result<VectorFile> read_file(const std::string& path) {
  const auto bytes = base::read_regular_file(path, "computation vectors");
  if (!bytes.ok()) return bytes.error();
  return decode(*bytes, path);
}

void put(VectorFile& file, Vector vector) {
  const auto key = [](const Vector& x) { return std::pair(x.rank, x.thread); };
  const auto at =
      std::lower_bound(file.vectors.begin(), file.vectors.end(), vector,
                       [&](const Vector& a, const Vector& b) { return key(a) < key(b); });
  if (at != file.vectors.end() && key(*at) == key(vector))
    *at = std::move(vector);
  else
    file.vectors.insert(at, std::move(vector));
}

}  // namespace refrain::format::vectors
