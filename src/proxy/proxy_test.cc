// What is written for traces that were put together by hand.
#include "proxy/proxy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mpi/call_ids.h"
#include "mpi/call_table.h"
#include "proxy/literals.h"
#include "proxy/refused.h"
#include "proxy/test_maker.h"

namespace refrain::proxy {
namespace {

// A line of ranks with borders.
Outcome line_of(uint64_t ranks, int steps) {
  Maker m(ranks);
  const auto last = static_cast<int64_t>(ranks) - 1;
  const uint32_t up = m.send(me_plus(1)), from_below = m.receive(me_plus(-1));
  const uint32_t no_send = m.send(fixed(-1)), no_receive = m.receive(fixed(-1));
  m.group({0}, {up, no_receive}, steps);
  m.group(std::vector<int64_t>(m.all.begin() + 1, m.all.end() - 1), {up, from_below}, steps);
  m.group({last}, {no_send, from_below}, steps);
  return m.write();
}

TEST(Proxy, OfARingRunsOnAnyNumberOfRanks) {
  Maker m(8);
  m.group(m.all, {m.send(me_plus_mod_size(1)), m.receive(me_plus_mod_size(-1))}, 20);
  const Outcome out = m.write();
  EXPECT_TRUE(out.needs.empty());
  EXPECT_EQ(out.tables, 0u);
  EXPECT_EQ(out.kinds, 1u);
  EXPECT_TRUE(has(out.program,
                  "MPI_Send(sent(64, MPI_DOUBLE), 64, MPI_DOUBLE, "
                  "modulo(rank + 1, size), 5, MPI_COMM_WORLD);"))
      << out.program;
  EXPECT_TRUE(has(out.program, "i < iterations(20)")) << out.program;
}

TEST(Proxy, KindsOfRanksShareTheirFunctions) {
  const Outcome out = line_of(8, 20);
  EXPECT_EQ(out.families, 1u);
  EXPECT_EQ(out.kinds, 3u);
  EXPECT_TRUE(has(out.program, "is_kind({2}) ? MPI_PROC_NULL : rank + 1")) << out.program;
  EXPECT_TRUE(has(out.program, "is_kind({0}) ? MPI_PROC_NULL : rank - 1")) << out.program;
  EXPECT_TRUE(has(out.program, "kind = rank == 0 ? 0 : rank == size - 1 ? 2 : 1;"));
  EXPECT_TRUE(out.needs.empty());
}

TEST(Proxy, HasAsManyLinesAtAnyNumberOfRanksAndSteps) {
  const uint64_t lines = line_of(64, 10).lines;
  EXPECT_EQ(line_of(1024, 10).lines, lines);
  EXPECT_EQ(line_of(64, 1'000'000).lines, lines);
  EXPECT_LT(lines, 60u);
}

TEST(Proxy, IsNotOptimisedWhereItIsLong) {
  const auto text_of = [](int64_t sends) {
    Maker maker(2);
    std::vector<uint32_t> calls;
    for (int64_t i = 0; i < sends; ++i) {
      calls.push_back(maker.send(me_plus_mod_size(1), i * i));
      calls.push_back(maker.receive(me_plus_mod_size(-1), i * i));
    }
    maker.group(maker.all, calls, 1);
    return maker.write().program;
  };
  EXPECT_EQ(text_of(100).find("#pragma"), std::string::npos);
  EXPECT_NE(text_of(1000).find("#pragma GCC optimize(\"O0\")"), std::string::npos);
}

TEST(Proxy, CallsThatOnlyAskAreLeftOutAndCounted) {
  Maker m(2);
  ShapeWriter changed("MPI_T_finalize");
  const uint32_t asks = m.builder.signature(changed.object(m.builder.site("/bin/app", "", 0x2000)));
  m.group(m.all, {asks, m.send(me_plus_mod_size(1)), m.receive(me_plus_mod_size(-1))}, 3);
  const Outcome out = m.write();
  EXPECT_TRUE(has(out.program, "// left out: MPI_T_finalize, it asks MPI about itself"))
      << out.program;
  EXPECT_EQ(out.not_held.count("kinds of calls left out: it asks MPI about itself"), 1u);
}

TEST(Proxy, SaysWhichFunctionsItLeavesOut) {
  Maker m(2);
  ShapeWriter seldom("MPI_T_finalize"), often("MPI_T_enum_get_info");
  const uint32_t site = m.builder.site("/bin/app", "", 0x2000);
  const uint32_t once = m.builder.signature(seldom.object(site));
  const uint32_t ten = m.builder.signature(often.object(site).none().integer(1).none().integer(8));
  m.group(m.all, {ten, m.send(me_plus_mod_size(1)), m.receive(me_plus_mod_size(-1))}, 10, {once});
  const Outcome out = m.write();
  ASSERT_EQ(out.left_out.size(), 2u);
  EXPECT_EQ(out.left_out[0].function, "MPI_T_enum_get_info");
  EXPECT_EQ(out.left_out[0].calls, 20u);
  EXPECT_EQ(out.left_out[1].function, "MPI_T_finalize");
  EXPECT_EQ(out.left_out[1].calls, 2u);
  EXPECT_EQ(out.left_out[1].why, "it asks MPI about itself");
}

TEST(Proxy, HasOneMainLoopOrNone) {
  Maker m(3);
  const uint32_t up = m.send(me_plus_mod_size(1)), down = m.receive(me_plus_mod_size(-1));
  m.group({0}, {up, down}, 10);
  m.group({1, 2}, {up, up, down, down}, 20);
  const std::string program = m.write().program;
  EXPECT_FALSE(has(program, "iterations(")) << program;
  EXPECT_TRUE(has(program, "no_main_loop();"));
}

TEST(Proxy, TablesAreForNumbersWithoutOrder) {
  Maker m(4);
  const int64_t table = m.builder.table_of({3, 0, 1, 2});
  m.group(m.all, {m.send(reader::table(table)), m.receive(me_plus_mod_size(1))}, 3);
  const Outcome out = m.write();
  EXPECT_EQ(out.tables, 1u);
  EXPECT_TRUE(has(out.program, "Table table_0{{3, -3, 2}, {1, 1, 2}};")) << out.program;
  EXPECT_TRUE(has(out.program, "table_0[rank]"));
  ASSERT_FALSE(out.needs.empty());
  EXPECT_TRUE(has(out.needs[0], "MPI_Send"));
  EXPECT_TRUE(has(out.program, "check_ranks(4, {\"MPI_Send"));
}

TEST(Proxy, AnExpressionThatIsRightForAllKindsIsTaken) {
  Maker m(4);  // rank 0 sends to 1: the same as me + 1
  m.group({0}, {m.send(fixed(1))}, 3);
  m.group({1, 2, 3}, {m.send(me_plus(1))}, 3);
  const Outcome out = m.write();
  EXPECT_TRUE(has(out.program, "MPI_DOUBLE, rank + 1, 5")) << out.program;
  EXPECT_FALSE(has(out.program, "is_kind"));
}

TEST(Proxy, ForcesWhatAWildcardTook) {
  Maker m(2);
  ShapeWriter shape("MPI_Recv");
  shape.none().heap(-1, 0).integer(1).object(m.type).constant("MPI_ANY_SOURCE");
  shape.constant("MPI_ANY_TAG").object(m.world);
  shape.tag(FieldTag::kMatched).integer(me_plus_mod_size(1)).integer(7);
  m.group(m.all, {m.builder.signature(shape)}, 2);
  EXPECT_TRUE(has(m.write().program, "1, MPI_DOUBLE, modulo(rank + 1, size), 7, MPI_COMM_WORLD,"));
}

TEST(Proxy, APartThatWasNotThereIsNotThereAgain) {
  Maker m(1);
  ShapeWriter make("MPI_Precv_init");
  make.none().heap(-1, 0).integer(4).integer(8).object(m.type).integer(0).integer(5);
  make.object(m.world).constant("MPI_INFO_NULL").new_request(11);
  const uint32_t maker = m.builder.signature(make);
  std::vector<uint32_t> asks;
  for (const int flag : {0, 1}) {
    ShapeWriter ask("MPI_Parrived");
    asks.push_back(m.builder.signature(ask.none().request(maker).integer(2).integer(flag)));
  }
  m.group(m.all, asks, 1, {maker});
  const std::string program = m.write().program;
  EXPECT_TRUE(has(program, "  MPI_Parrived(never_parts.get(2), 2, out());")) << program;
  EXPECT_TRUE(has(program, "  await_part(request[0], 2);\n  MPI_Parrived(request[0], 2, out());"))
      << program;
}

TEST(Proxy, EndsMpiWhereTheTraceDoesNot) {
  Maker whole(2), seen_in_part(2);
  whole.group(whole.all, {whole.send(me_plus_mod_size(1))}, 1);
  EXPECT_FALSE(has(whole.write().program, "end_unseen"));
  seen_in_part.finalize = seen_in_part.send(me_plus_mod_size(1));
  seen_in_part.group(seen_in_part.all, {seen_in_part.receive(me_plus_mod_size(-1))}, 1);
  EXPECT_TRUE(has(seen_in_part.write().program, "  run();\n  end_unseen();"));
}

// What the machine says of ranks that belong together.
std::string split(const std::vector<std::vector<int64_t>>& members) {
  size_t ranks = 0;
  for (const auto& part : members) ranks += part.size();
  Maker m(ranks);
  for (size_t i = 0; i < members.size(); ++i) {
    ShapeWriter shape("MPI_Comm_split_type");
    shape.none().object(m.world).constant("MPI_COMM_TYPE_SHARED").integer(0);
    shape.constant("MPI_INFO_NULL").object(m.builder.comm(1, members[i]));
    m.group(members[i], {m.builder.signature(shape)}, 1);
  }
  return m.write().program;
}

TEST(Proxy, KeepsTheRanksThatTheMachinePutTogether) {
  EXPECT_TRUE(has(split({{0, 1, 2, 3}}), "in_recorded_blocks(MPI_COMM_WORLD, &comms[1], 4);"));
  EXPECT_TRUE(has(split({{0, 1, 2}, {3}}), "in_recorded_blocks(MPI_COMM_WORLD, &comms[1], 3);"));
  const std::string scattered = split({{0, 2}, {1, 3}});
  EXPECT_TRUE(has(scattered, "with_recorded_ranks(MPI_COMM_WORLD, &comms[1], table_0[rank], "))
      << scattered;
  EXPECT_TRUE(has(scattered, "check_ranks(4, {\"which ranks do what: a list of ranks\"});"))
      << scattered;  // the tables need no number of ranks
}

// Each rank hears from the two others, in an order that is none of the MPI's: first from the one
// before it, or from the one behind it. One variable has all graphs.
struct Graphs {
  Graphs() : graph(m.builder.comm(1, m.all)) {}
  uint32_t create(int64_t reorder) {
    ShapeWriter shape("MPI_Dist_graph_create");
    shape.none().object(m.world).integer(0).array(0).array(0).array(0);
    shape.constant("MPI_UNWEIGHTED").constant("MPI_INFO_NULL").integer(reorder).object(graph);
    return m.builder.signature(shape);
  }
  uint32_t ask(int64_t first) {
    ShapeWriter shape("MPI_Dist_graph_neighbors");
    shape.none().object(graph).integer(2).array(2);
    shape.repeat(1).integer(me_plus_mod_size(first)).repeat(1).integer(me_plus_mod_size(-first));
    shape.constant("MPI_UNWEIGHTED").integer(0).array(0).constant("MPI_UNWEIGHTED");
    return m.builder.signature(shape);
  }
  std::string program(const std::vector<uint32_t>& calls) {
    m.group(m.all, calls, 1);
    return m.write().program;
  }
  Maker m{3};
  uint32_t graph;
};

TEST(Proxy, KeepsTheOrderOfNeighbours) {
  Graphs silent, asking;
  EXPECT_FALSE(has(silent.program({silent.create(0)}), "with_recorded_neighbours"));
  const std::string text = asking.program({asking.create(0), asking.ask(-1)});
  EXPECT_TRUE(has(text,
                  "with_recorded_neighbours(MPI_COMM_WORLD, &comms[1],\n"
                  "      {table_0[rank], table_1[rank], table_2[rank]}, {table_3[rank]});"))
      << text;
  EXPECT_TRUE(has(text, "table_1{{2, -2, 2}, {1, 0, 1}}")) << text;  // 2, 0, 1
}

TEST(Proxy, KeepsTheOrderOfNeighboursInEachGraphOfAVariable) {
  Graphs two;
  const std::string text =
      two.program({two.create(0), two.ask(-1), two.create(1), two.ask(1), two.create(0)});
  const std::string call =
      "with_recorded_neighbours(MPI_COMM_WORLD, &comms[1],\n      {table_0[rank], ";
  EXPECT_TRUE(has(text, call + "table_1[rank], table_2[rank]}, {table_3[rank]});")) << text;
  EXPECT_TRUE(has(text, call + "table_2[rank], table_1[rank]}, {table_3[rank]});")) << text;
  // The same arguments, and two orders: MPI's stands.
  Graphs unclear;
  const uint32_t create = unclear.create(0);
  const std::string none = unclear.program({create, unclear.ask(-1), create, unclear.ask(1)});
  EXPECT_TRUE(has(none, "&comms[1], {table_0[rank]}, {table_0[rank]});")) << none;
}

TEST(Proxy, NumbersOfErrorsAreThoseOfItsOwnRun) {
  Maker m(1);
  ShapeWriter add("MPI_Add_error_class"), call("MPI_Comm_call_errhandler");
  const uint32_t adds = m.builder.signature(add.none().integer(1073741825));
  const uint32_t calls = m.builder.signature(call.none().object(m.world).integer(1073741825));
  m.group(m.all, {adds, calls}, 1);
  const std::string program = m.write().program;
  EXPECT_TRUE(has(program, "MPI_Add_error_class(made_error(1073741825));")) << program;
  EXPECT_TRUE(has(program, "MPI_COMM_WORLD, own_error(1073741825));")) << program;
}

TEST(Proxy, CodesOfTheRecordedRunAreAskedForWithoutNoise) {
  for (const int64_t code : {5, 403327494}) {
    Maker m(1);
    ShapeWriter ask("MPI_Error_string");
    ask.none().integer(code).string(FieldTag::kString, "text").integer(4);
    m.group(m.all, {m.builder.signature(ask)}, 1);
    const std::string program = m.write().program;
    EXPECT_TRUE(has(
        program, code == 5 ? "MPI_Error_string(5, " : "MPI_Error_string(GivenError(403327494), "))
        << program;
  }
}

TEST(Proxy, ACountOfElementsIsThatOfEachRank) {
  Maker m(3);
  ShapeWriter ask("MPI_Get_elements");
  ask.none().none().object(m.type).integer(RankExpr{RankExpr::Kind::kAffine, 7, 100, 0});
  m.group(m.all, {m.builder.signature(ask)}, 1);
  const std::string program = m.write().program;
  EXPECT_TRUE(has(program, "MPI_DOUBLE, 7 * rank + 100, true")) << program;
}

TEST(Proxy, InfoTextsThatAnMpiMayNotTakeAreCut) {
  for (const size_t length : {255, 256}) {
    Maker m(1);
    ShapeWriter make("MPI_Info_create"), set("MPI_Info_set");
    base::ByteWriter number;
    number.put_zigzag(0);
    const uint32_t info = m.builder.define(format::DefinitionKind::kInfo, number.take());
    const uint32_t makes = m.builder.signature(make.none().object(info));
    set.none().object(info).string(FieldTag::kString, "key");
    set.string(FieldTag::kString, std::string(length, 'v'));
    m.group(m.all, {makes, m.builder.signature(set)}, 1);
    const std::string program = m.write().program;
    EXPECT_EQ(has(program, "MPI_MAX_INFO_VAL).c_str());"), length == 256) << program;
  }
}

TEST(Proxy, FilesThatWereThereHaveTheirLength) {
  Maker m(1);
  ShapeWriter shape("MPI_File_open");
  shape.none().object(m.world).string(FieldTag::kString, "in.dat").constant("MPI_MODE_RDONLY");
  const uint32_t file =
      m.builder.define(format::DefinitionKind::kFile, std::string(1, '\0'), {m.world});
  shape.constant("MPI_INFO_NULL").object(file);
  m.group(m.all, {m.builder.signature(shape)}, 1);
  EXPECT_TRUE(has(m.write().program, "scratch(0, true)"));
  m.options.file_bytes["in.dat"] = 5000;
  EXPECT_TRUE(has(m.write().program, "scratch(0, true, 5000)"));
}

TEST(Proxy, HostileTextsStayTexts) {
  Maker m(1);
  ShapeWriter shape("MPI_Comm_set_name");
  shape.none().object(m.world).string(FieldTag::kString, "x\"); system(\"rm\n*/ ?\?/ \\");
  m.group(m.all, {m.builder.signature(shape)}, 2);
  const std::string program = m.write().program;
  EXPECT_TRUE(has(program,
                  "MPI_Comm_set_name(MPI_COMM_WORLD, "
                  "\"x\\\"); system(\\\"rm\\012*/ \\077\\077/ \\\\\");"))
      << program;
}

TEST(Proxy, RefusesByNameAndSkips) {
  Maker m(1);
  ShapeWriter shape("MPI_Abort");
  shape.none().object(m.world).integer(1);
  m.group(m.all, {m.builder.signature(shape)}, 1);
  const Trace trace = m.builder.open();
  const auto refused = refusals(trace, {});
  ASSERT_TRUE(refused.ok());
  ASSERT_EQ(refused->size(), 1u);
  EXPECT_EQ((*refused)[0].function, "MPI_Abort");
  EXPECT_EQ((*refused)[0].calls, 1u);
  EXPECT_EQ(generate(trace, {}).error().code, base::ErrorCode::kUnsupported);
  m.options.skip = {"MPI_Abort"};
  EXPECT_TRUE(has(m.write().program, "// left out: MPI_Abort, by --skip"));
}

TEST(Proxy, RefusesObjectsThatNobodyMakes) {
  Maker m(2);
  m.world = m.builder.comm(3, {0, 1});
  m.group(m.all, {m.send(me_plus_mod_size(1))}, 1);
  const auto out = generate(m.builder.open(), {});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, base::ErrorCode::kUnsupported);
  EXPECT_TRUE(has(out.error().message, "comms[3]")) << out.error().message;
  EXPECT_TRUE(has(out.error().message, "`refrain replay`")) << out.error().message;
}

TEST(Proxy, RefusesTracesThatAreNotWhole) {
  Maker m(2);
  m.group({0}, {m.send(fixed(0))}, 1);
  m.builder.data().meta.complete = false;
  EXPECT_FALSE(generate(m.builder.open(), {}).ok());
}

// A proxy must compile with every MPI, so it calls no extension, also none that was added to the
// table last.
TEST(Refused, EveryExtension) {
  size_t extensions = 0;
  for (const mpi::CallInfo& call : mpi::all_calls()) {
    if (!call.name.starts_with("MPIX_") || call.group == mpi::CallGroup::kPersist) continue;
    ++extensions;
    EXPECT_FALSE(refused(call.id).empty()) << call.name;
  }
  EXPECT_GT(extensions, 50U);
  EXPECT_EQ(refused(mpi::kMPIX_Barrier_init), "");
  EXPECT_EQ(refused(mpi::kMPI_Comm_flush_buffer), "few MPIs have it");
  EXPECT_EQ(refused(mpi::kMPI_Send), "");
}

TEST(Literals, EscapeAllButPlainCharacters) {
  EXPECT_EQ(quoted("a b"), "\"a b\"");
  EXPECT_EQ(quoted(std::string_view("\0001", 2)), "\"\\0001\"");
  EXPECT_EQ(quoted("\x80\xff"), "\"\\200\\377\"");
  EXPECT_EQ(in_comment("a\nb\\"), "a_b_");
}

TEST(Literals, NamesAreIdentifiers) {
  EXPECT_EQ(identifier("Solver<double, 3>::exchange"), "exchange");
  EXPECT_EQ(identifier("exchange"), "exchange");
  EXPECT_EQ(identifier("main"), "main_step");
  EXPECT_EQ(identifier("while"), "part_while");
  EXPECT_EQ(identifier("7up"), "part_7up");
  EXPECT_EQ(identifier("EOF"), "part_EOF");
  EXPECT_EQ(identifier("a;system()"), "a_system");
  EXPECT_EQ(identifier(""), "");
}

TEST(Literals, LongLinesBreakBetweenParameters) {
  const std::string out =
      wrapped("f(" + std::string(60, 'a') + ", {1, 2}, \"b, " + std::string(50, 'b') + "\");", 2);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2);
  EXPECT_TRUE(has(out, "{1, 2},\n      \"b, b"));
}

}  // namespace
}  // namespace refrain::proxy
