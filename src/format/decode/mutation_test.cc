// Damaged and hostile files: one error each, never a crash. Run under sanitizers too.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "format/codes/checksum.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/signatures/slot_evaluator.h"
#include "format/testing/patterns.h"
#include "format/testing/sections.h"
#include "format/testing/synthetic.h"
#include "grammar/builder.h"

namespace refrain::format {
namespace {

using testing::sections_of;
using testing::wrap;

TraceData small_trace(bool periodic = true) {
  std::vector<RankRecord> ranks;
  for (uint64_t r = 0; r < 9; ++r) {
    ranks.push_back(testing::halo_2d(r, 3, 3, periodic, 20));
    // A value that no expression explains, so that there is a table.
    ranks.back().signatures.push_back(
        testing::Sig(7, 1).integer(static_cast<int64_t>(r * r * r % 7)).bytes());
    ranks.back().durations.emplace_back();
  }
  TraceData trace = testing::merge_all(ranks);
  trace.losses.push_back(LossRecord{"spool_full", 17, 3, "no space left"});
  trace.gaps = trace.durations;
  return trace;
}

// Families of communicators, datatypes and signatures, integer arrays, lists in all places, and a
// sequence without rules.
TraceData rich_trace() {
  std::vector<RankRecord> ranks;
  std::mt19937_64 random(2);
  for (uint64_t r = 0; r < 24; ++r) {
    const std::vector<int64_t> dims = {4, 6};
    ranks.push_back(
        testing::pattern(r < 16 ? "rows and columns" : "all-to-all-v").program(r, dims, 5));
    if (r == 23) {
      grammar::Builder builder;
      for (int i = 0; i < 400; ++i) builder.append(static_cast<uint32_t>(random() % 7));
      ranks.back().threads[0].grammar = builder.finish();
    }
  }
  TraceData trace = testing::merge_all(ranks);
  trace.losses.push_back(LossRecord{"spool_full", 17, 3, "no space left"});
  trace.gaps = trace.durations;
  return trace;
}

// Whatever decode() returns must be safe to use.
void use(const TraceData& trace) {
  SlotEvaluator evaluator(trace);
  for (const Group& g : trace.groups) {
    for (const uint32_t s : g.signatures) {
      const auto& values = evaluator.values(s, {static_cast<uint64_t>(g.ranks.at(0)), 0});
      ASSERT_TRUE(parse_fields(trace.signatures[s].shape, values).has_value());
    }
  }
}

TEST(Mutation, PlainSectionsAreAFileToo) {
  const auto trace = decode(wrap(sections_of(small_trace())), "t.rfn");
  ASSERT_TRUE(trace.ok()) << trace.error().to_string();
  use(*trace);
}

TEST(Mutation, EveryTruncationSaysSo) {
  const std::string good = *encode(small_trace());
  for (size_t n = 0; n < good.size(); ++n) {
    const auto trace = decode(good.substr(0, n), "t.rfn");
    ASSERT_FALSE(trace.ok()) << n;
    EXPECT_EQ(trace.error().place.substr(0, 12), "t.rfn, byte ") << trace.error().place;
  }
  const auto longer = decode(good + "x", "t.rfn");
  EXPECT_FALSE(longer.ok());
}

TEST(Mutation, EveryFlippedBitIsFound) {
  const std::string good = *encode(small_trace());
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_FALSE(decode(bad, "t.rfn").ok()) << "bit " << bit;
    ASSERT_FALSE(check(bad).empty()) << "bit " << bit;
  }
}

class Damage : public ::testing::TestWithParam<bool> {
 protected:
  static TraceData trace() { return GetParam() ? rich_trace() : small_trace(); }
};
INSTANTIATE_TEST_SUITE_P(SmallAndRich, Damage, ::testing::Bool());

TEST_P(Damage, BelowTheChecksumsIsHarmless) {
  const auto good = sections_of(trace());
  std::mt19937_64 random(11);
  size_t accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    auto bad = good;
    for (int flips = 1 + i % 3; flips > 0; --flips) {
      std::string& raw = bad[random() % bad.size()].second;
      if (raw.empty()) continue;
      char& c = raw[random() % raw.size()];
      c = random() % 2 == 0 ? static_cast<char>(c ^ (1 << random() % 8))
                            : static_cast<char>(random());
    }
    const std::string file = wrap(bad);
    const auto trace = decode(file, "t.rfn");
    if (trace.ok()) {
      ++accepted;
      use(*trace);
    } else {
      EXPECT_FALSE(trace.error().message.empty());
    }
    if (i % 8 == 0) {
      EXPECT_EQ(check(file).empty(), trace.ok());
      annotate(file);
    }
  }
  EXPECT_GT(accepted, 0u);
}

