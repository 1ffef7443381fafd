// Writes what fuzzing begins with: fuzz_seeds FOLDER makes FOLDER/<target>/ for each target. The
// corpus that is committed came of these and of what libFuzzer found from there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/encode/time_index.h"
#include "format/live/decode/block_reader.h"
#include "format/live/encode/stream_writer.h"
#include "format/merge/merge.h"
#include "format/messages/encode/log_writer.h"
#include "format/spool/layout.h"
#include "format/spool/matched.h"
#include "format/testing/patterns.h"
#include "format/testing/table_records.h"
#include "format/time/block_encoder.h"
#include "format/time/segment_encoder.h"
#include "grammar/builder.h"
#include "grammar/terminal_cursor.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

namespace fs = std::filesystem;
using format::RankRecord;

fs::path g_folder;

void put(const std::string& target, const std::string& name, const std::string& bytes) {
  fs::create_directories(g_folder / target);
  std::ofstream(g_folder / target / name, std::ios::binary) << bytes;
}

std::string sections_of(const format::TraceData& trace) {
  format::Encoding encoding(trace);
  std::string out(1, '\0');
  for (const format::SectionWriter& w : format::kSectionWriters) {
    base::ByteWriter raw;
    w.write(encoding, raw);
    if (raw.size() > 0) out += as_section(static_cast<uint32_t>(w.type), raw.view());
  }
  // The state in the header: complete or not, with losses or without, and features.
  const int features =
      format::kFeatureCompact | (trace.clusters.empty() ? 0 : format::kFeatureClusters);
  out[0] = static_cast<char>((trace.meta.complete ? 1 : 0) | (trace.losses.empty() ? 0 : 2) |
                             features * 4);
  return out;
}

// One rank stands for all that have as many calls.
void add_clusters(format::TraceData& trace) {
  for (const format::Group& group : trace.groups) {
    format::Cluster one;
    one.lead = static_cast<uint64_t>(group.ranks.at(0));
    one.members = group.ranks;
    trace.clusters.clusters.push_back(std::move(one));
  }
  std::sort(trace.clusters.clusters.begin(), trace.clusters.clusters.end(),
            [](const auto& a, const auto& b) { return a.lead < b.lead; });
  trace.losses.push_back(format::LossRecord{std::string(format::kStoodForLoss), 17, -1, ""});
}

