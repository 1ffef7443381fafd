#include "analysis/message_list.h"

#include <algorithm>
#include <tuple>

namespace refrain::analysis {
namespace {

auto place(const SeenCall& call) { return std::tie(call.rank, call.thread, call.seq); }

// One call may send, or post, several messages: MPI_Startall.
auto ends_of(const ListedMessage& m) {
  return std::tuple_cat(place(m.posted), place(m.sent), place(m.done));
}

bool is_shorter(const ListedMessage& a, const ListedMessage& b) {
  return a.wait_ns != b.wait_ns ? a.wait_ns > b.wait_ns : ends_of(a) < ends_of(b);
}

void keep_every_second(std::vector<ListedMessage>& all) {
  size_t kept = 0;
  for (size_t i = 0; i < all.size(); i += 2) all[kept++] = all[i];
  all.resize(kept);
}

}  // namespace

void LongestWaits::add(const ListedMessage& message) {
  heap_.push_back(message);
  std::push_heap(heap_.begin(), heap_.end(), is_shorter);
  if (heap_.size() <= most_) return;
  std::pop_heap(heap_.begin(), heap_.end(), is_shorter);
  heap_.pop_back();
}

// A message that was offered twice is there twice at most: twice as many were kept.
std::vector<ListedMessage> LongestWaits::take() {
  std::sort(heap_.begin(), heap_.end(), [](const auto& a, const auto& b) {
    return ends_of(a) != ends_of(b) ? ends_of(a) < ends_of(b) : a.wait_ns > b.wait_ns;
  });
  heap_.erase(std::unique(heap_.begin(), heap_.end(),
                          [](const auto& a, const auto& b) { return ends_of(a) == ends_of(b); }),
              heap_.end());
  std::sort(heap_.begin(), heap_.end(), is_shorter);
  if (heap_.size() > kept_) heap_.resize(kept_);
  return std::move(heap_);
}

bool MessageCollector::wants(const SeenMessage& m) {
  const bool is_uncounted = !ends_.is_counted(m.comm, m.sender, m.receiver, m.tag);
  is_even_ = false;
  if (!m.is_again) {
    if (is_uncounted) is_even_ = out_.uncounted++ % stride_ == 0;
  }
  is_late_ = late_.wants(m.wait_ns);
  is_long_ = is_uncounted && longest_.wants(m.wait_ns);
  return is_late_ || is_long_ || is_even_;
}

void MessageCollector::ends(const SeenMessage& m, const SeenCall& sent, const SeenCall& posted,
                            const SeenCall& done) {
  const ListedMessage message = {sent, posted, done, m.wait_ns};
  if (is_late_) late_.add(message);
  if (is_long_) longest_.add(message);
  if (!is_even_) return;
  even_.push_back(message);
  if (even_.size() <= most_) return;
  keep_every_second(even_);
  stride_ *= 2;
}

MessageList MessageCollector::take() {
  out_.late = late_.take();
  out_.listed = std::move(even_);
  std::vector<ListedMessage>& listed = out_.listed;
  const auto by_ends = [](const auto& a, const auto& b) { return ends_of(a) < ends_of(b); };
  if (stride_ > 1) {
    if (listed.size() > most_ / 2) keep_every_second(listed);
    const std::vector<ListedMessage> longest = longest_.take();
    std::sort(listed.begin(), listed.end(), by_ends);
    const auto is_there = [&, end = listed.size()](const ListedMessage& m) {
      return std::binary_search(listed.begin(), listed.begin() + static_cast<ptrdiff_t>(end), m,
                                by_ends);
    };
    std::vector<ListedMessage> more;
    std::copy_if(longest.begin(), longest.end(), std::back_inserter(more),
                 [&](const ListedMessage& m) { return !is_there(m); });
    listed.insert(listed.end(), more.begin(), more.end());
  }
  std::sort(listed.begin(), listed.end(), by_ends);
  return std::move(out_);
}

}  // namespace refrain::analysis
