#include "format/live/decode/receiver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "format/limits.h"
#include "format/posix.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"

namespace refrain::format::live {

namespace {

constexpr const char* kGood = nullptr;

double get_double(base::ByteReader& in) { return std::bit_cast<double>(in.u64()); }

bool is_rate(double ns_per_tick) { return ns_per_tick > 0 && ns_per_tick < 1e6; }

// A number that fits 32 bits; fails the reader otherwise.
uint32_t get_u32(base::ByteReader& in) {
  const uint64_t v = in.varint();
  if (v > UINT32_MAX) in.fail();
  return static_cast<uint32_t>(v);
}

}  // namespace

base::Status Receiver::receive(std::string_view bytes) {
  return blocks_.feed(bytes, [this](uint8_t kind, std::string_view b) { return record(kind, b); });
}

base::Status Receiver::finish() const {
  if (!blocks_.is_between_blocks()) return base::fail("the stream ends within a block");
  if (!end_) return base::fail("the stream has no end: its writer is gone");
  return base::Done{};
}

uint64_t Receiver::calls() const {
  uint64_t all = 0;
  for (const auto& [number, t] : threads_) all += t.calls();
  return all;
}

base::Status Receiver::record(uint8_t kind, std::string_view bytes) {
  const char* wrong = read(kind, bytes);
  if (wrong == kGood) return base::Done{};
  return base::fail(wrong, "block " + std::to_string(blocks_.blocks()) + " of the stream, kind " +
                               std::to_string(kind));
}

// What is wrong, or kGood.
const char* Receiver::read(uint8_t kind, std::string_view bytes) {
  const bool is_optional = kind >= kFirstOptional;
  if (is_optional && kind > static_cast<uint8_t>(StreamRecord::kPosix)) return kGood;
  if (end_) return "a record behind the end";
  if (hello_.has_value() == (kind == static_cast<uint8_t>(StreamRecord::kHello)))
    return hello_ ? "a second hello" : "a stream that does not begin with hello";
  if (kind < static_cast<uint8_t>(StreamRecord::kHello)) {
    std::string record(1, static_cast<char>(kind));
    record += bytes;
    const uint64_t before = tables_.unique.signatures().size();
    if (!tables_.read(record, hello_->header.rank, tables_of_)) return "no record of the tables";
    const bool is_signature = kind == static_cast<uint8_t>(spool::RecordKind::kSignature);
    return is_signature && tables_.unique.signatures().size() == before ? "a signature came again"
                                                                        : kGood;
  }
  base::ByteReader in(bytes);
  switch (static_cast<StreamRecord>(kind)) {
    case StreamRecord::kHello: return read_hello(in);
    case StreamRecord::kCalls: return read_calls(in);
    case StreamRecord::kStatistics: return read_statistics(in);
    case StreamRecord::kTimes: return read_times(in);
    case StreamRecord::kState: return read_state(in);
    case StreamRecord::kPart: return read_part(in);
    case StreamRecord::kSnapshot: return read_snapshot(in);
    case StreamRecord::kEnd: return read_end(in);
    case StreamRecord::kEarlyTimes: return read_early_times(in);
    case StreamRecord::kLooked:
      looked_ns_ = in.varint();
      return in.ok() && in.at_end() ? kGood : "no time of a look";
    case StreamRecord::kPosix: return read_posix(in);
  }
  return "a record of an unknown kind";
}

const char* Receiver::read_hello(base::ByteReader& in) {
  Hello hello;
  spool::Header& h = hello.header;
  hello.job = in.string(kMaxNameBytes);
  h.version = in.u32();
  h.run = in.u64();
  const uint64_t rank = in.varint(), size = in.varint();
  h.pid = static_cast<int32_t>(in.zigzag());
  const std::string_view host = in.string(sizeof h.host - 1);
  h.opened_realtime_ns = in.u64();
  h.opened_ticks = in.u64();
  h.init_ticks = in.u64();
  h.ns_per_tick = get_double(in);
  if (!in.ok() || !in.at_end() || size == 0 || size > kMaxRanks || rank >= size ||
      !is_rate(h.ns_per_tick))
    return "a hello that names no rank of a job";
  h.rank = static_cast<int32_t>(rank);
  h.world_size = static_cast<uint32_t>(size);
  std::memcpy(h.host, host.data(), host.size());
  hello_ = std::move(hello);
  state_.ns_per_tick = h.ns_per_tick;
  return kGood;
}

// Null: too many.
Receiver::Thread* Receiver::thread(uint64_t number) {
  const auto known = threads_.find(static_cast<uint32_t>(number));
  if (known != threads_.end() && number <= UINT32_MAX) return &known->second;
  if (threads_.size() >= kMaxThreads || number > UINT32_MAX) return nullptr;
  return &threads_[static_cast<uint32_t>(number)];
}

const char* Receiver::read_calls(base::ByteReader& in) {
  const uint64_t number = in.varint(), before = in.varint();
  Thread* const t = in.ok() ? thread(number) : nullptr;
  if (t == nullptr) return "too many threads";
  if (before != t->calls()) return "calls that are not the next ones";
  uint64_t left = std::min(kMaxCallsPerRecord, kMaxCalls - t->calls());
  while (!in.at_end()) {
    const uint64_t expected = in.varint(), next = in.varint();
    if (!in.ok() || expected > left) return "too many calls";
    left -= expected;
    for (uint64_t i = 0; i < expected; ++i) {
      if (t->builder.expected() == grammar::Builder::kNothing) return "no call was expected";
      t->builder.append_expected();
    }
    if (next == 0) break;
    if (next > tables_.unique.signatures().size()) return "a call without a signature";
    if (left-- == 0 || !t->builder.append(static_cast<uint32_t>(next - 1))) return "too many calls";
  }
  return in.ok() && in.at_end() ? kGood : "bad pairs of calls";
}

const char* Receiver::read_part(base::ByteReader& in) {
  const uint64_t number = in.varint();
  Thread* const t = in.ok() && in.at_end() ? thread(number) : nullptr;
  if (t == nullptr) return "no part of a thread";
  if (t->builder.length() == 0) return kGood;
  t->calls_before += t->builder.length();
  t->before.push_back(t->builder.finish());
  t->builder = grammar::Builder();
  return kGood;
}

const char* Receiver::read_snapshot(base::ByteReader& in) {
  const uint64_t number = in.varint(), calls = in.varint();
  Thread* const t = in.ok() && calls <= kMaxCalls ? thread(number) : nullptr;
  if (t == nullptr) return "no snapshot of a thread";
  auto g = grammar::read(in, grammar::Limits{tables_.unique.signatures().size(), kMaxCalls});
  uint64_t length = 0;
  if (!g.ok() || !in.at_end() || !grammar::checked_length(*g, &length) || length != calls ||
      calls < t->calls())
    return "a snapshot that is none";
  t->before.clear();
  if (calls > 0) t->before.push_back(std::move(*g));
  t->calls_before = calls;
  t->builder = grammar::Builder();
  return kGood;
}

const char* Receiver::read_change(base::ByteReader& in, DurationStats& d) {
  constexpr const char* kBad = "bad statistics";
  uint64_t counts[Histogram::kBuckets] = {};
  for (size_t i = 0; i < Histogram::kBuckets; ++i) counts[i] = d.histogram[i];
  d.count += static_cast<uint64_t>(in.zigzag());
  d.min_ns += static_cast<uint64_t>(in.zigzag());
  d.max_ns += static_cast<uint64_t>(in.zigzag());
  d.sum_ns = get_double(in);
  for (uint8_t n = in.u8(); n > 0 && in.ok(); --n) {
    const uint8_t bucket = in.u8();
    if (bucket >= Histogram::kBuckets) return kBad;
    counts[bucket] += static_cast<uint64_t>(in.zigzag());
  }
  if (!in.ok() || d.count > kMaxCalls * kMaxThreads || d.min_ns > d.max_ns || !(d.sum_ns >= 0) ||
      !std::isfinite(d.sum_ns))
    return kBad;
  size_t first = 0, end = Histogram::kBuckets;
  while (first < end && counts[first] == 0) ++first;
  while (end > first && counts[end - 1] == 0) --end;
  uint64_t all = 0;
  for (size_t i = first; i < end; ++i) {
    if (counts[i] > kMaxCalls * kMaxThreads - all) return kBad;
    all += counts[i];
  }
  d.histogram = first == end ? Histogram() : Histogram(first, end - first, counts + first);
  return kGood;
}

const char* Receiver::read_statistics(base::ByteReader& in) {
  const uint8_t which = in.u8();
  if (which > static_cast<uint8_t>(Statistic::kGaps)) return "statistics of something unknown";
  std::deque<DurationStats>& all = statistics_[which];
  const uint64_t signatures = tables_.unique.signatures().size();
  uint64_t next = 0;  // the first that may come
  while (!in.at_end()) {
    const uint64_t step = in.varint();
    if (!in.ok() || step == 0 || step > signatures - next) return "statistics of no signature";
    next += step;
    if (all.size() < next) all.resize(next);
    if (const char* wrong = read_change(in, all[next - 1]); wrong != kGood) return wrong;
  }
  return in.ok() ? kGood : "bad statistics";
}

const char* Receiver::read_state(base::ByteReader& in) {
  State s;
  const uint32_t state = get_u32(in);
  s.error = static_cast<int32_t>(in.zigzag());
  s.ns_per_tick = get_double(in);
  s.in_mpi_ns = in.varint();
  s.outside_ns = in.varint();
  s.duration_ns = in.varint();
  s.own_ns = in.varint();
  s.switches = in.varint();
  s.cost.memory_bytes = in.varint();
  s.cost.time_ns = in.varint();
  const uint64_t n = in.count(kMaxThreads);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    spool::Progress p;
    p.thread = get_u32(in);
    p.calls = in.varint();
    p.held_calls = in.varint();
    p.open_call = get_u32(in);
    p.last_call = get_u32(in);
    p.last_time_ns = in.varint();
    const auto t = threads_.find(p.thread);
    if (p.calls != (t == threads_.end() ? 0 : t->second.calls()))
      return "another number of calls than came";
    s.threads.push_back(p);
  }
  // Sums over ranks must fit.
  constexpr uint64_t kMaxNs = uint64_t{1} << 62;
  if (!in.ok() || !in.at_end() || state > static_cast<uint32_t>(spool::State::kLeft) ||
      !is_rate(s.ns_per_tick) ||
      std::max({s.in_mpi_ns, s.outside_ns, s.duration_ns, s.own_ns, s.switches, s.cost.memory_bytes,
                s.cost.time_ns}) > kMaxNs)
    return "bad state";
  s.state = static_cast<spool::State>(state);
  state_ = std::move(s);
  return kGood;
}

