#include "format/live/encode/feeder.h"

#include <chrono>
#include <utility>

namespace refrain::format::live {

namespace {

class ToStream final : public spool::CursorSink {
 public:
  explicit ToStream(StreamWriter& out) : out_(out) {}
  void table(std::string_view record) override { out_.table(record); }
  void calls(uint32_t thread, std::span<const uint32_t> terminals) override {
    out_.calls(thread, terminals);
    if (out_.memory_bytes(thread) > Feeder::kMaxGrammarBytes) out_.part(thread);
  }
  bool snapshot(uint32_t thread, uint64_t n, const grammar::Grammar& grammar) override {
    return out_.snapshot(thread, n, grammar);
  }
  void times(uint32_t thread, const TimeBlock& block, std::string_view bytes) override {
    out_.times(thread, block, bytes);
  }
  void early_times(uint32_t thread, uint64_t first_call,
                   std::span<const TimedCall> calls) override {
    out_.early_times(thread, first_call, calls);
  }

 private:
  StreamWriter& out_;
};

uint64_t realtime_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

// No two ranks of a job, and hardly two jobs, have the same.
uint64_t writer_of(const spool::Header& h) {
  return h.run ^ (static_cast<uint64_t>(h.rank) << 40) ^ static_cast<uint64_t>(h.pid);
}

}  // namespace

struct Feeder::Impl {
  Impl(spool::Cursor c, const std::string& job)
      : cursor(std::move(c)), out(writer_of(cursor.header())), sink(out) {
    out.hello({job, cursor.header()});
  }

  base::Status look() {
    const uint64_t now_ns = realtime_ns();
    const auto is_new = cursor.look(sink);
    if (!is_new.ok()) return is_new.error();
    if (*is_new) put_state(now_ns);
    return base::Done{};
  }

  void put_state(uint64_t looked_ns) {
    if (cursor.keeps_times()) out.looked(looked_ns);
    out.statistics(Statistic::kDurations, cursor.durations());
    if (!cursor.gaps().empty()) out.statistics(Statistic::kGaps, cursor.gaps());
    out.posix(cursor.posix());
    State s;
    s.state = cursor.header().state;
    s.error = cursor.header().error;
    s.ns_per_tick = cursor.header().ns_per_tick;
    s.in_mpi_ns = cursor.totals().in_mpi_ns;
    s.outside_ns = cursor.totals().outside_ns;
    s.duration_ns = cursor.duration_ns();
    if (const spool::RunEnd* const end = cursor.run_end(); end != nullptr) put_end(*end, s);
    s.threads = cursor.threads();
    out.state(s);
  }

  // The receiver takes the pieces of work out of the time outside of MPI.
  void put_end(const spool::RunEnd& end, State& s) const {
    uint64_t pieces = 0;
    for (const spool::Progress& p : cursor.threads())
      pieces += cursor.own_pieces().sum(p.thread, p.calls);
    s.in_mpi_ns = end.totals.in_mpi_ns;
    s.outside_ns = end.totals.outside_ns + pieces;
    s.own_ns = end.totals.own_ns - std::min(end.totals.own_ns, pieces);
    s.duration_ns = end.duration_ns;
    s.switches = end.totals.switches;
    s.cost = end.totals.cost;
  }

  spool::Cursor cursor;
  StreamWriter out;
  ToStream sink;
};

Feeder::Feeder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Feeder::Feeder(Feeder&&) noexcept = default;
Feeder& Feeder::operator=(Feeder&&) noexcept = default;
Feeder::~Feeder() = default;

base::Result<Feeder> Feeder::open(const std::string& path, const std::string& job) {
  auto cursor = spool::Cursor::open(path);
  if (!cursor.ok()) return cursor.error();
  return Feeder(std::make_unique<Impl>(std::move(*cursor), job));
}

base::Result<std::string> Feeder::look() {
  if (const base::Status done = impl_->look(); !done.ok()) return done.error();
  return impl_->out.take();
}

base::Result<std::string> Feeder::finish(EndReason reason) {
  if (const base::Status done = impl_->look(); !done.ok()) return done.error();
  impl_->cursor.last_times(impl_->sink);
  impl_->out.end(reason);
  return impl_->out.take();
}

void Feeder::tell_taken() { impl_->cursor.tell_taken(); }
const spool::Cursor& Feeder::cursor() const { return impl_->cursor; }
uint64_t Feeder::bytes() const { return impl_->out.bytes(); }

}  // namespace refrain::format::live
