// Synthetic spool files for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/merge/duration_bytes.h"
#include "format/spool/layout.h"
#include "grammar/builder.h"

namespace refrain::format::testing {

class SpoolBytes {
 public:
  SpoolBytes(uint64_t rank, uint64_t world_size) {
    header_.world_size = static_cast<uint32_t>(world_size);
    header_.rank = static_cast<int32_t>(rank);
    header_.pid = 1000 + static_cast<int32_t>(rank);
    std::strcpy(header_.host, "node");
    header_.opened_realtime_ns = 1000000;
    header_.opened_ticks = header_.init_ticks = 100;
    header_.ns_per_tick = 2.0;
  }
  spool::Header& header() { return header_; }

  SpoolBytes& record(spool::RecordKind kind, std::string_view bytes) {
    std::string all(1, static_cast<char>(kind));
    all += bytes;
    const spool::Record r{static_cast<uint32_t>(all.size()), checksum32(all)};
    tables_.append(reinterpret_cast<const char*>(&r), sizeof r);
    tables_ += all;
    tables_.resize(spool::padded(tables_.size()));
    return *this;
  }
  SpoolBytes& signature(std::string_view bytes) {
    return record(spool::RecordKind::kSignature, bytes);
  }
  SpoolBytes& definitions(const std::vector<Definition>& all) {
    for (const Definition& d : all) {
      base::ByteWriter out;
      out.put_u8(static_cast<uint8_t>(d.kind));
      out.put_varint(d.refs.size());
      for (const uint32_t r : d.refs) out.put_varint(r);
      out.put_bytes(d.payload.data(), d.payload.size());
      record(spool::RecordKind::kDefinition, out.view());
    }
    return *this;
  }
  SpoolBytes& location(uint32_t thread, const spool::LocationState& state) {
    return chunk(spool::ChunkType::kLocation, thread, 0, 0,
                 {reinterpret_cast<const char*>(&state), sizeof state});
  }
  // Words of terminal and ticks, with the gap before them.
  struct GapCall {
    uint32_t terminal = 0;
    uint64_t ticks = 0, gap = 0;
  };
  SpoolBytes& log_with_gaps(uint32_t thread, uint64_t position, const std::vector<GapCall>& calls) {
    std::string bytes;
    const auto put = [&](uint64_t w) { bytes.append(reinterpret_cast<const char*>(&w), sizeof w); };
    for (const GapCall& c : calls) {
      if (c.gap >> 32 != 0) put(c.gap >> 32 << 32 | spool::kLongGap);
      put(c.gap << 32 | spool::kGap);
      if (c.ticks >> 32 != 0) put(c.ticks >> 32 << 32 | spool::kLongCall);
      put(c.ticks << 32 | (c.terminal + 1));
    }
    return chunk(spool::ChunkType::kLog, thread, 0, position, bytes);
  }
  // Words of terminal and ticks.
  SpoolBytes& log(uint32_t thread, uint64_t position,
                  const std::vector<std::pair<uint32_t, uint64_t>>& calls,
                  uint32_t first_terminal = 0) {
    std::string bytes;
    const auto put = [&](uint64_t w) { bytes.append(reinterpret_cast<const char*>(&w), sizeof w); };
    for (const auto& [terminal, ticks] : calls) {
      if (ticks >> 32 != 0) put(ticks >> 32 << 32 | spool::kLongCall);
      put(ticks << 32 | (terminal + 1));
    }
    chunk(spool::ChunkType::kLog, thread, 0, position, bytes);
    chunks_.back().first_terminal = first_terminal;
    return *this;
  }
  SpoolBytes& base(uint32_t thread, uint64_t generation, const std::vector<uint32_t>& calls,
                   uint64_t first = 0, uint32_t first_terminal = 0) {
    grammar::Builder builder;
    for (const uint32_t c : calls) builder.append(c);
    base::ByteWriter out;
    out.put_varint(first);
    out.put_varint(first_terminal);
    grammar::write(builder.finish(), out);
    return chunk(spool::ChunkType::kBase, thread, generation, first + calls.size(), out.view());
  }
  SpoolBytes& stats(uint64_t generation, uint64_t calls, const std::vector<DurationStats>& all,
                    const std::vector<DurationStats>& gaps = {}) {
    base::ByteWriter out;
    for (const uint64_t v : {calls, uint64_t{0}, uint64_t{70}, uint64_t{30}, uint64_t{150}})
      out.put_varint(v);
    // First calls: none apart.
    out.put_varint(0), out.put_varint(0);
    out.put_varint(0), out.put_varint(all.size());
    for (const DurationStats& d : all) put(out, d);
    out.put_varint(0), out.put_varint(gaps.size());
    for (const DurationStats& d : gaps) put(out, d);
    return chunk(spool::ChunkType::kStats, 0, generation, 0, out.view());
  }
  SpoolBytes& chunk(spool::ChunkType type, uint32_t owner, uint64_t generation, uint64_t position,
                    std::string_view bytes) {
    chunks_.push_back({type, owner, generation, position, std::string(bytes), 0});
    return *this;
  }

