// What goes into the LaTeX document; that it compiles, and how it looks, is for
// tests/report/latex.py.

#include <gtest/gtest.h>

#include <cctype>
#include <random>

#include "reader/test_trace.h"
#include "report/latex/cells.h"
#include "report/latex/document.h"
#include "report/latex/pairs.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"
#include "text/escape.h"

namespace refrain::report::latex {
namespace {

// What TeX would set; fails the test where anything but the four known commands, letters and
// digits is in it.
std::string as_set(const std::string& tex) {
  const auto skip = [&](size_t& i, std::string_view what) {
    if (tex.compare(i, what.size(), what) != 0) return false;
    i += what.size();
    return true;
  };
  std::string out;
  size_t i = 0;
  EXPECT_TRUE(skip(i, "\\rfcode{"));
  while (i + 1 < tex.size()) {
    if (skip(i, "\\rfchar{")) {
      size_t length = 0;
      const int number = std::stoi(tex.substr(i), &length);
      EXPECT_TRUE(number > 32 && number < 127) << number;
      out += static_cast<char>(number);
      i += length;
      EXPECT_EQ(tex[i++], '}');
    } else if (skip(i, "\\rfspace{}")) {
      out += ' ';
    } else if (!skip(i, "\\rfbreak{}")) {
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(tex[i])) != 0) << tex;
      out += tex[i++];
    }
  }
  EXPECT_EQ(tex.back(), '}');
  return out;
}

TEST(TexText, NothingOfANameIsACommand) {
  const std::string nasty = "\\input{x}$&%#_{}~^\"'`|<>[]*-";
  EXPECT_EQ(as_set(code(nasty)), nasty);
  EXPECT_EQ(as_set(code("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\xff\x01\n")),
            "caf<U+00E9> <U+20AC> <U+1F600>???");
  EXPECT_EQ(bare("a\\b{c}%\xc3\xa9"), "a?b?c???");
  EXPECT_EQ(number("12.5 %"), "12.5\\,\\%");
  EXPECT_EQ(words("at MPI_Init {c} 5%"), "at " + code("MPI_Init") + " ?c? 5\\%");
}

TEST(TexText, AnyBytes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string name(random() % 60, ' ');
    for (char& c : name) c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
    const std::string set = as_set(code(name, 1000));
    if (round % 2 == 1) {
      EXPECT_EQ(set, text::printable(name));
    }
    for (const char c : bare(name))
      EXPECT_EQ(std::string("\\{}$&#^_%~").find(c), std::string::npos);
  }
}

TEST(TexText, LongNamesLoseTheirMiddle) {
  const std::string set = as_set(code("begin" + std::string(5000, 'x') + "end", 20));
  EXPECT_EQ(set, "beginxxxxx ... xxxxxxxend");
}

TEST(TexText, Numbers) {
  EXPECT_EQ(duration(1'500'000), "1.5\\,ms");
  EXPECT_EQ(count(1234567), "1\\,234\\,567");
  EXPECT_EQ(bytes(1536), "1.50\\,KiB");
  EXPECT_EQ(share(0.125), "12.5\\,\\%");
  EXPECT_EQ(duration(Json()), "-");
  EXPECT_EQ(duration(-5), "0\\,ns");
  EXPECT_EQ(counted(1, "rank") + counted(2, "rank"), "1 rank2 ranks");
}

TEST(Environment, AConventionalTraceIsARow) {
  PageData data;
  data.json["trace"] = "run.rfn";
  const Json plain = {{"buffer_bytes", 2048}, {"write", true},         {"bytes", 4096},
                      {"flushes", 3},         {"write_ns", 1'500'000}, {"by_rank", Json::array()}};
  data.json["info"] = {{"hosts", Json::array()}, {"plain_trace", plain}};
  std::string out;
  put_environment(data, out);
  EXPECT_NE(out.find("4.00\\,KiB in 3 flushes of 2.00\\,KiB, 1.5\\,ms"), std::string::npos) << out;
  EXPECT_EQ(out.find("by_rank"), std::string::npos);
  data.json["info"]["plain_trace"]["write"] = false;
  out.clear();
  put_environment(data, out);
  EXPECT_NE(out.find("of 2.00\\,KiB, thrown away"), std::string::npos) << out;
}

TEST(TexTable, SaysWhatIsLeftOut) {
  TexTable table({{"name", 20}, {"n", 0}});
  EXPECT_EQ(table.text(), "");
  table.row({"a", "1"});
  EXPECT_EQ(table.text().find("more"), std::string::npos);
  table.more(1200, "rows");
  EXPECT_NE(table.text().find("and 1\\,200 more rows"), std::string::npos);
}

TEST(Cells, EveryCellIsDrawnOnce) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    Cells cells(1 + random() % 12, 1 + random() % 12);
    for (Ink& ink : cells.ink) ink = static_cast<Ink>(random() % 3);
    std::vector<int> drawn(cells.ink.size(), 0);
    for (const Block& b : blocks_of(cells))
      for (size_t y = b.y; y < b.y + b.height; ++y)
        for (size_t x = b.x; x < b.x + b.width; ++x) {
          ASSERT_LT(x, cells.columns);
          ASSERT_LT(y, cells.rows);
          EXPECT_EQ(cells.at(x, y), b.ink);
          ++drawn[y * cells.columns + x];
        }
    for (size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(drawn[i], cells.ink[i] == kPaper ? 0 : 1);
  }
}

TEST(Cells, EqualNeighboursAreOneBlock) {
  Cells cells(200, 64);
  for (Ink& ink : cells.ink) ink = 2;
  EXPECT_EQ(blocks_of(cells).size(), 1u);
  EXPECT_EQ(amount_ink(0), 1);
  EXPECT_EQ(amount_ink(1), kAmounts);
  EXPECT_EQ(amount_ink(-3), 1);
}

