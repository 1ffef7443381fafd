#include "online/rank_feed.h"

#include <utility>

namespace refrain::online {

using format::spool::RankSpool;

base::Result<RankFeed> RankFeed::open(const std::string& path, const std::string& job) {
  auto feeder = format::live::Feeder::open(path, job);
  if (!feeder.ok()) return feeder.error();
  return RankFeed(std::move(*feeder));
}

// Only who reads the file knows of it.
void RankFeed::add_damage(RankSpool& rank) const {
  rank.damage.assign(cursor().damage().begin(), cursor().damage().end());
}

base::Result<RankSpool> RankFeed::look() {
  const auto sent = feeder_.look();
  if (!sent.ok()) return sent.error();
  if (const base::Status got = receiver_->receive(*sent); !got.ok()) return got.error();
  if (!receiver_->has_begun())
    return base::fail("it was written while it was read", cursor().file().path());
  RankSpool rank = receiver_->now();
  add_damage(rank);
  return rank;
}

base::Result<RankSpool> RankFeed::finish(format::live::EndReason reason) {
  const auto sent = feeder_.finish(reason);
  if (!sent.ok()) return sent.error();
  if (const base::Status got = receiver_->receive(*sent); !got.ok()) return got.error();
  if (const base::Status whole = receiver_->finish(); !whole.ok()) return whole.error();
  RankSpool rank = receiver_->take();
  add_damage(rank);
  return rank;
}

}  // namespace refrain::online
