#include "report/page/columns.h"

#include <zlib.h>

#include "base/bytes.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;

void Columns::put(std::string name, std::vector<int64_t> values) {
  base::ByteWriter plain, delta;
  int64_t before = 0;
  for (const int64_t v : values) {
    plain.put_zigzag(v);
    delta.put_zigzag(
        static_cast<int64_t>(static_cast<uint64_t>(v) - static_cast<uint64_t>(before)));
    before = v;
  }
  std::string bytes = plain.take(), other = delta.take();
  const bool is_plain = bytes.size() <= other.size();
  if (!is_plain) bytes.swap(other);
  directory_[name] = {{"kind", is_plain ? "plain" : "delta"},
                      {"count", values.size()},
                      {"from", bytes_.size()},
                      {"bytes", bytes.size()}};
  bytes_ += bytes;
  numbers_.emplace_back(std::move(name), std::move(values));
}

void Columns::put_bytes(std::string name, std::string bytes) {
  directory_[name] = {
      {"kind", "bytes"}, {"count", bytes.size()}, {"from", bytes_.size()}, {"bytes", bytes.size()}};
  bytes_ += bytes;
  raw_.emplace_back(std::move(name), std::move(bytes));
}

const std::vector<int64_t>& Columns::numbers(std::string_view name) const {
  static const std::vector<int64_t> kNone;
  for (const auto& [known, values] : numbers_)
    if (known == name) return values;
  return kNone;
}

const std::string& Columns::raw(std::string_view name) const {
  static const std::string kNone;
  for (const auto& [known, bytes] : raw_)
    if (known == name) return bytes;
  return kNone;
}

Json Columns::lists() const {
  Json out = Json::object();
  for (const auto& [name, values] : numbers_) out[name] = values;
  for (const auto& [name, bytes] : raw_) {
    Json& list = out[name] = Json::array();
    for (const char c : bytes) list.push_back(static_cast<uint8_t>(c));
  }
  return out;
}

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  constexpr int kRaw = -15, kMemory = 9;  // no header; a window of 32 KiB
  if (deflateInit2(&stream, 6, Z_DEFLATED, kRaw, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  // zlib's interface has no const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(status == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  const auto byte = [&](size_t i) -> uint32_t {
    return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0;
  };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return out;
}

}  // namespace refrain::report
