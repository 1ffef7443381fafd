// Streams of refrain/coupling.h, over stream.h.
#include <cstring>
#include <utility>

#include "stream/mpi/coupling.h"
#include "stream/stream.h"

struct refrain_stream {
  refrain::stream::StreamOptions options;
  std::unique_ptr<refrain::stream::Stream> stream;  // null before it is opened
  int pending = 0;  // a code that is told by the next call, because the last one had blocks
};

namespace refrain::stream {
namespace {

constexpr size_t kDefaultBlock = size_t{1} << 20, kMostBlock = size_t{1} << 30;
constexpr int kMostBuffers = 64;

int not_open() { return fail(REFRAIN_EINVALID, "the stream is not open"); }

// What the stream said, for refrain_coupling_error().
template <class T>
T told(const refrain_stream* s, T code) {
  if (code < 0) fail(static_cast<int>(code), s->stream->error());
  return code;
}

int open_rank(refrain_stream* s, int rank, bool reads, bool writes) {
  Coupling& job = *coupling();
  int size = 0;
  PMPI_Comm_size(job.universe, &size);
  if (rank < 0 || rank >= size || rank == job.rank)
    return fail(REFRAIN_EINVALID, "no stream can be opened with rank " + std::to_string(rank));
  // Both ends count the streams between them.
  const int tag = 2 * job.streams_with[rank];
  if (tag + 1 > job.most_tag)
    return fail(REFRAIN_EINVALID,
                "too many streams with rank " + std::to_string(rank) + ": MPI has no more tags");
  ++job.streams_with[rank];
  if (s->stream == nullptr) {
    s->options.seed = static_cast<uint64_t>(job.rank) + 1;
    s->stream = std::make_unique<Stream>(*job.transport, s->options);
    job.open_streams.insert(s);
  }
  return told(s, s->stream->open(rank, tag, reads, writes));
}

int open_ranks(refrain_stream* s, const int* ranks, int count, const char* mode) {
  if (coupling() == nullptr)
    return fail(REFRAIN_EINVALID, "the coupling has not started: MPI_Init comes first");
  const bool reads = mode != nullptr && std::strchr(mode, 'r') != nullptr;
  const bool writes = mode != nullptr && std::strchr(mode, 'w') != nullptr;
  if ((!reads && !writes) || std::strlen(mode) != static_cast<size_t>(reads) + writes)
    return fail(REFRAIN_EINVALID, "the mode of a stream is \"r\", \"w\" or \"rw\"");
  for (int i = 0; i < count; ++i)
    if (const int code = open_rank(s, ranks[i], reads, writes); code < 0) return code;
  return 0;
}

// Moves blocks until one has no bytes: how many had, or what the first one said.
template <class Move>
int for_blocks(refrain_stream* s, int blocks, Move move) {
  if (s->pending != 0) return std::exchange(s->pending, 0);
  for (int i = 0; i < blocks; ++i) {
    const int code = static_cast<int>(move(i));
    if (code > 0) continue;
    if (i > 0 && code != REFRAIN_EAGAIN) s->pending = code;
    return i > 0 ? i : code;
  }
  return blocks;
}

}  // namespace

void abandon_streams(Coupling& job) {
  for (refrain_stream* s : job.open_streams) {
    static_cast<void>(s->stream->close(Ending::kAbandoned));
    s->stream.reset();
  }
  job.open_streams.clear();
}

}  // namespace refrain::stream

using namespace refrain::stream;

refrain_stream* refrain_stream_new(size_t block_bytes, int balance) {
  if (balance < REFRAIN_BALANCE_NONE || balance > REFRAIN_BALANCE_ROUND_ROBIN) {
    fail(REFRAIN_EINVALID, "no such balance of a stream: " + std::to_string(balance));
    return nullptr;
  }
  if (block_bytes > kMostBlock) {
    fail(REFRAIN_EINVALID, "a block has at most 1 GiB");
    return nullptr;
  }
  auto* const s = new refrain_stream;
  s->options.block_bytes = block_bytes == 0 ? kDefaultBlock : block_bytes;
  s->options.balance = static_cast<Balance>(balance);
  return s;
}