TEST_P(Damage, EveryTruncatedSectionIsRefused) {
  const auto good = sections_of(trace());
  for (size_t s = 0; s < good.size(); ++s) {
    for (size_t n = 0; n < good[s].second.size(); ++n) {
      auto bad = good;
      bad[s].second.resize(n);
      ASSERT_FALSE(decode(wrap(bad), "t.rfn").ok()) << s << " " << n;
    }
  }
}

TEST_P(Damage, HugeNumbersCostNothing) {
  const auto good = sections_of(trace());
  for (size_t s = 0; s < good.size(); ++s) {
    for (size_t at = 0; at < good[s].second.size(); ++at) {
      auto bad = good;
      // As a varint, and as a wide number where three bytes are one.
      const bool is_wide = good[s].first == static_cast<uint32_t>(SectionType::kNumbers);
      bad[s].second.replace(at, is_wide ? 3 : 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
      const auto trace = decode(wrap(bad), "t.rfn");
      if (trace.ok()) use(*trace);
    }
  }
}

TEST(Mutation, VersionsAndSectionsFromTheFuture) {
  std::string file = *encode(small_trace());
  file[8] = 2;
  auto trace = decode(file, "t.rfn");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kUnsupported);
  EXPECT_EQ(
      trace.error().to_string(),
      "t.rfn, byte 8: header: a newer format, version 2.7; this build reads version 1.x: use a "
      "newer release");
  file[8] = 1;
  file[11] = 0x40;  // a feature that must be understood
  trace = decode(file, "t.rfn");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kUnsupported);

  auto sections = sections_of(small_trace());
  sections.emplace_back(static_cast<uint32_t>(SectionType::kTime), "times");
  EXPECT_TRUE(decode(wrap(sections), "t.rfn").ok()) << "may be ignored";
  sections.back().first = 33;
  trace = decode(wrap(sections), "t.rfn");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.error().code, base::ErrorCode::kUnsupported);
}

int first_rule(const std::string& file) {
  const auto findings = check(file);
  return findings.empty() ? 0 : findings[0].rule;
}

TEST(Check, NamesTheRule) {
  const std::string good = *encode(small_trace());
  EXPECT_EQ(first_rule(good), 0);
  EXPECT_EQ(first_rule(""), kRuleMagic);
  EXPECT_EQ(first_rule("hello"), kRuleMagic);
  EXPECT_EQ(first_rule(good.substr(0, 20)), kRuleFileLength);
  EXPECT_EQ(first_rule(good + "x"), kRuleFileLength);
  std::string bad = good;
  bad[kHeaderBytes] ^= 1;
  EXPECT_EQ(first_rule(bad), kRuleHeaderChecksum);
  bad = good;
  bad.back() = static_cast<char>(bad.back() ^ 1);
  EXPECT_EQ(first_rule(bad), kRuleSectionChecksum);

  const auto sections = sections_of(small_trace());
  auto twice = sections;
  twice.push_back(sections[0]);
  EXPECT_EQ(first_rule(wrap(twice)), kRuleSectionOnce);
  auto missing = sections;
  missing.erase(missing.begin());
  EXPECT_EQ(first_rule(wrap(missing)), kRuleSectionThere);
  EXPECT_EQ(first_rule(wrap(sections, 1)), kRuleState);  // losses there, header says none
  EXPECT_EQ(first_rule(wrap(sections, 7)), kRuleReserved);
  auto longer = sections;
  longer[0].second += 'x';
  EXPECT_EQ(first_rule(wrap(longer)), kRuleFields);
}

