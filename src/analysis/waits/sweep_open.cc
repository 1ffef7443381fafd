// Where a sweep begins: the ranks and threads that have calls.

#include "analysis/waits/sweep.h"

#include <memory>
#include <utility>

namespace refrain::analysis::waits {

Sweep::Sweep(const Trace& trace, CallSource& source, const Options& options, const Online& online)
    : trace_(trace),
      source_(source),
      options_(options),
      online_(online),
      own_comms_(trace),
      comms_(options.comms != nullptr ? *options.comms : own_comms_),
      places_(options.paths),
      log_(options.memory_bytes, online.keeps_log),
      messages_(options.most_messages),
      instances_(options.most_collectives) {}

void Sweep::run() {
  open();
  finish();
}

// One reader and one decoder for each rank, shared by its threads, and one stream of calls for each
// thread. A thread without calls is no location, and a rank without any is not here: nobody waits
// for it.
void Sweep::open() {
  const auto ranks = static_cast<size_t>(trace_.rank_count());
  ranks_.resize(ranks);
  is_here_.resize(ranks);
  rank_times_.resize(ranks);
  for (size_t r = 0; r < ranks; ++r)
    for (const Location& where : trace_.locations(static_cast<Rank>(r))) (void)add_location(where);
  for (uint32_t i = 0; i < locations_.size(); ++i) next_call(i);
}

void Sweep::add(const Location& where) {
  if (add_location(where)) next_call(static_cast<uint32_t>(locations_.size() - 1));
}

// False: it is none.
bool Sweep::add_location(const Location& where) {
  const auto r = static_cast<size_t>(where.rank);
  RankState& rank = ranks_[r];
  if (rank.reader == nullptr) {
    rank.reader = std::make_unique<RankReader>(source_.reader(trace_, where.rank));
    SignatureSource* const signatures = source_.signatures(*rank.reader);
    rank.decoder = signatures != nullptr ? std::make_unique<Decoder>(*signatures, comms_, places_)
                                         : std::make_unique<Decoder>(*rank.reader, comms_, places_);
  }
  std::unique_ptr<CallStream> calls = source_.open(*rank.reader, where.thread);
  if (calls == nullptr || where.calls == 0) return false;
  ranks_here_ += is_here_[r] == 0 ? 1 : 0;
  is_here_[r] = 1;
  LocationState& l = locations_.emplace_back();
  l.calls = std::make_unique<LookAhead>(std::move(calls), *rank.decoder, light_room_);
  l.rank = where.rank;
  find_own_work(l, where.thread);
  ++rank.live_threads;
  names_.push_back({l.rank, where.thread});
  log_.own_work.emplace_back();
  return true;
}

}  // namespace refrain::analysis::waits
