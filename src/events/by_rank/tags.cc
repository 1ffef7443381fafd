#include "events/by_rank/tags.h"

#include <optional>

namespace refrain::events {

uint32_t Tags::of(CommKey comm, int64_t tag, uint64_t number) {
  const Pair pair{comm, tag};
  // Simulators match by tag alone, and have no communicators: each pair of both gets a number of
  // its own. So many messages of a pair as can be under way at a time differ in their tags, too
  // (kAtATime).
  const auto known = ids_.find(pair);
  uint32_t id = 0;
  if (known != ids_.end())
    id = known->second;
  else if (have_room(ids_.size() + 1) || (notes_ == nullptr && read_ == nullptr))
    id = ids_.try_emplace(pair, static_cast<uint32_t>(ids_.size())).first->second;
  else
    id = outside(pair);
  return id % kMost * kAtATime + static_cast<uint32_t>(number % kAtATime);
}

uint32_t Tags::outside(const Pair& pair) {
  if (!status_.ok()) return 0;
  // First walk: the use is noted, and the value does not matter.
  if (notes_ != nullptr) {
    status_ = notes_->add({pair.second, uses_++, pair.first});
    return 0;
  }
  const Id* next = read_->next();
  if (next != nullptr) return next->id;
  status_ = read_->status();
  if (status_.ok()) status_ = base::fail("the calls of the trace changed while it was read");
  return 0;
}

void Tags::begin_notes() { notes_ = std::make_unique<ExternalSort<Use>>(folder_, sort_bytes_); }

base::Status Tags::end_notes() {
  if (status_.ok()) status_ = notes_->finish();
  if (!status_.ok()) return status_;
  read_ = std::make_unique<ExternalSort<Id>>(folder_, sort_bytes_);
  ExternalSort<Numbered> numbered(folder_, sort_bytes_);
  status_ = number(numbered);
  if (status_.ok()) status_ = read_->finish();
  return status_;
}

base::Status Tags::number(ExternalSort<Numbered>& numbered) {
  std::optional<Use> first;  // of the pair
  while (const Use* use = notes_->next()) {
    if (!first || first->comm != use->comm || first->tag != use->tag) first = *use;
    if (const base::Status done = numbered.add({first->use, use->use}); !done.ok()) return done;
  }
  if (!notes_->status().ok()) return notes_->status();
  notes_.reset();
  // Pairs get their numbers in the order of their first uses, as they do in memory: the output must
  // not depend on how much of it there was.
  if (const base::Status done = numbered.finish(); !done.ok()) return done;
  uint64_t pairs = ids_.size(), last = UINT64_MAX;
  while (const Numbered* one = numbered.next()) {
    pairs += one->first != last ? 1 : 0;
    last = one->first;
    if (const base::Status done = read_->add({one->use, static_cast<uint32_t>(pairs - 1)});
        !done.ok())
      return done;
  }
  return numbered.status();
}

}  // namespace refrain::events