int refrain_stream_set_buffers(refrain_stream* s, int buffers) {
  if (s->stream != nullptr || buffers < 1 || buffers > kMostBuffers)
    return fail(REFRAIN_EINVALID, "a stream has 1 to 64 buffers, set before it is opened");
  s->options.buffers = buffers;
  return 0;
}

int refrain_stream_open_map(refrain_stream* s, const refrain_map* map, const char* mode) {
  return open_ranks(s, map->ranks.data(), static_cast<int>(map->ranks.size()), mode);
}

int refrain_stream_open_rank(refrain_stream* s, int rank, const char* mode) {
  return open_ranks(s, &rank, 1, mode);
}

long refrain_stream_write_bytes(refrain_stream* s, const void* data, size_t bytes, int flags) {
  if (s->stream == nullptr) return not_open();
  return told(s, static_cast<long>(s->stream->write(data, bytes, (flags & REFRAIN_NONBLOCK) == 0)));
}

long refrain_stream_read_bytes(refrain_stream* s, void* data, int flags, int* from) {
  if (s->stream == nullptr) return not_open();
  return told(s, static_cast<long>(s->stream->read(data, (flags & REFRAIN_NONBLOCK) == 0, from)));
}

int refrain_stream_acquire(refrain_stream* s, void** block, int flags) {
  if (s->stream == nullptr) return not_open();
  return told(s, s->stream->acquire(block, (flags & REFRAIN_NONBLOCK) == 0));
}

long refrain_stream_commit(refrain_stream* s, void* block, size_t bytes, int flags) {
  if (s->stream == nullptr) return not_open();
  return told(s,
              static_cast<long>(s->stream->commit(block, bytes, (flags & REFRAIN_NONBLOCK) == 0)));
}

long refrain_stream_borrow(refrain_stream* s, const void** block, int flags, int* from) {
  if (s->stream == nullptr) return not_open();
  return told(s,
              static_cast<long>(s->stream->borrow(block, (flags & REFRAIN_NONBLOCK) == 0, from)));
}

int refrain_stream_release(refrain_stream* s, const void* block) {
  if (s->stream == nullptr) return not_open();
  return told(s, s->stream->release(block));
}

int refrain_stream_write(refrain_stream* s, const void* data, int blocks, int flags) {
  const char* const at = static_cast<const char*>(data);
  const size_t bytes = s->options.block_bytes;
  return for_blocks(s, blocks, [&](int i) {
    return refrain_stream_write_bytes(s, at + static_cast<size_t>(i) * bytes, bytes, flags);
  });
}

int refrain_stream_read(refrain_stream* s, void* data, int blocks, int flags) {
  char* const at = static_cast<char*>(data);
  return for_blocks(s, blocks, [&](int i) {
    // The first one is waited for; what else has come is taken along.
    return refrain_stream_read_bytes(s, at + static_cast<size_t>(i) * s->options.block_bytes,
                                     i == 0 ? flags : REFRAIN_NONBLOCK, nullptr);
  });
}

int refrain_stream_dead(const refrain_stream* s, int* ranks, int count) {
  if (s->stream == nullptr) return 0;
  const std::vector<int>& dead = s->stream->dead();
  for (size_t i = 0; i < dead.size() && static_cast<int>(i) < count; ++i) ranks[i] = dead[i];
  return static_cast<int>(dead.size());
}

int refrain_stream_close(refrain_stream* s) {
  int code = 0;
  if (s->stream != nullptr) {
    code = told(s, s->stream->close(Ending::kClosed));
    if (coupling() != nullptr) coupling()->open_streams.erase(s);
  }
  delete s;
  return code;
}
