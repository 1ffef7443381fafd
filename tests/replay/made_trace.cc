// Writes a trace of calls that no MPI at hand makes by itself: what the tests of replays begin
// with.
//
//   made_trace reordered|long_tags|waits|thread_waits|buffers|files|spawn_fails|polled_parts
//              OUT.rfn [PATH]
//
// reordered: MPI_Cart_create with reorder has turned the order of 4 ranks around.
// long_tags: messages with the largest int as their tag, and some below it.
// waits:     two ranks receive first, and nobody sends.
// thread_waits: rank 0 receives in a second thread, and nobody sends.
// buffers:   a ring of sends before its receives.
// files:     two ranks read 100 bytes at 4000 of PATH, which the program found, and delete it.
// spawn_fails: MPI_Comm_spawn, which failed on two ranks, and a barrier behind it.
// polled_parts: rank 0 asks 200000 times for a part of a message that is not there yet.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "format/encode/encode.h"
#include "grammar/builder.h"
#include "reader/test_trace.h"
#include "replay/plan/test_calls.h"

namespace refrain::replay::plan {
namespace {

using reader::ShapeWriter;

void begin(TestCalls& calls, Rank rank) {
  ShapeWriter s("MPI_Init");
  calls.add(rank, s.none().none().none());
}

void put(ShapeWriter& s, const std::vector<int64_t>& values) {
  s.array(values.size());
  for (const int64_t v : values) s.repeat(1).integer(v);
}

void reordered(TestCalls& calls) {
  const std::vector<int64_t> order = {3, 2, 1, 0};
  const uint32_t grid = calls.builder().comm(1, order);
  for (Rank rank = 0; rank < 4; ++rank) {
    begin(calls, rank);
    ShapeWriter make("MPI_Cart_create");
    make.none().object(calls.world()).integer(1);
    put(make, {4});
    put(make, {1});
    calls.add(rank, make.integer(1).object(grid));
    const int64_t me = 3 - rank;
    ShapeWriter ask("MPI_Comm_rank");
    calls.add(rank, ask.none().object(grid).integer(me));
    ShapeWriter shift("MPI_Cart_shift");
    shift.none().object(grid).integer(0).integer(1).integer((me + 3) % 4).integer((me + 1) % 4);
    calls.add(rank, shift);
    ShapeWriter exchange("MPI_Sendrecv");
    exchange.none().none().integer(8).object(calls.type()).integer((me + 1) % 4).integer(7);
    exchange.none().integer(8).object(calls.type()).integer((me + 3) % 4).integer(7).object(grid);
    calls.add(rank, exchange.constant("MPI_STATUS_IGNORE"));
  }
}

void long_tags(TestCalls& calls) {
  for (Rank rank = 0; rank < 2; ++rank) begin(calls, rank);
  for (const int64_t tag : {int64_t{INT32_MAX}, int64_t{INT32_MAX} - 1, int64_t{3}}) {
    calls.message(0, "MPI_Send", 8, 1, tag);
    calls.message(1, "MPI_Recv", 8, 0, tag);
  }
}

void waits(TestCalls& calls) {
  for (Rank rank = 0; rank < 2; ++rank) {
    begin(calls, rank);
    calls.message(rank, "MPI_Recv", 8, 1 - rank, 5);
    calls.message(rank, "MPI_Send", 8, 1 - rank, 5);
  }
}

void thread_waits(TestCalls& calls) {
  begin(calls, 0);
  begin(calls, 1);
  calls.message(0, "MPI_Recv", 8, 1, 5);
}

// The call that stands before the last one of rank 0 is that of another thread.
void move_to_thread(format::TraceData& data) {
  format::Group& group = data.groups.front();
  grammar::Builder first, second;
  first.append(0);
  first.append(2);
  second.append(1);
  data.grammars[group.locations.front().grammar] = first.finish();
  data.grammars.push_back(second.finish());
  group.locations.push_back({1, static_cast<uint32_t>(data.grammars.size() - 1)});
}

void buffers(TestCalls& calls) {
  for (Rank rank = 0; rank < 4; ++rank) {
    begin(calls, rank);
    for (int i = 0; i < 10; ++i) {
      calls.message(rank, "MPI_Send", 16, (rank + 1) % 4, 5);
      calls.message(rank, "MPI_Recv", 16, (rank + 3) % 4, 5);
    }
  }
}

void files(TestCalls& calls, const std::string& path) {
  base::ByteWriter id;
  id.put_zigzag(0);
  const uint32_t file =
      calls.builder().define(format::DefinitionKind::kFile, id.take(), {calls.world()});
  for (Rank rank = 0; rank < 2; ++rank) {
    begin(calls, rank);
    ShapeWriter open("MPI_File_open"), close("MPI_File_close"), remove("MPI_File_delete");
    open.none().object(calls.world()).string(format::FieldTag::kString, path);
    calls.add(rank, open.constant("MPI_MODE_RDWR").none().object(file));
    for (const char* name : {"MPI_File_read_at", "MPI_File_write_at"}) {
      ShapeWriter move(name);
      move.none().object(file).integer(4000).none().integer(100).object(calls.type());
      calls.add(rank, move.constant("MPI_STATUS_IGNORE"));
    }
    calls.add(rank, close.none().object(file));
    if (rank != 0) continue;
    calls.add(rank, remove.none().string(format::FieldTag::kString, path).none());
  }
}

void spawn_fails(TestCalls& calls) {
  for (Rank rank = 0; rank < 2; ++rank) {
    begin(calls, rank);
    ShapeWriter spawn("MPI_Comm_spawn");
    spawn.none().string(format::FieldTag::kString, "/bin/false").none().integer(1);
    spawn.constant("MPI_INFO_NULL").integer(0).object(calls.world()).constant("MPI_COMM_NULL");
    spawn.constant("MPI_ERRCODES_IGNORE").tag(format::FieldTag::kResult).array(2).repeat(1);
    calls.add(rank, spawn.integer(50).repeat(1).constant("MPI_ERR_SPAWN"));
    calls.barrier(rank);
  }
}

void polled_parts(TestCalls& calls) {
  constexpr int kQuestions = 200'000;
  const auto init = [&](Rank rank, const char* name) {
    ShapeWriter s(name);
    s.none().none().integer(2).integer(4).object(calls.type()).integer(1 - rank).integer(5);
    return calls.add(rank, s.object(calls.world()).constant("MPI_INFO_NULL").new_request(0));
  };
  const auto start = [&](Rank rank, uint32_t request) {
    ShapeWriter s("MPI_Start");
    calls.add(rank, s.none().request(request));
  };
  for (Rank rank = 0; rank < 2; ++rank) begin(calls, rank);
  const uint32_t receive = init(0, "MPI_Precv_init"), send = init(1, "MPI_Psend_init");
  start(0, receive);
  for (int i = 0; i < kQuestions; ++i) {
    ShapeWriter ask("MPI_Parrived");
    calls.add(0, ask.none().request(receive).integer(1).integer(0));
  }
  start(1, send);
  for (const int64_t part : {0, 1}) {
    ShapeWriter ready("MPI_Pready");
    calls.add(1, ready.none().integer(part).request(send));
  }
  for (Rank rank = 0; rank < 2; ++rank) {
    ShapeWriter wait("MPI_Wait");
    wait.none().request(rank == 0 ? receive : send);
    calls.add(rank, wait.constant("MPI_STATUS_IGNORE"));
  }
}

}  // namespace
}  // namespace refrain::replay::plan

int main(int argc, char** argv) {
  using namespace refrain;
  using namespace refrain::replay::plan;
  if (argc < 3) return 2;
  const std::string what = argv[1];
  TestCalls calls(what == "reordered" || what == "buffers" ? 4 : 2);
  if (what == "reordered") reordered(calls);
  if (what == "long_tags") long_tags(calls);
  if (what == "waits") waits(calls);
  if (what == "thread_waits") thread_waits(calls);
  if (what == "buffers") buffers(calls);
  if (what == "files") files(calls, argc > 3 ? argv[3] : "data");
  if (what == "spawn_fails") spawn_fails(calls);
  if (what == "polled_parts") polled_parts(calls);
  reader::TraceBuilder& made = calls.finish();
  if (what == "thread_waits") move_to_thread(made.data());
  const auto bytes = format::encode(made.data());
  if (!bytes.ok()) return std::fprintf(stderr, "%s\n", bytes.error().to_string().c_str()), 1;
  return format::write_file_atomically(argv[2], *bytes).ok() ? 0 : 1;
}
