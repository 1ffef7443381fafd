#include "replay/solo/message_source.h"

#include <cstring>
#include <utility>

namespace refrain::replay::solo {

using format::messages::EndReason;

base::Status MessageSource::open(const std::string& path) {
  auto reader = format::messages::LogReader::open_file(path, format::messages::LogAccess::kMapped);
  if (!reader.ok()) return reader.error();
  reader_.emplace(std::move(*reader));
  return base::Done{};
}

const MessageSource::Record* MessageSource::read_front() {
  if (!reader_ || is_at_end_) return nullptr;
  const auto more = reader_->next(record_);
  if (!more.ok()) error_ = more.error();
  if (more.ok() && *more && record_.kind == Kind::kEnd) end_ = record_;
  is_at_end_ = !more.ok() || !*more || end_;
  has_front_ = !is_at_end_;
  return has_front_ ? &record_ : nullptr;
}

const MessageSource::Record* MessageSource::next_of(uint32_t thread, uint64_t number) {
  for (const Record* r = front(); r != nullptr; r = front()) {
    if (r->kind == Kind::kTurn || r->thread != thread || r->number > number) return nullptr;
    if (r->number == number && r->kind == Kind::kWtime) {
      // Asked for before this call, and the program has not: it is left out.
      pop();
      continue;
    }
    pop();
    if (r->number == number) return r;
  }
  return nullptr;
}

// Values of the clock are not ordered with the calls of other threads: they need not wait for the
// thread that asked for them, which may be one that makes no calls.
void MessageSource::put_aside(const Record& r) {
  constexpr size_t kMost = 65536;
  if (r.thread >= aside_.size()) aside_.resize(r.thread + 1);
  auto& values = aside_[r.thread];
  if (values.size() >= kMost) values.pop_front();
  values.push_back({r.number, r.wtime});
}

std::optional<double> MessageSource::wtime(uint32_t thread, uint64_t number) {
  if (thread < aside_.size())
    for (auto& values = aside_[thread]; !values.empty();) {
      const auto [calls, seconds] = values.front();
      values.pop_front();
      if (calls >= number) return seconds;
    }
  const Record* const r = front();
  if (r == nullptr || r->kind != Kind::kWtime || r->thread != thread || r->number < number)
    return std::nullopt;
  pop();
  return r->wtime;
}

bool MessageSource::take(std::span<std::byte> out) {
  const auto taken = reader_->take(out);
  if (!taken.ok()) error_ = taken.error();
  return taken.ok() && *taken == out.size();
}

bool MessageSource::is_turn_of(uint32_t thread, const std::function<uint64_t(uint32_t)>& made) {
  for (const Record* r = front(); r != nullptr; r = front()) {
    if (r->kind == Kind::kWtime && r->thread != thread) {
      put_aside(*r);
    } else {
      // The thread before it has calls to make until then.
      if (r->kind != Kind::kTurn || made(r->left_thread) < r->number) break;
      turn_ = r->thread;
    }
    pop();
  }
  return !reader_ || is_at_end_ || thread == turn_;
}

std::string MessageSource::ended_early() {
  if (!reader_ || !is_at_end_ || error_) return {};
  if (!end_) return "the process died";
  switch (end_->end) {
    case EndReason::kFinished: return {};
    case EndReason::kLimit: return "its limit (--message-limit) was reached";
    case EndReason::kDisk:
      return "the file could not be written: " +
             std::string(std::strerror(static_cast<int>(end_->error_number)));
    case EndReason::kMemory: return "there was no memory";
  }
  return {};
}

}  // namespace refrain::replay::solo
