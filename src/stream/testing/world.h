// A job in memory, for tests of streams: its processes are objects of one thread, and the test
// decides who works and who dies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "refrain/coupling.h"
#include "stream/stream.h"

namespace refrain::stream {

// All messages of all processes. A send ends when it meets a receive, in order of both, as MPI's
// synchronous ones do.
class World {
 public:
  struct Message {
    const void* out = nullptr;
    void* in = nullptr;
    size_t bytes = 0, capacity = 0;
    bool done = false, cancelled = false;
  };
  struct Key {
    int from, to, tag;
    bool operator<(const Key& o) const {
      return std::tie(from, to, tag) < std::tie(o.from, o.to, o.tag);
    }
  };

  int add(const Key& key, bool is_send, Message m) {
    messages.push_back(m);
    const int number = static_cast<int>(messages.size()) - 1;
    (is_send ? sends : receives)[key].push_back(number);
    match(key);
    return number;
  }

  // Messages of one tag wait until they are released.
  void release_held() {
    const int tag = std::exchange(held_tag, -1);
    std::vector<Key> keys;
    for (const auto& [key, numbers] : sends)
      if (key.tag == tag) keys.push_back(key);
    for (const Key& key : keys) match(key);
  }

  void match(const Key& key) {
    if (key.tag == held_tag) return;
    std::vector<int>&out = sends[key], &in = receives[key];
    std::erase_if(in, [&](int n) { return messages[static_cast<size_t>(n)].cancelled; });
    while (!out.empty() && !in.empty()) {
      Message &from = messages[static_cast<size_t>(out[0])],
              &to = messages[static_cast<size_t>(in[0])];
      ASSERT_LE(from.bytes, to.capacity);
      std::memcpy(to.in, from.out, from.bytes);
      to.bytes = from.bytes;
      from.done = to.done = true;
      out.erase(out.begin());
      in.erase(in.begin());
    }
  }

  size_t open_receives() const {
    return static_cast<size_t>(
        std::count_if(messages.begin(), messages.end(),
                      [](const Message& m) { return m.in != nullptr && !m.done && !m.cancelled; }));
  }

  std::vector<Message> messages;
  std::map<Key, std::vector<int>> sends, receives;
  std::set<int> dead;
  int held_tag = -1;
  int64_t now_ns = 0;
};

// Thrown out of a call that would wait for ever: nobody else works while it waits.
struct Waits {};

class Rank : public Transport {
 public:
  Rank(World& world, int rank) : world_(world), rank_(rank) {}
  Request send(int rank, int tag, const void* data, size_t bytes) override {
    return world_.add({rank_, rank, tag}, true, {data, nullptr, bytes, 0});
  }
  Request receive(int rank, int tag, void* data, size_t capacity) override {
    return world_.add({rank, rank_, tag}, false, {nullptr, data, 0, capacity});
  }
  Test test(Request request, size_t* bytes) override {
    const World::Message& m = world_.messages[static_cast<size_t>(request)];
    if (!m.done) return Test::kOpen;
    if (bytes != nullptr) *bytes = m.bytes;
    return Test::kDone;
  }
  void cancel(Request request) override {
    world_.messages[static_cast<size_t>(request)].cancelled = true;
  }
  bool is_alive(int rank) override { return !world_.dead.contains(rank); }
  int64_t now_ns() override { return world_.now_ns; }
  void pause(int round) override {
    world_.now_ns += 60'000'000;
    if (round > 200) throw Waits();
  }

 private:
  World& world_;
  int rank_;
};

constexpr int kTag = 10;

inline StreamOptions options(Balance balance, size_t block = 64, int buffers = 3) {
  StreamOptions o;
  o.block_bytes = block;
  o.buffers = buffers;
  o.balance = balance;
  return o;
}

// A block that says who wrote it and which it is.
inline std::string block_of(int rank, int number) {
  return std::to_string(rank) + ":" + std::to_string(number);
}

inline int64_t write(Stream& s, const std::string& text, bool wait = false) {
  return s.write(text.data(), text.size(), wait);
}

// Text, "eagain", "end" or "died".
inline std::string read(Stream& s, bool wait = false, int* from = nullptr) {
  char data[64];
  const int64_t got = s.read(data, wait, from);
  if (got > 0) return std::string(data, static_cast<size_t>(got));
  return got == 0                ? "end"
         : got == REFRAIN_EAGAIN ? "eagain"
         : got == REFRAIN_EDIED  ? "died"
                                 : std::to_string(got);
}

// One writer (rank 0) and one reader (rank 1).
struct Pair {
  explicit Pair(int buffers = 3)
      : writer(zero, options(Balance::kNone, 64, buffers)),
        reader(one, options(Balance::kNone, 64, buffers)) {
    EXPECT_EQ(writer.open(1, kTag, false, true), 0);
    EXPECT_EQ(reader.open(0, kTag, true, false), 0);
  }
  World world;
  Rank zero{world, 0}, one{world, 1};
  Stream writer, reader;
};

// The block of a borrow(), or as read().
inline std::string borrow(Stream& s, const void** block, bool wait = false, int* from = nullptr) {
  const int64_t got = s.borrow(block, wait, from);
  if (got > 0) return std::string(static_cast<const char*>(*block), static_cast<size_t>(got));
  return got == 0 ? "end" : got == REFRAIN_EAGAIN ? "eagain" : std::to_string(got);
}

}  // namespace refrain::stream
