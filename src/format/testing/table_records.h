// The tables of a rank as records of a spool file or of a stream. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/spool/layout.h"
#include "format/trace_data.h"

namespace refrain::format::testing {

inline std::string table_record(spool::RecordKind kind, std::string_view bytes) {
  return std::string(1, static_cast<char>(kind)) + std::string(bytes);
}

inline std::string definition_record(const Definition& d) {
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(d.kind));
  out.put_varint(d.refs.size());
  for (const uint32_t r : d.refs) out.put_varint(r);
  out.put_bytes(d.payload.data(), d.payload.size());
  return table_record(spool::RecordKind::kDefinition, out.view());
}

inline std::string text_record(std::string_view key, std::string_view value) {
  base::ByteWriter out;
  out.put_string(key);
  out.put_string(value);
  return table_record(spool::RecordKind::kText, out.view());
}

// Definitions, signatures and texts, in an order that a recorder may write them in.
inline std::vector<std::string> table_records(const RankRecord& r) {
  std::vector<std::string> all;
  for (const Definition& d : r.definitions) all.push_back(definition_record(d));
  for (size_t i = 0; i < r.signatures.size(); ++i)
    all.push_back(table_record(spool::RecordKind::kSignature, r.signatures[i]));
  for (const auto& [key, value] : r.text) all.push_back(text_record(key, value));
  return all;
}

}  // namespace refrain::format::testing
