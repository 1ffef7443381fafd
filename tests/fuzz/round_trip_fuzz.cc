// Any bytes as a program of a few ranks: what its ranks record goes through leaf, serialise, parse,
// merge, finish, encode and decode, and comes out call by call and parameter by parameter.
#include <algorithm>
#include <map>
#include <vector>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "format/testing/synthetic.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

using format::testing::Sig;
using format::testing::SyntheticRank;

constexpr size_t kMaxFields = 6, kMaxCalls = 250;

// A number as a function of the rank.
struct Value {
  uint32_t form = 0;
  int64_t a = 0, b = 0;
  std::string table;

  int64_t of(uint64_t rank, uint64_t ranks) const {
    const auto me = rank;
    switch (form) {
      case 0: return a;
      case 1: return static_cast<int64_t>(me + static_cast<uint64_t>(a));
      case 2: return static_cast<int64_t>((me + static_cast<uint64_t>(a & 0xff)) % ranks);
      case 3: return static_cast<int64_t>(me ^ static_cast<uint64_t>(a));
      case 4: return static_cast<int64_t>(static_cast<uint64_t>(a) + me * static_cast<uint64_t>(b));
      case 5:
        return static_cast<int64_t>(me % static_cast<uint64_t>(1 + (a & 7)) *
                                    static_cast<uint64_t>(b));
      default: return me < table.size() ? static_cast<int64_t>(table[me]) : a;
    }
  }
};

struct Field {
  uint32_t kind = 0;
  Value value;
  uint32_t extra = 0;
  std::string text;
};

struct Template {
  uint32_t call = 1;
  int64_t site = 0;
  uint8_t ranks = 0;  // bit r % 8: rank r does not make it
  std::vector<Field> fields;
};

struct Program {
  uint64_t ranks = 1;
  std::vector<Template> templates;
  std::vector<uint32_t> calls;
};

Value read_value(Input& in, uint64_t ranks) {
  Value v;
  v.form = in.below(7);
  v.a = in.number();
  if (v.form >= 4) v.b = in.number();
  if (v.form == 6) v.table = in.bytes(ranks);
  return v;
}

Program read_program(std::string_view bytes) {
  Input in(bytes);
  Program p;
  p.ranks = 1 + in.below(9);
  const uint32_t templates = 1 + in.below(8);
  for (uint32_t t = 0; t < templates; ++t) {
    Template one;
    one.call = 1 + in.u8();
    one.site = in.u8();
    one.ranks = in.u8();
    const uint32_t fields = in.below(kMaxFields);
    for (uint32_t f = 0; f < fields; ++f) {
      Field field;
      field.kind = in.below(10);
      field.value = read_value(in, p.ranks);
      field.extra = in.u8();
      if (field.kind == 9) field.text = in.bytes(field.extra % 16);
      one.fields.push_back(std::move(field));
    }
    p.templates.push_back(std::move(one));
  }
  while (!in.at_end() && p.calls.size() < kMaxCalls) {
    const uint8_t b = in.u8();
    const size_t again = b / 16;  // times the last few calls
    p.calls.push_back(b % templates);
    for (size_t i = 0, n = std::min<size_t>(p.calls.size(), 5); again > 4 && i < n * (again - 4);
         ++i)
      p.calls.push_back(p.calls[p.calls.size() - n]);
  }
  return p;
}

void add_field(const Field& f, const Program& p, SyntheticRank& rank,
               const std::vector<uint32_t>& made, Sig& sig) {
  const int64_t v = f.value.of(rank.rank(), p.ranks);
  switch (f.kind) {
    case 0: sig.integer(v); break;
    case 1: sig.object(f.extra % 2 == 0 ? rank.world() : rank.datatype("MPI_INT", 4)); break;
    case 2: sig.none(); break;
    case 3: made.empty() ? sig.none() : sig.request(made[f.extra % made.size()]); break;
    case 4: sig.new_request(f.extra % 4); break;
    case 5: sig.buffer(static_cast<format::BufferClass>(f.extra % 7), v, v / 3, f.extra % 2); break;
    case 6:
    case 7: {
      std::vector<int64_t> values;
      for (uint32_t i = 0; i < f.extra % 12; ++i)
        values.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(v % 100000) + i * (f.extra / 64)));
      f.kind == 6 ? sig.ints(values) : sig.int_runs(values);
      break;
    }
    case 8: sig.status(v, f.extra); break;
    default: sig.text(f.text); break;
  }
}

format::RankRecord run(const Program& p, uint64_t r) {
  SyntheticRank rank(r, p.ranks);
  std::vector<uint32_t> made;  // terminals, in the order of their first use
  for (const uint32_t t : p.calls) {
    const Template& one = p.templates[t];
    if ((one.ranks >> (r % 8) & 1) != 0) continue;
    Sig sig(one.call, rank.site(one.site));
    // What a field may refer to must not change between two calls of one signature.
    const std::vector<uint32_t> earlier(
        made.begin(), made.begin() + std::min<long>(1, static_cast<long>(made.size())));
    for (const Field& f : one.fields) add_field(f, p, rank, earlier, sig);
    const uint32_t terminal = rank.call(sig);
    if (std::find(made.begin(), made.end(), terminal) == made.end()) made.push_back(terminal);
  }
  return rank.finish();
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain;
  using fuzz::require;
  const fuzz::Program program = fuzz::read_program(fuzz::view_of(data, size));
  std::vector<format::RankRecord> records;
  for (uint64_t r = 0; r < program.ranks; ++r) records.push_back(fuzz::run(program, r));
  std::vector<format::PartialTrace> parts;
  for (const format::RankRecord& record : records) {
    auto leaf = format::leaf(record, program.ranks);
    require(leaf.ok(), "a rank's record is one");
    parts.push_back(std::move(*leaf));
  }
  for (size_t step = 1; step < parts.size(); step *= 2) {
    for (size_t i = 0; i + step < parts.size(); i += 2 * step) {
      auto right = format::parse(format::serialise(parts[i + step]));
      require(right.ok(), "what is sent can be received");
      auto both = format::merge(std::move(parts[i]), std::move(*right));
      require(both.ok(), "and merged");
      parts[i] = std::move(*both);
    }
  }
  const auto trace = format::finish(std::move(parts[0]));
  require(trace.ok(), "and finished");
  const auto bytes = format::encode(*trace);
  require(bytes.ok(), "and written");
  const auto decoded = format::decode(*bytes, "fuzz");
  require(decoded.ok(), "and read");
  require(format::check(*bytes).empty(), "and it keeps every rule");
  for (const format::RankRecord& record : records) {
    const std::string wrong = format::testing::difference(*decoded, record);
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
    require(wrong.empty(), "every rank's calls come back");
  }
  const auto again = format::encode(*decoded);
  require(again.ok() && format::decode(*again, "fuzz").ok(), "and again");
  return 0;
}
