#include "events/untimed_calls.h"

#include <utility>

namespace refrain::events {
namespace {

class NumberedStream : public CallStream {
 public:
  explicit NumberedStream(Cursor cursor) : cursor_(std::move(cursor)) {}
  bool next(ClockedCall& out) override {
    const Call* call = cursor_.next();
    if (call == nullptr) return false;
    out.signature = call->signature;
    out.seq = call->seq;
    out.begin_ns = 2 * call->seq;
    out.end_ns = 2 * call->seq + 1;
    return true;
  }

 private:
  Cursor cursor_;
};

}  // namespace

std::unique_ptr<CallStream> UntimedCalls::open(RankReader& reader, uint32_t thread) {
  Result<Cursor> cursor = reader.cursor(thread);
  if (!cursor.ok()) return nullptr;
  return std::make_unique<NumberedStream>(std::move(*cursor));
}

}  // namespace refrain::events
