// Ranks with several threads.
#include <gtest/gtest.h>

#include "proxy/test_maker.h"

namespace refrain::proxy {
namespace {

// Where `part` stands in the function `name`; npos: nowhere.
size_t place_in(const std::string& program, const std::string& name, const std::string& part) {
  const size_t begin = program.find("void " + name + "()");
  if (begin == std::string::npos) return begin;
  const size_t at = program.find(part, begin);
  return at < program.find("\n}\n", begin) ? at : std::string::npos;
}

// The first thread makes a communicator and frees it; two others send to the next rank over it.
struct Shared {
  explicit Shared(int times_made) {
    ShapeWriter dup("MPI_Comm_dup"), free("MPI_Comm_free");
    const uint32_t comm = m.builder.comm(3, {0, 1});
    const uint32_t made = m.builder.signature(dup.none().object(m.world).object(comm));
    free.none().tag(FieldTag::kChanged).constant("MPI_COMM_NULL").object(comm);
    const uint32_t freed = m.builder.signature(free);
    m.world = comm;
    const uint32_t send = m.send(me_plus_mod_size(1)), receive = m.receive(me_plus_mod_size(1));
    m.group(m.all, {made, freed}, times_made);
    m.thread(1, {send, send, send});
    m.thread(2, {receive, receive, receive});
  }
  Maker m{2};
};

TEST(Threads, WaitForObjectsOfOtherThreads) {
  Shared shared(1);
  const std::string p = shared.m.write().program;
  EXPECT_TRUE(has(p, "  start_thread(thread_start);\n  start_thread(thread_start_2);\n  run();"))
      << p;
  EXPECT_TRUE(has(p, "Signal made_comm_3;\n")) << p;
  const size_t made = place_in(p, "run", "MPI_Comm_dup"),
               told = place_in(p, "run", "made_comm_3.give()");
  const size_t left = place_in(p, "run", "left_comm_3.await(2)"),
               freed = place_in(p, "run", "MPI_Comm_free");
  EXPECT_LT(made, told) << p;
  EXPECT_LT(told, left) << p;
  EXPECT_LT(left, freed) << p;
  ASSERT_NE(freed, std::string::npos);
  for (const auto& [name, call] :
       {std::pair("thread_start", "MPI_Send"), std::pair("thread_start_2", "MPI_Recv")}) {
    EXPECT_LT(place_in(p, name, "made_comm_3.await(1)"), place_in(p, name, call)) << p;
    EXPECT_LT(place_in(p, name, call), place_in(p, name, "left_comm_3.give()")) << p;
    EXPECT_NE(place_in(p, name, "left_comm_3.give()"), std::string::npos) << p;
  }
}

TEST(Threads, AreRefusedWhereTheTraceDoesNotSayWhichObject) {
  Shared shared(3);
  const auto out = generate(shared.m.builder.open(), {});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, base::ErrorCode::kUnsupported);
  EXPECT_TRUE(has(out.error().message, "comm#3")) << out.error().message;
}

TEST(Threads, HaveObjectsOfTheirOwn) {
  Maker m(2);
  ShapeWriter dup("MPI_Comm_dup");
  const uint32_t comm = m.builder.comm(3, {0, 1});
  const uint32_t made = m.builder.signature(dup.none().object(m.world).object(comm));
  m.group(m.all, {made}, 1);
  m.thread(1, {made});
  const std::string p = m.write().program;
  EXPECT_TRUE(has(p, "out(comms[3])")) << p;
  EXPECT_TRUE(has(p, "out(comms[64])")) << p;
  EXPECT_FALSE(has(p, "Signal")) << p;
}

TEST(Threads, HandOverRequests) {
  Maker m(2);
  ShapeWriter send("MPI_Isend"), wait("MPI_Wait");
  send.none().heap(-1, 0).integer(4).object(m.type).integer(me_plus_mod_size(1)).integer(5);
  const uint32_t made = m.builder.signature(send.object(m.world).new_request(0));
  wait.none().tag(FieldTag::kChanged).constant("MPI_REQUEST_NULL").request(made);
  const uint32_t done = m.builder.signature(wait.constant("MPI_STATUS_IGNORE"));
  const uint32_t receive = m.receive(me_plus_mod_size(1));
  m.group(m.all, {made, receive}, 4);
  m.thread(1, {done, done, done, done});
  const std::string p = m.write().program;
  EXPECT_TRUE(has(p, "await_stage(kNone, {0});")) << p;
  EXPECT_TRUE(has(p, "set_stage(kActive, {0});")) << p;
  EXPECT_LT(p.find("await_stage(kActive, {0});"), p.find("MPI_Wait(&request[0]")) << p;
  EXPECT_LT(p.find("MPI_Wait(&request[0]"), p.find("set_stage(kNone, {0});")) << p;
  EXPECT_TRUE(has(p, "MPI_Request request[1];")) << p;
}

// One thread starts what the other one has to wait for, and the other way round.
TEST(Threads, DoNotCompleteWhatTheyHaveStartedThemselves) {
  Maker m(2);
  ShapeWriter init("MPI_Send_init"), start("MPI_Start"), wait("MPI_Wait");
  init.none().heap(-1, 0).integer(4).object(m.type).integer(me_plus_mod_size(1)).integer(5);
  const uint32_t made = m.builder.signature(init.object(m.world).new_request(0));
  const uint32_t begun = m.builder.signature(start.none().request(made));
  const uint32_t done =
      m.builder.signature(wait.none().request(made).constant("MPI_STATUS_IGNORE"));
  m.group(m.all, {made, done, begun, done}, 1);
  m.thread(1, {begun, done, begun});
  const std::string p = m.write().program;
  EXPECT_TRUE(has(p, "await_stage(kStarted, {0});\n  MPI_Wait(&request[0]")) << p;
  EXPECT_TRUE(has(p, "await_stage(kIdle, {0});\n  MPI_Start(&request[0]")) << p;
  EXPECT_TRUE(has(p, "set_stage(kIdle, {0});")) << p;
}

TEST(Threads, TakeTurnsInCollectives) {
  Maker m(2);
  ShapeWriter barrier("MPI_Barrier");
  const uint32_t meet = m.builder.signature(barrier.none().object(m.world));
  m.group(m.all, {}, 1);
  m.thread(1, {meet, meet});
  m.thread(2, {meet});
  const std::string p = m.write().program;
  EXPECT_LT(place_in(p, "thread_start", "MPI_Barrier"),
            place_in(p, "thread_start", "turn_MPI_COMM_WORLD.give()"))
      << p;
  EXPECT_LT(place_in(p, "thread_start_2", "turn_MPI_COMM_WORLD.await(1)"),
            place_in(p, "thread_start_2", "MPI_Barrier"))
      << p;
}

}  // namespace
}  // namespace refrain::proxy
