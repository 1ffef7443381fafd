// Prints which ranks send most with MPI_Send, MPI_Isend and the other sends of one message, and to
// how many partners: who_sends run.rfn

#include <cstdint>
#include <cstdio>
#include <set>

#include <refrain/calls.h>
#include <refrain/trace.h>

namespace {

struct Sent {
  uint64_t messages = 0, bytes = 0;
  std::set<refrain::Rank> to;
};

// Adds the message of a call, if it sends one: sends have a destination, and a count of elements.
void add(const refrain::Trace& trace, const refrain::Call& call, Sent& sent) {
  const refrain::Value* const dest = call.signature->find("dest");
  const refrain::Value* const count = call.signature->find("count");
  const refrain::Value* const type = call.signature->find("datatype");
  if (dest == nullptr || count == nullptr || type == nullptr || !dest->is_integer()) return;
  // A rank in the call's communicator; MPI_PROC_NULL is a constant.
  const auto comm = trace.communicator(call.signature->context, call.rank);
  const refrain::Rank peer = comm ? comm->peer(dest->number) : dest->number;
  const auto datatype = trace.datatype(type->definition());
  ++sent.messages;
  if (datatype && datatype->size_bytes > 0)
    sent.bytes += static_cast<uint64_t>(count->integer_or(0) * datatype->size_bytes);
  sent.to.insert(peer);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: who_sends run.rfn\n");
    return 2;
  }
  const refrain::Result<refrain::Trace> trace = refrain::Trace::open(argv[1]);
  if (!trace.ok()) {
    std::fprintf(stderr, "who_sends: %s\n", trace.error().to_string().c_str());
    return static_cast<int>(trace.error().code);
  }
  for (refrain::Rank rank = 0; rank < trace->rank_count(); ++rank) {
    refrain::RankReader reader(*trace, rank);
    Sent sent;
    for (const refrain::Location& location : trace->locations(rank)) {
      const refrain::Status walked =
          reader.for_each_call(location.thread, [&](const refrain::Call& call) {
            add(*trace, call, sent);
            return true;
          });
      if (!walked.ok()) return 1;
    }
    std::printf("rank %lld: %llu messages, %llu bytes, to %zu ranks\n",
                static_cast<long long>(rank), static_cast<unsigned long long>(sent.messages),
                static_cast<unsigned long long>(sent.bytes), sent.to.size());
  }
  return 0;
}
