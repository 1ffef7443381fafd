// docs/format.md is true: its worked example is what the encoder writes, its rules and limits are
// those of the code. On failure the right text is printed; paste it into the document.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/nested_runs.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/limits.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

std::string document() {
  std::ifstream in(REFRAIN_DOCS_DIR "/format.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Two ranks; each sends 10 doubles to the other one.
std::string example(bool with_gaps = false) {
  std::vector<RankRecord> ranks;
  for (uint64_t me = 0; me < 2; ++me) {
    RankRecord r;
    r.rank = me;
    base::ByteWriter module, site;
    module.put_string("a.out");
    module.put_string("");
    site.put_zigzag(0x11d2);
    CommDefinition world;
    world.constant = 1;
    r.definitions = {{DefinitionKind::kModule, module.take(), {}},
                     {DefinitionKind::kSite, site.take(), {0}},
                     {DefinitionKind::kComm, write_comm(world), {}}};
    testing::Sig send(21, 1);
    send.buffer(BufferClass::kStack, 0, 0).integer(10).integer(static_cast<int64_t>(1 - me));
    send.integer(7).object(2);
    r.signatures = {send.bytes()};
    DurationStats d;
    d.count = 3;
    d.min_ns = 400;
    d.max_ns = 3000;
    d.sum_ns = 4200;
    d.histogram.add(8, 2);
    d.histogram.add(11, 1);
    r.durations = {d};
    // Two iterations of 1.5 ms; the first call of the thread has no gap.
    DurationStats gaps;
    gaps.count = 3;
    gaps.max_ns = 1600000;
    gaps.sum_ns = 3000000;
    gaps.histogram.add(0, 1);
    gaps.histogram.add(20, 2);
    if (with_gaps) r.gaps = {gaps};
    grammar::Grammar g;
    g.symbols = {{0, false, 3}};
    g.rule_end = {1};
    r.threads = {{0, g}};
    r.totals = {4200, 1000000};
    r.host = "n1";
    r.text = {{"program", "./a.out"}};
    r.duration_ns = 1004200;
    ranks.push_back(std::move(r));
  }
  auto bytes = encode(testing::merge_all(ranks));
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

TEST(Document, ExampleOfGapsIsWhatTheEncoderWrites) {
  const std::string bytes = example(true);
  const auto sections = annotate(bytes);
  std::string found;
  for (const ByteLine& line : sections)
    if (line.section == "gaps" && line.meaning != "stored bytes, as they are")
      found += (found.empty() ? "" : " ") + line.hex;
  EXPECT_NE(document().find("\n" + found + "\n"), std::string::npos) << found;
}

TEST(Document, WorkedExampleIsWhatTheEncoderWrites) {
  const std::string bytes = example();
  constexpr char kDigits[] = "0123456789abcdef";
  std::string dump;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto b = static_cast<uint8_t>(bytes[i]);
    dump += kDigits[b >> 4];
    dump += kDigits[b & 15];
    dump += i % 16 == 15 || i + 1 == bytes.size() ? '\n' : ' ';
  }
  std::ostringstream lines;
  for (const ByteLine& l : annotate(bytes)) {
    lines << l.section << ' ' << l.offset << (l.in_raw ? " (raw)" : "") << ": " << l.hex << "  "
          << l.meaning << '\n';
  }
  const std::string text = document();
  EXPECT_NE(text.find("```\n" + dump + "```"), std::string::npos) << dump;
  EXPECT_NE(text.find("```\n" + lines.str() + "```"), std::string::npos) << lines.str();
}

TEST(Document, HasEveryRule) {
  const std::string text = document();
  for (int rule = 1; rule <= rule_count(); ++rule) {
    std::ostringstream line;
    line << "| " << rule << " | " << rule_text(rule) << " |";
    EXPECT_NE(text.find(line.str()), std::string::npos) << line.str();
  }
}

TEST(Document, HasEverySectionAndLimit) {
  const std::string text = document();
  for (const SectionWriter& writer : kSectionWriters)
    EXPECT_NE(to_string(writer.type), "unknown") << static_cast<uint32_t>(writer.type);
  for (uint32_t t = 0; t < 2 * kMayIgnoreSection; ++t) {
    const std::string_view name = to_string(static_cast<SectionType>(t));
    if (name == "unknown") continue;
    std::ostringstream line;
    line << "| " << t << " | " << name << " |";
    EXPECT_NE(text.find(line.str()), std::string::npos) << line.str();
  }
  const std::pair<const char*, uint64_t> limits[] = {
      {"sections", kMaxSections},
      {"raw bytes of a section", kMaxSectionRawBytes},
      {"expansion", kMaxExpansion},
      {"free raw bytes", kFreeRawBytes},
      {"call id", kMaxCallId},
      {"bytes of a signature", kMaxSignatureBytes},
      {"slots of a signature", kMaxSlots},
      {"depth of fields", kMaxFieldDepth},
      {"values of a signature", kMaxSignatureValues},
      {"ranks", kMaxRanks},
      {"definitions", kMaxDefinitions},
      {"bytes of a definition", kMaxDefinitionBytes},
      {"references of a definition", kMaxDefinitionRefs},
      {"members of a communicator", kMaxMembers},
      {"signatures", kMaxSignatures},
      {"slots of all signatures", kMaxTotalSlots},
      {"tables", kMaxTables},
      {"grammars", kMaxGrammars},
      {"symbols of all grammars", kMaxGrammarSymbols},
      {"groups", kMaxGroups},
      {"locations of a group", kMaxLocations},
      {"hosts", kMaxHosts},
      {"places of ranks", kMaxPlaces},
      {"CPUs of a host", kMaxCpus},
      {"bytes of a text", kMaxTextBytes},
      {"texts", kMaxTexts},
      {"losses", kMaxLosses},
      {"repeated runs of a list", kMaxRepeatedRuns},
      {"repeated runs of a section", kMaxRepeatedRunsPerSection},
      {"depth of loops", base::NestedRuns::kMaxDepth},
      {"bytes of families for each byte", kMaxFamilyBytesPerByte},
      {"free bytes of families", kFreeFamilyBytes},
      {"statistics for each byte", kMaxStatisticsPerByte},
      {"free totals", kFreeTotals},
      {"totals for each byte", kMaxTotalsPerByte},
      {"terminals of all groups", kMaxGroupTerminals},
      {"bytes of times", kMaxTimeBytes},
      {"bytes of the index of times", kMaxTimeIndexBytes},
      {"chunks of times", kMaxTimeChunks},
      {"blocks of a chunk", kMaxTimeBlocks},
      {"calls of a block", kMaxCallsPerBlock},
      {"bytes of a block", kMaxBlockBytes},
      {"free calls of representatives", kFreeRepresentativeCalls},
      {"calls of representatives for each byte", kRepresentativeCallsPerByte},
      {"contexts of segments", kMaxSegmentContexts},
      {"bytes of a method", kMaxMethodBytes},
      {"clock points of a rank", kMaxClockPoints},
      {"clock points of all ranks", kMaxClockPointsOfAll},
      {"bytes of a log's header", kMaxLogHeaderBytes},
      {"bytes of a build id", kMaxBuildIdBytes},
      {"bytes of a log's MPI", kMaxLogNameBytes}};
  for (const auto& [name, value] : limits) {
    std::ostringstream line;
    line << "| " << name << " | " << value << " |";
    EXPECT_NE(text.find(line.str()), std::string::npos) << line.str();
  }
}

}  // namespace
}  // namespace refrain::format