void traces() {
  for (const format::testing::Pattern& pattern : format::testing::patterns()) {
    std::vector<int64_t> dims(pattern.dimensions, 2);
    dims[0] = 3;
    std::vector<RankRecord> ranks;
    for (uint64_t r = 0; r < format::testing::rank_count(dims); ++r)
      ranks.push_back(pattern.program(r, dims, 3));
    format::TraceData trace = format::testing::merge_all(ranks);
    const auto bytes = format::encode(trace);
    if (bytes.ok()) put("decode", pattern.name + ".rfn", *bytes);
    for (const char* target : {"decode", "verbs"}) put(target, pattern.name, sections_of(trace));
    trace.losses.push_back(format::LossRecord{"left_out", 17, 1, "MPI_Send"});
    put("verbs", pattern.name + ".lossy", sections_of(trace));
    format::TraceData clustered = trace;
    add_clusters(clustered);
    for (const char* target : {"decode", "verbs"})
      put(target, pattern.name + ".clusters", sections_of(clustered));
    for (const bool both : {false, true}) {
      auto part = format::leaf(ranks[0], ranks.size());
      if (both) part = format::merge(std::move(*part), *format::leaf(ranks[1], ranks.size()));
      put("partial", pattern.name + (both ? ".2" : ".1"), format::serialise(*part));
    }
    for (RankRecord& r : ranks) r.gaps = r.durations;
    trace = format::testing::merge_all(ranks);
    for (const char* target : {"decode", "verbs"})
      put(target, pattern.name + ".gaps", sections_of(trace));
    put("partial", pattern.name + ".gaps",
        format::serialise(*format::leaf(ranks[0], ranks.size())));
    for (RankRecord& r : ranks) {
      r.gaps.clear();
      r.knows_cost = r.rank != 2;
      r.cost = {100'000 + r.rank * 3'000, 2'000'000 + r.rank % 3 * 70'000};
    }
    trace = format::testing::merge_all(ranks);
    const auto with_cost = format::encode(trace);
    if (with_cost.ok()) put("decode", pattern.name + ".cost.rfn", *with_cost);
    for (const char* target : {"decode", "verbs"})
      put(target, pattern.name + ".cost", sections_of(trace));
    put("partial", pattern.name + ".cost",
        format::serialise(*format::leaf(ranks[0], ranks.size())));
  }
}

std::string chunk(uint32_t type, uint32_t owner, uint32_t generation, uint32_t position,
                  std::string_view bytes) {
  base::ByteWriter out;
  for (const uint32_t v : {type, owner, generation, 2 * position})
    out.put_u8(static_cast<uint8_t>(v));
  out.put_u16(static_cast<uint16_t>(bytes.size()));
  out.put_bytes(bytes.data(), bytes.size());
  return out.take();
}

std::string tables_of(const RankRecord& record) {
  std::string out;
  for (const format::Definition& d : record.definitions) {
    base::ByteWriter w;
    w.put_u8(static_cast<uint8_t>(d.kind));
    w.put_varint(d.refs.size());
    for (const uint32_t ref : d.refs) w.put_varint(ref);
    w.put_bytes(d.payload.data(), d.payload.size());
    out += as_section(6, w.view());
  }
  for (size_t i = 0; i < record.signatures.size(); ++i)
    out += as_section(7, std::string(record.signatures[i]));
  base::ByteWriter loss;
  loss.put_string("left_by_jump");
  loss.put_varint(1);
  loss.put_string("");
  return out + as_section(9, loss.view());
}

void spools() {
  using format::spool::ChunkType;
  for (const format::testing::Pattern& pattern : format::testing::patterns()) {
    std::vector<int64_t> dims(pattern.dimensions, 2);
    const RankRecord record = pattern.program(0, dims, 3);
    std::string out("\x03\x00\x00", 3);
    out += tables_of(record);
    const format::spool::LocationState state{12, 0, 1000};
    out += chunk(static_cast<uint32_t>(ChunkType::kLocation), 0, 0, 0,
                 {reinterpret_cast<const char*>(&state), sizeof state});
    std::string words;
    for (uint64_t i = 0; i < 2 * record.signatures.size(); ++i) {
      const uint64_t word = (100 + i) << 32 | (i % record.signatures.size() + 1);
      words.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    put("spool", pattern.name + ".log",
        out + chunk(static_cast<uint32_t>(ChunkType::kLog), 0, 0, 0, words));
    std::string with_gaps;
    for (size_t i = 0; i < words.size(); i += sizeof(uint64_t)) {
      const uint64_t gap = (50 + i) << 32 | format::spool::kGap;
      with_gaps.append(reinterpret_cast<const char*>(&gap), sizeof gap);
      with_gaps.append(words, i, sizeof(uint64_t));
    }
    base::ByteWriter says_so;
    says_so.put_string("gaps");
    says_so.put_string("on");
    put("spool", pattern.name + ".gaps",
        out + as_section(8, says_so.view()) +
            chunk(static_cast<uint32_t>(ChunkType::kLog), 0, 0, 0, with_gaps));
    grammar::Builder builder;
    for (uint32_t i = 0; i < 100; ++i)
      builder.append(i % static_cast<uint32_t>(record.signatures.size()));
    base::ByteWriter base;
    base.put_varint(0), base.put_varint(0);
    grammar::write(builder.finish(), base);
    out += chunk(static_cast<uint32_t>(ChunkType::kBase), 0, 1, 100, base.view());
    put("spool", pattern.name + ".base",
        out + chunk(static_cast<uint32_t>(ChunkType::kLog), 0, 0, 100, words));
  }
}

// Streams of ranks; and the same without blocks, whose checksums hide what is in them.
void streams() {
  for (const format::testing::Pattern& pattern : format::testing::patterns()) {
    std::vector<int64_t> dims(pattern.dimensions, 2);
    const RankRecord record = pattern.program(0, dims, 3);
    format::live::StreamWriter out(1);
    format::live::Hello hello;
    hello.header.world_size = 4;
    out.hello(hello);
    for (const std::string& r : format::testing::table_records(record)) out.table(r);
    std::vector<uint32_t> calls;
    for (grammar::TerminalCursor c(record.threads[0].grammar); !c.at_end();)
      calls.push_back(c.next());
    const size_t half = calls.size() / 2;
    out.calls(0, std::span(calls).first(half));
    out.statistics(format::live::Statistic::kDurations, record.durations);
    std::string bytes = out.take();
    out.part(0);
    out.calls(0, std::span(calls).subspan(half));
    out.snapshot(0, calls.size(), record.threads[0].grammar);
    format::live::State state;
    state.threads.push_back({0, calls.size(), 0, 12, 13, 1000});
    out.state(state);
    out.end(format::live::EndReason::kFinished);
    bytes += out.take();
    put("live", pattern.name + ".stream", bytes);
    std::string records(2, '\0');
    const auto add = [&records](uint8_t kind, std::string_view b) {
      // The hello stands before them already.
      if (kind != static_cast<uint8_t>(format::live::StreamRecord::kHello))
        records += static_cast<char>(kind) + as_section(0, b).substr(1);
      return base::Status(base::Done{});
    };
    format::live::BlockReader blocks;
    if (blocks.feed(bytes, add).ok()) put("live", pattern.name + ".records", records);
  }
}

void grammars() {
  std::mt19937_64 random(1);
  for (uint32_t kind = 0; kind < 12; ++kind) {
    grammar::Builder builder;
    std::string sequence(1, '\1');
    for (uint32_t i = 0; i < 200; ++i) {
      const uint32_t loop = 1 + kind * 3;
      const auto t = static_cast<uint32_t>(kind < 8 ? i % loop : random() % loop);
      builder.append(t);
      sequence += static_cast<char>(t);
      if (kind % 4 == 3 && i % 50 == 49) sequence += static_cast<char>(200 + i % 50);
    }
    base::ByteWriter out;
    out.put_u8(0);
    grammar::write(builder.finish(), out);
    put("grammar", "grammar" + std::to_string(kind), out.take());
    put("grammar", "sequence" + std::to_string(kind), sequence);
  }
}

// What times_fuzz.cc expects: which kind, and calls and terminals, or the length of the blocks.
void times() {
  std::mt19937_64 random(3);
  for (const char* text : {"exact", "bins:0.2"}) {
    const format::TimeSpec spec = format::TimeSpec::parse(text).value();
    for (int i = 0; i < 6; ++i) {
      const size_t count = size_t{1} + random() % 60, terminals = size_t{1} + random() % 9;
      std::vector<format::TimedCall> calls;
      uint64_t now = 1000;
      for (size_t c = 0; c < count; ++c) {
        const uint64_t begin = now + (c == 0 ? 0 : random() % 400);
        now = begin + random() % 900;
        calls.push_back({static_cast<uint32_t>(c * c % terminals), begin, now});
      }
      calls.back().end_ns = 100'000;
      format::TimeData data;
      data.index.spec = spec;
      format::BlockEncoder encoder(spec);
      data.index.chunks.push_back({0, 0, {encoder.encode(calls, data.bytes)}});
      const std::string name = std::to_string(i) + (spec.bound == 0 ? "exact" : "bins");
      put("times", "block" + name,
          std::string{static_cast<char>(spec.bound == 0 ? 1 : 2), static_cast<char>(count - 1),
                      static_cast<char>(terminals - 1)} +
              data.bytes);
      if (i % 2 == 0) data.index.clocks = {{{0, 5}, {900, 1000}}, {}, {{7, -3}}, {}};
      std::string index = format::write_time_index(data.index);
      index.resize(index.size() - 8);
      put("times", "index" + name,
          std::string{'\0', static_cast<char>(data.bytes.size() >> 8),
                      static_cast<char>(data.bytes.size())} +
              index);
    }
  }
}

// Of the representatives that times_fuzz.cc has, and others.
void segments() {
  const std::vector<format::Representative> known = {{0, format::kNoElastic, {100, 200, 300, 400}},
                                                     {0, 1, {0, 500}},
                                                     {1, 2, {0, 10, -90, 2000, 2000, 2100}}};
  std::mt19937_64 random(4);
  for (int i = 0; i < 6; ++i) {
    format::TimeChunk chunk;
    std::string bytes;
    format::SegmentEncoder encoder(known);
    encoder.begin(1000);
    uint64_t left = 99'000;
    const uint64_t count = 1 + random() % 40;
    for (uint64_t s = 0; s < count; ++s) {
      const auto id = static_cast<uint32_t>(random() % known.size());
      const uint64_t length =
          s + 1 == count ? left : std::min<uint64_t>(left, known[id].stamps.back() + random() % 90);
      encoder.segment(id, length, chunk, bytes);
      left -= length;
    }
    encoder.finish(chunk, bytes);
    const std::string name = std::to_string(i) + "segments";
    put("times", "block" + name,
        std::string{3, static_cast<char>(chunk.blocks[0].calls - 1), 0} + bytes);
    std::vector<format::Representative> some;
    for (uint64_t r = 1 + random() % 9; r > 0; --r) some.push_back(known[random() % known.size()]);
    const std::string all = format::encode_representatives(some).value();
    put("times", "representatives" + std::to_string(i),
        std::string{4, static_cast<char>(some.size()), 0} + all);
    format::TimeIndex index;
    index.spec.mode = format::TimeMode::kSegments;
    index.spec.method = "auto:0.1";
    index.chunks = {chunk};
    index.segments.contexts = {"main_0", "main_loop_1"};
    index.segments.segments = count;
    index.segments.threshold = 0.1;
    index.segments.representatives = some.size();
    index.segments.bytes = all.size();
    std::string text = format::write_time_index(index);
    text.resize(text.size() - 8);
    const size_t size = bytes.size() + all.size();
    put("times", "index" + name,
        std::string{'\0', static_cast<char>(size >> 8), static_cast<char>(size)} + text);
  }
}

// As times_fuzz.cc takes them.
void matched() {
  std::mt19937_64 random(5);
  for (int i = 0; i < 6; ++i) {
    format::spool::MatchedWriter writer;
    base::ByteWriter out;
    out.put_u8(250);
    std::vector<std::vector<double>> first;
    int64_t start = 1000;
    for (int block = 0; block < 3; ++block) {
      while (writer.calls() < 20) {
        const bool is_new = first.empty() || random() % 3 == 0;
        const auto id = static_cast<uint32_t>(is_new ? first.size() : random() % first.size());
        std::vector<double> stamps;
        double end = 0;
        for (size_t c = is_new ? 1 + random() % 5 : first[id].size() / 2; c > 0; --c) {
          stamps.push_back(end + static_cast<double>(random() % 300));
          stamps.push_back(end = stamps.back() + static_cast<double>(random() % 900));
        }
        stamps.push_back(end);
        writer.segment(id, is_new, {0, 0, start, stamps});
        start += static_cast<int64_t>(end);
        if (is_new) first.push_back(std::move(stamps));
      }
      std::string bytes;
      const format::TimeBlock b = writer.take(bytes);
      out.put_u8(static_cast<uint8_t>(b.calls - 1));
      for (const uint64_t ns : {b.begin_ns, b.end_ns}) {
        out.put_u8(255);
        out.put_u64(ns);
      }
      out.put_u16(static_cast<uint16_t>(bytes.size()));
      out.put_bytes(bytes.data(), bytes.size());
    }
    put("times", "matched" + std::to_string(i), out.take());
  }
}

class LogBytes : public format::messages::LogSink {
 public:
  int write(std::span<const std::byte> more, size_t) override {
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
    return 0;
  }
  std::string bytes;
};

// A record of each kind, in small blocks and in one.
void message_logs() {
  using namespace format::messages;
  for (const bool in_blocks : {false, true}) {
    LogBytes sink;
    LogWriter log(sink);
    Header header;
    header.ranks = 8;
    header.group = {{0, 2}, {4, 1}};
    header.mpi = "mpich 4.0.2";
    log.start(header);
    const auto next = [&] {
      if (in_blocks) log.flush();
    };
    const std::string bytes(40, 'x');
    const auto put_bytes = [&] { log.put(std::as_bytes(std::span(bytes))), next(); };
    log.contents(0, 3, 1, bytes.size()), put_bytes();
    log.status(0, 3, 1, {40, 15, true, true}), next();
    log.inside(1, 90, 0, 1000), next();
    log.part(1, 91, 2, 4, 2, bytes.size()), put_bytes();
    log.fetched(0, 7, 1, 90, bytes.size()), put_bytes();
    log.wtime(0, 7, 1e9), log.wtime(0, 7, 1e9 + 1e-5), next();
    log.window(0, 8, 1, 2, 64, bytes.size()), put_bytes();
    log.missing(0, 9, 0, Missing::kLayout, 5), next();
    log.noted(0, 9, Noted::kFreedActive, 3), next();
    log.turn(12, 2);
    log.end(EndReason::kFinished, {5, 1160, 160, 160, 0});
    put("messages", in_blocks ? "blocks" : "log", sink.bytes);
  }
}

void programs() {
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    std::string bytes;
    for (uint64_t n = 20 + random() % 200; n > 0; --n) bytes += static_cast<char>(random());
    put("round_trip", "random" + std::to_string(i), bytes);
  }
}

}  // namespace
}  // namespace refrain::fuzz

int main(int argc, char** argv) {
  using namespace refrain::fuzz;
  if (argc != 2) return 2;
  g_folder = argv[1];
  traces();
  spools();
  streams();
  grammars();
  programs();
  message_logs();
  times();
  segments();
  matched();
  return 0;
}