  std::string bytes() const {
    spool::Header h = header_;
    h.check = spool::check_of(h);
    std::string file(reinterpret_cast<const char*>(&h), sizeof h);
    file.resize(spool::kPageBytes);
    append(file, {spool::ChunkType::kTables, 0, 0, 0, tables_, 0});
    for (const Content& c : chunks_) append(file, c);
    return file;
  }

  // Makes all checksums right again, so that damage gets past them.
  static void reseal(std::string& file) {
    auto* const h = reinterpret_cast<spool::Header*>(file.data());
    h->magic = spool::kMagic;
    h->check = spool::check_of(*h);
    for (uint64_t at = spool::kPageBytes; at + spool::kPageBytes <= file.size();) {
      auto* const c = reinterpret_cast<spool::Chunk*>(file.data() + at);
      c->check = spool::check_of(*c);
      const uint64_t room = file.size() - at - sizeof *c;
      if (c->used <= room) c->checksum = checksum32({file.data() + at + sizeof *c, c->used});
      if (c->type == spool::ChunkType::kTables) reseal_records(file, at + sizeof *c, c->used);
      at += c->bytes > 0 && c->bytes <= file.size() - at && c->bytes % spool::kPageBytes == 0
                ? c->bytes
                : spool::kPageBytes;
    }
  }

 private:
  struct Content {
    spool::ChunkType type{};
    uint32_t owner = 0;
    uint64_t generation = 0, position = 0;
    std::string bytes;
    uint32_t first_terminal = 0;
  };

  static void append(std::string& file, const Content& content) {
    spool::Chunk c;
    c.type = content.type;
    c.owner = content.owner;
    c.offset = file.size();
    c.bytes = (sizeof c + content.bytes.size() + spool::kPageBytes) / spool::kPageBytes *
              spool::kPageBytes;
    c.check = spool::check_of(c);
    c.generation = content.generation;
    c.position = content.position;
    c.used = content.bytes.size();
    c.checksum = checksum32(content.bytes);
    c.first_terminal = content.first_terminal;
    const size_t begin = file.size();
    file.append(reinterpret_cast<const char*>(&c), sizeof c);
    file += content.bytes;
    file.resize(begin + c.bytes);
  }

  static void reseal_records(std::string& file, uint64_t at, uint64_t used) {
    const uint64_t end = used <= file.size() - at ? at + used : file.size();
    while (at + sizeof(spool::Record) <= end) {
      auto* const r = reinterpret_cast<spool::Record*>(file.data() + at);
      at += sizeof *r;
      if (r->bytes > end - at) return;
      r->check = checksum32({file.data() + at, r->bytes});
      at += spool::padded(r->bytes);
    }
  }

  spool::Header header_;
  std::string tables_;
  std::vector<Content> chunks_;
};

}  // namespace refrain::format::testing
