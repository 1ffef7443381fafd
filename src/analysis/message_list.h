// Messages for a picture of a run, matched by the analysis of waiting: messages that cannot be
// found by counting calls (open_ends.h), and those with the longest waits.
//
//   MessageCollector collector(ends, options);
//   waits::Options how; how.observer = &collector;
//   waits::wait_states(trace, calls, how);
//   MessageList list = collector.take();
//
// The list is bounded: if there are more than `most` messages, one half is those with the longest
// waits, and the other half is every n-th message, spread evenly over the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/observer.h"
#include "events/open_ends.h"

namespace refrain::analysis {

struct ListedMessage {
  SeenCall sent, posted, done;
  uint64_t wait_ns = 0;
};

struct MessageListOptions {
  size_t most = 60'000;
  size_t most_late = 200;
  bool has_waits = true;  // false: the times are not real
};

struct MessageList {
  // By receiver and number of the receive.
  std::vector<ListedMessage> listed;
  uint64_t uncounted = 0;  // that counting cannot find; more than are listed where they are many
  std::vector<ListedMessage> late;  // of all messages, by wait_ns, the longest first
};

// The `most` with the longest waits. A message may be offered again with a longer wait.
class LongestWaits {
 public:
  explicit LongestWaits(size_t most) : most_(2 * most), kept_(most) {}
  bool wants(uint64_t wait_ns) const {
    return wait_ns > 0 && most_ > 0 && (heap_.size() < most_ || wait_ns > heap_.front().wait_ns);
  }
  void add(const ListedMessage& message);
  std::vector<ListedMessage> take();

 private:
  size_t most_, kept_;
  std::vector<ListedMessage> heap_;  // the shortest wait first
};

class MessageCollector : public Observer {
 public:
  // Refers to `ends`.
  MessageCollector(const events::OpenEnds& ends, const MessageListOptions& options)
      : ends_(ends),
        most_(options.most),
        late_(options.has_waits ? options.most_late : 0),
        longest_(options.has_waits ? options.most / 2 : 0) {}

  bool wants(const SeenMessage& message) override;
  void ends(const SeenMessage& message, const SeenCall& sent, const SeenCall& posted,
            const SeenCall& done) override;
  void wait(Rank, uint32_t, uint64_t, uint64_t) override {}

  MessageList take();

 private:
  const events::OpenEnds& ends_;
  size_t most_;
  MessageList out_;
  LongestWaits late_, longest_;
  std::vector<ListedMessage> even_;  // every stride_-th
  uint64_t stride_ = 1;
  // Of the message that is told now.
  bool is_late_ = false, is_long_ = false, is_even_ = false;
};

}  // namespace refrain::analysis
