// What a stream needs of the world: messages that are under way, who lives, and time. MPI is one
// transport (mpi/), a test has another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::stream {

class Transport {
 public:
  // A message under way; the transport's number for it.
  using Request = int;
  static constexpr Request kNone = -1;

  enum class Test { kOpen, kDone, kFailed };

  virtual ~Transport() = default;

  // Begin to send or to receive; kNone when that fails. The memory stays untouched until test() or
  // cancel() says that the request has ended. A send ends only when the receiver takes it: so what
  // is under way is bounded by the buffers of both ends. Messages between two processes with one
  // tag keep their order.
  virtual Request send(int rank, int tag, const void* data, size_t bytes) = 0;
  virtual Request receive(int rank, int tag, void* data, size_t capacity) = 0;

  // Unless kOpen the request has ended. *bytes (unless null) becomes the size of what was received.
  virtual Test test(Request request, size_t* bytes) = 0;
  // Ends a receive that nobody will answer.
  virtual void cancel(Request request) = 0;

  // False when the process certainly is not there any more.
  virtual bool is_alive(int rank) = 0;

  // Time of some clock that never goes back.
  virtual int64_t now_ns() = 0;
  // Lets others work; `round` counts the calls in a row.
  virtual void pause(int round) = 0;
};

}  // namespace refrain::stream
