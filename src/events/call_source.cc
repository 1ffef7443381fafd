#include "events/call_source.h"

#include <utility>

namespace refrain::events {
namespace {

class CursorStream : public CallStream {
 public:
  explicit CursorStream(Cursor cursor) : cursor_(std::move(cursor)) {}
  bool next(ClockedCall& out) override {
    const Call* call = cursor_.next();
    if (call == nullptr) return false;
    out.signature = call->signature;
    out.seq = call->seq;
    out.begin_ns = call->begin_ns;
    out.end_ns = call->end_ns;
    return call->has_time;
  }

 private:
  Cursor cursor_;
};

}  // namespace

std::unique_ptr<CallStream> TraceCalls::open(RankReader& reader, uint32_t thread) {
  Result<Cursor> cursor = reader.cursor(thread);
  if (!cursor.ok()) return nullptr;
  return std::make_unique<CursorStream>(std::move(*cursor));
}

}  // namespace refrain::events
