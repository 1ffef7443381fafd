#include "online/rank_feed.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "format/spool/job_files.h"

namespace refrain::online {

using format::spool::RankSpool;

base::Result<RankFeed> RankFeed::open(const std::string& path, const std::string& job) {
  auto feeder = format::live::Feeder::open(path, job);
  if (!feeder.ok()) return feeder.error();
  return RankFeed(std::move(*feeder));
}

Life RankFeed::life_of(const format::spool::Cursor& cursor) {
  namespace spool = format::spool;
  const spool::Header& header = cursor.header();
  // A rank may remove the files of others, when the trace is written.
  if (header.state == spool::State::kDone || header.state == spool::State::kLeft ||
      (cursor.file().is_removed() && header.state == spool::State::kFinishing))
    return Life::kDone;
  // A process of another host is believed to live: nothing here can tell.
  if (spool::is_of_this_host(header) && !spool::is_alive(header)) return Life::kDead;
  return Life::kLives;
}

void RankFeed::remove() {
  std::error_code ignored;
  std::filesystem::remove(cursor().file().path(), ignored);
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
