// OwnTime: measures the time that the recorder itself takes on a location.
//
//   program --> MPI_Send ----------------> program computes --> MPI_Recv
//                       |<- own work ->|
//                       end of the call: what follows is neither MPI's nor the program's
//
// Measured are: calls on the slow path, checkpoints, and the work after MPI_Init. On the fast path
// about one call in a thousand is measured, from the return of MPI (when the window of the spool's
// log is full, so other calls need no test), and counts for those before it. Work that takes long
// is a *piece*: it is stored with the call before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace refrain::tracer {

class OwnTime {
 public:
  struct Piece {
    uint64_t call = 0;  // number of the call in its location
    uint64_t ticks = 0;
  };

  // Work behind what add_call() or sample() measured.
  void add(uint64_t ticks) { ticks_ += ticks; }
  // A part of what add_call() or sample() will measure in a moment.
  void add_inside(uint64_t ticks) {
    ticks_ += ticks;
    inside_ += ticks;
  }
  // All work behind a call, which no sample is to stand for.
  void add_call(uint64_t ticks) {
    ticks_ += less_inside(ticks);
    ++measured_calls_;
  }
  // A call of the short way, of `calls` that the location has made in all.
  void sample(uint64_t ticks, uint64_t calls) {
    ticks = less_inside(ticks);
    // One that was interrupted would stand for a thousand.
    least_ = std::min(least_, ticks);
    ticks = std::min(ticks, kInterrupted * least_);
    const uint64_t unmeasured = unmeasured_of(calls);
    ticks_ += ticks * unmeasured;
    sampled_ += unmeasured;
    last_ = ticks;
  }
  // Nothing measures the call under way: it is left out.
  void call_is_left_out() { inside_ = 0; }
  uint64_t total(uint64_t calls) const { return ticks_ + last_ * unmeasured_of(calls); }

  // The first recorded call has ended, or the one that begins the run, and add_call() was not told
  // yet: what was done before is no part of span(), and no piece.
  void begin_span() {
    before_span_ = ticks_ - inside_;
    pieces_.clear();
  }
  // The last call of `calls` has ended. What was done behind that is no part of it, nor a piece.
  void end_span(uint64_t calls) {
    span_ = total(calls) - before_span_;
    least_piece_ = UINT64_MAX;
    if (pieces_.empty() || pieces_.back().call + 1 < calls) return;
    span_ -= std::min(span_, pieces_.back().ticks);
    pieces_.pop_back();
  }
  uint64_t span() const { return span_; }

  // -- pieces --
  // What takes less is no piece.
  void set_least_piece(uint64_t ticks) { least_piece_ = ticks; }
  // The work behind a call, the last one, has come to `ticks`. True: that is a piece.
  bool note(uint64_t call, uint64_t ticks) {
    if (ticks < least_piece_) return false;
    if (!pieces_.empty() && pieces_.back().call == call) {
      pieces_.back().ticks = std::max(pieces_.back().ticks, ticks);
      return true;
    }
    if (pieces_.size() >= kMostPieces) keep_longer_pieces();
    if (ticks < least_piece_) return false;
    pieces_.push_back({call, ticks});
    return true;
  }
  const std::vector<Piece>& pieces() const { return pieces_; }

  static constexpr size_t kMostPieces = 512;

 private:
  static constexpr uint64_t kInterrupted = 4;

  uint64_t unmeasured_of(uint64_t calls) const {
    const uint64_t known = measured_calls_ + sampled_;
    return calls > known ? calls - known : 0;
  }
  uint64_t less_inside(uint64_t ticks) {
    const uint64_t inside = std::exchange(inside_, 0);
    return ticks > inside ? ticks - inside : 0;
  }
  // The longer half; of equal ones the first.
  void keep_longer_pieces() {
    std::vector<uint64_t> ticks;
    for (const Piece& p : pieces_) ticks.push_back(p.ticks);
    const auto middle = ticks.begin() + static_cast<std::ptrdiff_t>(ticks.size() / 2);
    std::nth_element(ticks.begin(), middle, ticks.end());
    least_piece_ = *middle;
    size_t longer = 0;
    for (const Piece& p : pieces_) longer += p.ticks > least_piece_ ? 1 : 0;
    size_t equal = kMostPieces / 2 - std::min(longer, kMostPieces / 2);
    pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(),
                                 [&](const Piece& p) {
                                   if (p.ticks != least_piece_) return p.ticks < least_piece_;
                                   return equal == 0 || equal-- == 0;
                                 }),
                  pieces_.end());
  }

  uint64_t ticks_ = 0, last_ = 0, inside_ = 0;
  uint64_t measured_calls_ = 0, sampled_ = 0;
  uint64_t least_ = UINT64_MAX;
  uint64_t before_span_ = 0, span_ = 0;
  uint64_t least_piece_ = UINT64_MAX;
  std::vector<Piece> pieces_;
};

}  // namespace refrain::tracer