// Two ranks; the first sends 8 bytes to the other, five times.
LatexPart part(bool has_clusters = false, Verbosity verbosity = Verbosity::kNormal) {
  reader::TraceBuilder builder(2);
  reader::ShapeWriter send("MPI_Send"), receive("MPI_Recv");
  const uint32_t type = builder.predefined_type("MPI_DOUBLE", 8), world = builder.world();
  send.none().heap(0, 0).integer(1).object(type).integer(1).integer(7).object(world);
  receive.none().heap(0, 0).integer(1).object(type).integer(0).integer(7).object(world).none();
  builder.group({0}, std::vector<uint32_t>(5, builder.signature(send)));
  builder.group({1}, std::vector<uint32_t>(5, builder.signature(receive)));
  builder.data().meta.text["command"] = "./a \\input{b}";
  for (format::RankTotals& totals : builder.data().totals) totals = {600, 900, {}};
  if (has_clusters) {
    for (const uint64_t rank : {0, 1}) {
      format::Cluster one;
      one.lead = one.structure = rank;
      one.members.append(static_cast<int64_t>(rank));
      one.calls = 5;
      one.in_mpi_ns = 600;
      builder.data().clusters.clusters.push_back(std::move(one));
    }
    builder.data().losses.push_back({std::string(format::kStoodForLoss), 0, -1, "0 of 2 ranks"});
  }
  const Trace trace = builder.open();
  const PageOptions options;
  reader::Symbols symbols;
  return latex_part(trace, page_data(trace, symbols, options), verbosity);
}

TEST(Document, HasWhatThePageHas) {
  const std::string tex = latex_document({part()});
  size_t at = 0;
  for (const char* const title :
       {"\\begin{document}", "{Verdict}", "{Timeline}", "{Communication matrix}", "{Topology}",
        "{Density maps}", "{Profile}", "{Wait states}", "{Environment}", "\\end{document}"}) {
    const size_t found = tex.find(title, at);
    ASSERT_NE(found, std::string::npos) << title;
    at = found;
  }
  EXPECT_NE(tex.find("5 messages of 40\\,B between 1 pair of ranks."), std::string::npos);
  EXPECT_EQ(tex.find("\\input"), std::string::npos);
  EXPECT_EQ(tex.find("\\part"), std::string::npos);
}

TEST(Document, SaysWhoStandsForWhom) {
  EXPECT_EQ(latex_document({part()}).find("Clusters of ranks"), std::string::npos);
  const std::string tex = latex_document({part(true)});
  const size_t at = tex.find("{Clusters of ranks}");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(at, tex.find("{Environment}"));
  EXPECT_NE(tex.find("0 ranks of 2 ranks have another one's times", at), std::string::npos);
  EXPECT_NE(tex.find("600\\,ns", at), std::string::npos);
  EXPECT_NE(tex.find("what its lead shows below", at), std::string::npos);
}

TEST(Document, SeveralRunsAreCompared) {
  const std::string tex = latex_document({part(), part()});
  EXPECT_NE(tex.find("2 runs"), std::string::npos);
  EXPECT_LT(tex.find("\\section{Runs}"), tex.find("\\section{Verdict}"));
  EXPECT_NE(tex.find("\\part{", tex.find("\\part{") + 1), std::string::npos);
}

TEST(Pairs, NeighboursAreJoined) {
  PageData data;
  data.columns.put("m.source", {0, 1, 2, 3, 0});
  data.columns.put("m.dest", {1, 0, 3, 0, 9});
  for (const char* const name : {"m.messages", "m.bytes", "m.ns"})
    data.columns.put(name, {1, 2, 4, 8, 16});
  const PairLoads joined = pair_loads(data, "m", 2, 2, false);
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined.at({0, 0}).bytes, 3);
  EXPECT_EQ(joined.at({1, 0}).messages, 8);
  const PairLoads edges = pair_loads(data, "m", 4, 1, true);
  EXPECT_EQ(edges.at({0, 1}).ns, 3);
  EXPECT_EQ(edges.at({0, 3}).ns, 8);
  EXPECT_EQ(edges.size(), 3u);
}

TEST(Document, HasAsMuchAsWasAskedFor) {
  const std::string brief = latex_document({part(false, Verbosity::kBrief)}),
                    normal = latex_document({part()}),
                    full = latex_document({part(false, Verbosity::kFull)});
  for (const char* const title : {"{Verdict}", "{Timeline}", "{Profile}", "{Wait states}"})
    for (const std::string* tex : {&brief, &normal, &full})
      EXPECT_NE(tex->find(title), std::string::npos) << title;
  for (const char* const title : {"{Communication matrix}", "{Density maps}", "{Environment}"}) {
    EXPECT_EQ(brief.find(title), std::string::npos) << title;
    EXPECT_NE(normal.find(title), std::string::npos) << title;
    EXPECT_NE(full.find(title), std::string::npos) << title;
  }
  for (const char* const title :
       {"{Temporal maps}", "{Matrices of each kind of call}", "{Iterations}", "{Each rank}"}) {
    EXPECT_EQ(normal.find(title), std::string::npos) << title;
    EXPECT_NE(full.find(title), std::string::npos) << title;
  }
  EXPECT_NE(full.find("{Rank 1}"), std::string::npos);
  EXPECT_LT(brief.size(), normal.size());
  EXPECT_LT(normal.size(), full.size());
  EXPECT_EQ(verbosity_of("full"), Verbosity::kFull);
  EXPECT_FALSE(verbosity_of("loud").has_value());
}

}  // namespace
}  // namespace refrain::report::latex