template <class How>
void change(TraceData& trace, size_t signature, How how) {
  StoredSignature s = trace.signatures.get(signature);
  how(s);
  trace.signatures.set(signature, s);
}

// Each change of a good trace breaks the rule beside it.
TEST(Check, ContentRules) {
  const std::vector<std::pair<int, std::function<void(TraceData&)>>> cases = {
      {kRuleRanks, [](TraceData& t) { t.meta.ranks = 0; }},
      {kRuleHosts, [](TraceData& t) { t.meta.hosts.clear(); }},
      {kRuleDefinitionRefs, [](TraceData& t) { t.definitions[1].refs = {1}; }},
      {kRuleDefinitionPayload, [](TraceData& t) { t.definitions[0].payload = "\x7f"; }},
      {kRuleShape,
       [](TraceData& t) { change(t, 0, [](StoredSignature& s) { s.slots.pop_back(); }); }},
      {kRuleRequestOrder,
       [](TraceData& t) {
         const size_t last = t.signatures.size() - 1;
         const StoredSignature first = t.signatures.get(0);
         t.signatures.set(0, t.signatures.get(last));
         t.signatures.set(last, first);
       }},
      {kRuleDefinitionSlot,
       [](TraceData& t) { change(t, 0, [](StoredSignature& s) { s.slots[0].a = 1000; }); }},
      {kRuleExpr,
       [](TraceData& t) {
         change(t, 0, [](StoredSignature& s) { s.slots[1] = {RankExpr::Kind::kCart, 0, 1, 1}; });
       }},
      {kRuleTableIndex,
       [](TraceData& t) {
         change(t, 0, [](StoredSignature& s) { s.slots[1] = {RankExpr::Kind::kTable, 99, 0, 0}; });
       }},
      {kRuleDurations, [](TraceData& t) { t.durations[0].min_ns = UINT64_MAX; }},
      {kRuleGrammar, [](TraceData& t) { t.grammars[0].symbols[0].count = 0; }},
      {kRuleGroupRanks, [](TraceData& t) { t.groups[0].ranks = {}; }},
      {kRuleGroupLocations, [](TraceData& t) { t.groups[0].locations[0].grammar = 7; }},
      {kRuleTerminals, [](TraceData& t) { t.groups[0].signatures.resize(1); }},
      {kRuleGroupSignatures, [](TraceData& t) { t.groups[0].signatures[0] = 7777; }},
      {kRuleTableLengths, [](TraceData& t) { t.tables[0].append(1); }},
      {kRuleTotals, [](TraceData& t) { t.totals.pop_back(); }},
      {kRuleTotals,
       [](TraceData& t) {
         t.totals[0].cost = {4096, 1000};
       }},
      {kRuleLosses, [](TraceData& t) { t.losses[0].rank = 9; }},
  };
  for (const auto& [rule, change] : cases) {
    TraceData trace = small_trace();
    change(trace);
    bool found = false;
    for (const Finding& f : check_content(trace)) found = found || f.rule == rule;
    EXPECT_TRUE(found) << rule << ": " << rule_text(rule);
  }
}

TEST(Annotate, AccountsForEveryByteOfTheSections) {
  const std::string file = *encode(small_trace());
  uint64_t header_and_table = 0, raw = 0;
  uint64_t bundle_raw = 0;
  for (const ByteLine& l : annotate(file)) {
    if (l.section == "header" || l.section == "table") header_and_table += l.length;
    if (l.in_raw) raw += l.length;
    EXPECT_EQ(l.meaning.find("stopped"), std::string::npos) << l.meaning;
  }
  const auto header = read_header(file, "t.rfn");
  ASSERT_TRUE(header.ok());
  for (const SectionEntry& e : header->sections) {
    if (e.codec != Codec::kRaw) bundle_raw += e.raw_bytes;
  }
  EXPECT_EQ(header_and_table, kHeaderBytes + header->table_bytes);
  EXPECT_EQ(raw, bundle_raw);
}

}  // namespace
}  // namespace refrain::format