const char* Receiver::read_end(base::ByteReader& in) {
  const uint8_t reason = in.u8();
  const uint64_t all = in.varint(), bytes = in.varint();
  if (!in.ok() || !in.at_end() || reason > static_cast<uint8_t>(EndReason::kStopped))
    return "an end that is none";
  if (all != calls() || bytes != blocks_.payload_bytes())
    return "an end of a longer stream than this";
  end_ = static_cast<EndReason>(reason);
  return kGood;
}

const char* Receiver::read_posix(base::ByteReader& in) {
  std::vector<PosixUse> uses = read_posix_uses(in);
  if (!in.ok() || !in.at_end()) return "bad counts of POSIX functions";
  posix_ = std::move(uses);
  return kGood;
}

spool::RankSpool Receiver::now() const {
  spool::RankSpool out;
  out.header = hello_->header;
  out.header.state = state_.state;
  out.header.error = state_.error;
  out.header.ns_per_tick = state_.ns_per_tick;
  out.clock = tables_.clock;
  out.threads = state_.threads;
  RankRecord& r = out.record = tables_of_;
  r.rank = static_cast<uint64_t>(out.header.rank);
  r.host = out.header.host;
  r.signatures = tables_.unique.signatures();
  r.durations = statistics_[0];
  r.durations.resize(r.signatures.size());
  if (r.text.contains("gaps")) {
    r.gaps = statistics_[1];
    r.gaps.resize(r.signatures.size());
  }
  for (const auto& [number, t] : threads_) {
    if (t.calls() == 0) continue;
    if (t.before.empty()) {
      r.threads.push_back({number, t.builder.snapshot()});
      continue;
    }
    grammar::Concatenation all;
    for (const grammar::Grammar& g : t.before) all.add(g);
    if (t.builder.length() > 0) all.add(t.builder.snapshot());
    r.threads.push_back({number, all.finish()});
  }
  r.totals.in_mpi_ns = state_.in_mpi_ns;
  r.totals.outside_ns = state_.outside_ns;
  r.totals.own_ns = state_.own_ns;
  r.totals.switches = state_.switches;
  r.cost = state_.cost;
  r.knows_cost = state_.cost.memory_bytes > 0;
  r.duration_ns = state_.duration_ns;
  r.posix = posix_;
  spool::trim(r);
  tables_.own_pieces.put(r);
  return out;
}

spool::RankSpool Receiver::take() {
  spool::RankSpool out = now();
  out.timing = TimeSpec::of_run(out.record.text);
  if (!out.timing.has_times()) return out;
  uint64_t missing = 0;
  for (const auto& [number, t] : threads_) {
    if (t.calls() == 0) continue;
    spool::ThreadTimes& times = times_[number];
    times.thread = number;
    missing += t.calls() - times.calls;
    out.times.push_back(std::move(times));
  }
  times_.clear();
  if (missing > 0)
    spool::add_loss(out.record, {"times_missing", missing, out.header.rank,
                                 lost_times_ > 0 ? "more than the receiver keeps"
                                                 : "their times did not come"});
  return out;
}

}  // namespace refrain::format::live
