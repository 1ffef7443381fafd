#include "events/by_rank/message_ends.h"

#include <algorithm>
#include <utility>

namespace refrain::events {

// The ends of one channel: its sends, then its receives, each in the order of the calls.
// MPI does not let messages of one communicator, source, destination and tag overtake each other.
// So the n-th send of a channel is received by its n-th receive, and a number is all that ties two
// ends together.
class MessageEnds::Channel {
 public:
  Channel(uint64_t id, const Post& first) : id_(id), first_(first) {}

  bool has(const Post& post) const { return first_.channel() == post.channel(); }
  bool has_tag(const Post& post) const {
    return first_.comm == post.comm && first_.tag == post.tag;
  }

  // Nothing for what is no end.
  std::optional<Numbered> add(const Post& post) {
    if (post.kind == Kind::kSend) {
      if (post.in_window) sent_.add(sends_);
      return Numbered{id_, sends_++, post.seq, post.value, 1, post.is_sized};
    }
    // A receive counts as received where its call is in the window, or the call that completes it
    // (kUse).
    if (post.kind == Kind::kReceive) {
      last_ = receives_++;
      if (post.in_window) received_.add(last_);
      return Numbered{id_, last_, post.seq, 0, 2, false};
    }
    received_.add(last_);
    return std::nullopt;
  }

  // What both ends have in the window is whole. It goes in front of the channel's ends, so that
  // answer() knows it before it meets them.
  Numbered front() const {
    return {id_,  std::max(sent_.first, received_.first), std::min(sent_.end, received_.end), 0, 0,
            false};
  }

 private:
  struct Range {  // of numbers
    uint64_t first = UINT64_MAX, end = 0;
    void add(uint64_t n) { first = std::min(first, n), end = std::max(end, n + 1); }
  };
  uint64_t id_;
  Post first_;
  uint64_t sends_ = 0, receives_ = 0;
  uint64_t last_ = 0;  // number of the receive that was met last
  Range sent_, received_;
};

MessageEnds::MessageEnds(std::string folder, size_t sort_bytes, Wanted wanted)
    : folder_(std::move(folder)),
      sort_bytes_(sort_bytes),
      wanted_(wanted),
      posts_(std::make_unique<ExternalSort<Post>>(folder_, sort_bytes)) {}

// After a first error nothing more is sorted; next() and status() give it to the caller.
void MessageEnds::add(const Post& post) {
  if (status_.ok()) status_ = posts_->add(post);
}

// The number of the question is given back: answers come in the order in which questions were
// asked.
uint64_t MessageEnds::post(const ChannelKey& channel, Post post) {
  post.tag = channel.tag;
  post.source = channel.source;
  post.dest = channel.dest;
  post.comm = channel.comm;
  add(post);
  return post.seq;
}

uint64_t MessageEnds::send(const ChannelKey& channel, bool in_window,
                           std::optional<uint64_t> bytes) {
  Post out;
  out.seq = seq_++;
  out.value = bytes.value_or(0);
  out.in_window = in_window;
  out.is_sized = bytes.has_value();
  return post(channel, out);
}

uint64_t MessageEnds::receive(const ChannelKey& channel, bool in_window) {
  Post out;
  out.kind = Kind::kReceive;
  out.seq = seq_++;
  out.in_window = in_window;
  return post(channel, out);
}

void MessageEnds::use(const ChannelKey& channel, uint64_t receive) {
  Post out;
  out.kind = Kind::kUse;
  out.seq = receive;
  post(channel, out);
}

// First sorting: by channel. Ends of a channel lie behind each other then, and one channel at a
// time is in memory, however many there are.
base::Status MessageEnds::give_numbers(ExternalSort<Numbered>& numbered) {
  std::optional<Channel> channel;
  uint64_t channels = 0;
  const auto close = [&]() -> base::Status {
    return channel && wanted_ == Wanted::kAll ? numbered.add(channel->front())
                                              : base::Status(base::Done{});
  };
  while (const Post* post = posts_->next()) {
    if (!channel || !channel->has(*post)) {
      if (const base::Status done = close(); !done.ok()) return done;
      tags_ += channel && channel->has_tag(*post) ? 0 : 1;
      channel.emplace(channels++, *post);
    }
    const std::optional<Numbered> end = channel->add(*post);
    if (!end) continue;
    const base::Status done =
        wanted_ == Wanted::kAll
            ? numbered.add(*end)
            : answers_->add({end->seq, end->number, end->bytes, false, end->is_sized});
    if (!done.ok()) return done;
  }
  return posts_->status().ok() ? close() : posts_->status();
}

// A size goes on until another one is said.
// Second sorting: by channel and number, where a send comes right before its receive and hands its
// size on. A third one brings the answers into the order of the questions.
base::Status MessageEnds::answer(ExternalSort<Numbered>& numbered) {
  if (const base::Status done = numbered.finish(); !done.ok()) return done;
  Numbered front;
  Answer said;
  while (const Numbered* end = numbered.next()) {
    if (end->kind == 0) {
      front = *end;
      said = {};
      continue;
    }
    if (end->is_sized) said.bytes = end->bytes, said.is_sized = true;
    said.seq = end->seq;
    said.number = end->number;
    said.is_whole = said.number >= front.number && said.number < front.seq;
    if (const base::Status done = answers_->add(said); !done.ok()) return done;
  }
  return numbered.status();
}

base::Status MessageEnds::join() {
  if (!status_.ok()) return status_;
  status_ = posts_->finish();
  answers_ = std::make_unique<ExternalSort<Answer>>(folder_, sort_bytes_);
  ExternalSort<Numbered> numbered(folder_, sort_bytes_);
  if (status_.ok()) status_ = give_numbers(numbered);
  // Its files are not needed any more; two sortings at a time are on the disk at most.
  posts_.reset();
  if (status_.ok()) status_ = answer(numbered);
  if (status_.ok()) status_ = answers_->finish();
  return status_;
}

EndAnswer MessageEnds::next() {
  const Answer* one = status_.ok() ? answers_->next() : nullptr;
  if (one == nullptr) {
    if (status_.ok() && answers_->status().ok())
      // More is asked than was announced: both walks over a trace must see the same calls.
      status_ = base::fail("the calls of the trace changed while it was read");
    return {};
  }
  EndAnswer out{one->number, one->is_whole, std::nullopt};
  if (one->is_sized) out.sent_bytes = one->bytes;
  return out;
}

base::Status MessageEnds::rewind() {
  if (status_.ok()) status_ = answers_->rewind();
  return status_;
}

const base::Status& MessageEnds::status() const {
  return !status_.ok() || answers_ == nullptr ? status_ : answers_->status();
}

}  // namespace refrain::events
