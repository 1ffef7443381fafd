#include "replay/calibrate/measure.h"

#include <algorithm>

namespace refrain::replay {
namespace {

constexpr int kTokenTag = 2, kTimes = 4;
constexpr uint64_t kLeastRepeats = 5;
constexpr uint64_t kFullRepeats = 8192;  // bytes up to which nothing is left out
constexpr uint64_t kShortBurst = 4, kLongBurst = 24, kExchanges = 4, kManyCopies = 16;
constexpr int kFirstTrips = 100;

}  // namespace

Measure::Measure(const MeasureOptions& options, int me, std::FILE* out)
    : options_(options),
      me_(me),
      other_(1 - me),
      out_(out),
      buffer_(options.most_bytes, 'x'),
      second_(buffer_) {}

uint64_t Measure::repeats_of(uint64_t bytes) const {
  if (bytes <= kFullRepeats) return options_.repeats;
  const uint64_t fewer = options_.repeats * kFullRepeats / bytes;
  return std::min(options_.repeats, std::max(kLeastRepeats, fewer));
}

uint64_t Measure::long_ns(uint64_t bytes) const {
  constexpr uint64_t kLeast = 20'000;
  const double trip =
      static_cast<double>(empty_trip_ns_) + trip_ns_per_byte_ * static_cast<double>(bytes);
  return kLeast + static_cast<uint64_t>(4 * trip);
}

void Measure::token(int from) {
  char none = 0;
  if (me_ == from)
    MPI_Send(&none, 0, MPI_BYTE, other_, kTokenTag, MPI_COMM_WORLD);
  else
    MPI_Recv(&none, 0, MPI_BYTE, other_, kTokenTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// As programs do it: small messages by MPI_Send, those that wait by MPI_Isend, whose processor
// time can be seen.
void Measure::begin_one(uint64_t bytes, MPI_Request* request) {
  if (is_instant(bytes))
    MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, other_, kTag, MPI_COMM_WORLD);
  else
    MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, other_, kTag, MPI_COMM_WORLD,
              request);
}

void Measure::send_one(uint64_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  begin_one(bytes, &request);
  if (!is_instant(bytes)) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Measure::receive_one(uint64_t bytes) {
  MPI_Recv(second_.data(), static_cast<int>(bytes), MPI_BYTE, other_, kTag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

MPI_Request Measure::posted(uint64_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (me_ == 1)
    MPI_Irecv(second_.data(), static_cast<int>(bytes), MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &request);
  token(1);
  return request;
}

// The times that rank `owner` has measured become a line of rank 0.
void Measure::write(const char* test, uint64_t bytes, const std::string& more,
                    std::vector<uint64_t>& ns, int owner) {
  if (owner == 1) {
    if (me_ == 1)
      MPI_Send(ns.data(), static_cast<int>(ns.size()), MPI_UINT64_T, 0, kTimes, MPI_COMM_WORLD);
    else
      MPI_Recv(ns.data(), static_cast<int>(ns.size()), MPI_UINT64_T, 1, kTimes, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  }
  if (out_ == nullptr) return;
  std::string line = "{\"test\":\"" + std::string(test) + "\",\"bytes\":" + std::to_string(bytes) +
                     more + ",\"ns\":[";
  for (size_t i = 0; i < ns.size(); ++i) line += (i > 0 ? "," : "") + std::to_string(ns[i]);
  std::fputs((line + "]}\n").c_str(), out_);
}

void Measure::ping_pong(uint64_t bytes) {
  const uint64_t repeats = repeats_of(bytes);
  constexpr uint64_t kWarm = 3;
  std::vector<uint64_t> ns(repeats);
  for (uint64_t i = 0; i < repeats + kWarm; ++i) {
    const uint64_t begin = now();
    if (me_ == 0) {
      send_one(bytes);
      receive_one(bytes);
      if (i >= kWarm) ns[i - kWarm] = now() - begin;
    } else {
      receive_one(bytes);
      send_one(bytes);
    }
  }
  std::vector<uint64_t> sorted = ns;
  std::sort(sorted.begin(), sorted.end());
  // The least one: where cores are shared, most trips are as long as the others' turns, and delays
  // that follow from them would add up to minutes.
  uint64_t least = sorted.front();
  MPI_Bcast(&least, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  least = std::max<uint64_t>(1, least);
  if (empty_trip_ns_ == 0 || least < empty_trip_ns_) empty_trip_ns_ = least;
  // Of small messages, what a byte takes is lost in what a message takes.
  if (bytes >= kFullRepeats && least > empty_trip_ns_)
    trip_ns_per_byte_ = std::max(trip_ns_per_byte_, static_cast<double>(least - empty_trip_ns_) /
                                                        static_cast<double>(bytes));
  write("pingpong", bytes, "", ns, 0);
}

// The call that begins a send, where the receive is there.
void Measure::send(uint64_t bytes) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  for (uint64_t& one : ns) {
    MPI_Request request = posted(bytes);
    if (me_ == 0) {
      pass(long_ns(0));
      const uint64_t begin = now();
      begin_one(bytes, &request);
      one = now() - begin;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  write("send", bytes, "", ns, 0);
}

// The wait for a posted receive whose message has come.
void Measure::receive(uint64_t bytes) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  for (uint64_t& one : ns) {
    MPI_Request request = posted(bytes);
    if (me_ == 0) {
      send_one(bytes);
    } else {
      pass(long_ns(bytes));
      const uint64_t begin = now();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      one = now() - begin;
    }
  }
  write("receive", bytes, "", ns, 1);
}

// A receive that is posted after its message, or its request, has come.
void Measure::late(uint64_t bytes) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  for (uint64_t& one : ns) {
    token(1);
    if (me_ == 0) {
      send_one(bytes);
    } else {
      pass(long_ns(bytes));
      const uint64_t begin = now();
      receive_one(bytes);
      one = now() - begin;
    }
  }
  write("late", bytes, "", ns, 1);
}

// Messages one after another, until the answer to all is there.
void Measure::burst(uint64_t bytes, uint64_t count) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  char none = 0;
  for (uint64_t& one : ns) {
    if (me_ == 1)
      for (MPI_Request& request : requests)
        MPI_Irecv(second_.data(), static_cast<int>(bytes), MPI_BYTE, 0, kTag, MPI_COMM_WORLD,
                  &request);
    token(1);
    if (me_ == 0) {
      const uint64_t begin = now();
      for (MPI_Request& request : requests) begin_one(bytes, &request);
      MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
      MPI_Recv(&none, 0, MPI_BYTE, 1, kBack, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      one = now() - begin;
    } else {
      MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
      MPI_Send(&none, 0, MPI_BYTE, 0, kBack, MPI_COMM_WORLD);
    }
  }
  write("burst", bytes, ",\"count\":" + std::to_string(count), ns, 0);
}

// Both ranks send to their partner and receive from it at the same time, `count` times in a row.
void Measure::in_a_row(const char* test, uint64_t bytes, const Row& row) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  token(1);
  for (uint64_t& one : ns) {
    const uint64_t begin = now();
    for (uint64_t i = 0; i < row.count; ++i) {
      MPI_Request requests[2];
      const auto receive = [&] {
        MPI_Irecv(second_.data(), static_cast<int>(bytes), MPI_BYTE, row.partner, kTag,
                  MPI_COMM_WORLD, &requests[0]);
      };
      if (!row.is_late) receive();
      MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, row.partner, kTag,
                MPI_COMM_WORLD, &requests[1]);
      if (row.is_late) receive();
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    one = now() - begin;
  }
  write(test, bytes, ",\"count\":" + std::to_string(row.count), ns, 0);
}

// Both compute while a message is on its way; what the receiver still has to wait then.
void Measure::overlap(uint64_t bytes) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  for (uint64_t& one : ns) {
    MPI_Request request = posted(bytes);
    if (me_ == 0)
      MPI_Isend(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 1, kTag, MPI_COMM_WORLD,
                &request);
    pass(long_ns(bytes));
    const uint64_t begin = now();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one = now() - begin;
  }
  write("overlap", bytes, "", ns, 1);
}

// Until a send is complete whose receiver waits for it.
void Measure::taken(uint64_t bytes) {
  std::vector<uint64_t> ns(repeats_of(bytes));
  for (uint64_t& one : ns) {
    MPI_Request request = posted(bytes);
    if (me_ == 0) {
      pass(long_ns(0));
      const uint64_t begin = now();
      send_one(bytes);
      one = now() - begin;
      token(0);
    } else {
      token(0);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  write("taken", bytes, "", ns, 0);
}

// Powers of two and one size between each two, and both sides of the limits.
std::vector<uint64_t> Measure::sizes() const {
  std::vector<uint64_t> out;
  for (uint64_t bytes = 1; bytes <= options_.most_bytes; bytes *= 2) {
    out.push_back(bytes);
    if (bytes >= 8 && bytes + bytes / 2 <= options_.most_bytes) out.push_back(bytes + bytes / 2);
  }
  out.push_back(options_.most_bytes);
  for (const uint64_t limit : {instant_, limit_}) {
    if (limit >= options_.most_bytes) continue;
    if (limit > 0) out.push_back(limit);
    out.push_back(limit + 1);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Measure::of_size(uint64_t bytes) {
  ping_pong(bytes);
  send(bytes);
  late(bytes);
  const uint64_t copies = bytes <= kFullRepeats ? kManyCopies : kExchanges;
  in_a_row("exchange", bytes, {other_, kExchanges, false});
  in_a_row("self", bytes, {me_, copies, false});
  in_a_row("self_late", bytes, {me_, copies, true});
  if (!is_eager(bytes)) return overlap(bytes);
  receive(bytes);
  if (!is_instant(bytes)) taken(bytes);
  burst(bytes, kShortBurst);
  burst(bytes, kLongBurst);
}

// Both ranks do what rank 0 finds.
bool Measure::is_another(uint64_t round, uint64_t begin_ns) {
  constexpr uint64_t kLongEnough = 5'000'000'000;
  int more = round == 0 || (round < options_.rounds && now() - begin_ns < kLongEnough) ? 1 : 0;
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return more != 0;
}

void Measure::all() {
  std::FILE* const nobody = nullptr;
  const MeasureOptions few{options_.most_bytes, kLeastRepeats, 1};
  // How long messages take, so that delays are long enough; nobody keeps these.
  Measure first(few, me_, nobody);
  first.limit_ = first.instant_ = 0;
  // Again and again, as the first trips of a process are slow, and one that waits for a core is a
  // thousand times longer.
  for (int i = 0; i < kFirstTrips; ++i) first.ping_pong(0);
  first.ping_pong(options_.most_bytes);
  empty_trip_ns_ = first.empty_trip_ns_;
  trip_ns_per_byte_ = first.trip_ns_per_byte_;
  find_limits();
  const uint64_t begin = now();
  for (uint64_t round = 0; is_another(round, begin); ++round)
    for (const uint64_t bytes : sizes()) of_size(bytes);
}

}  // namespace refrain::replay
