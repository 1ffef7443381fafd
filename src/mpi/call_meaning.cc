#include "mpi/call_meaning.h"

#include <algorithm>
#include <iterator>

namespace refrain::mpi {

namespace {

struct MeaningRow {
  CallId id;
  CallMeaning meaning;
};

#include "mpi/call_meanings.inc"

constexpr CallMeaning kNobodyKnows{0,
                                   kDoesLocal,
                                   How::kReturns,
                                   SendMode::kStandard,
                                   Flow::kNothing,
                                   -1,
                                   {},
                                   Reissue::kRefused,
                                   "this version does not know the function"};

}  // namespace

const CallMeaning& meaning_of(CallId id) {
  const MeaningRow* const at =
      std::lower_bound(std::begin(kMeanings), std::end(kMeanings), id,
                       [](const MeaningRow& row, CallId key) { return row.id < key; });
  return at != std::end(kMeanings) && at->id == id ? at->meaning : kNobodyKnows;
}

std::string_view to_string(Reissue reissue) {
  switch (reissue) {
    case Reissue::kPlain: return "plain";
    case Reissue::kForced: return "forced";
    case Reissue::kStandIn: return "stand_in";
    case Reissue::kLocal: return "local";
    case Reissue::kRefused: return "refused";
  }
  return "refused";
}

}  // namespace refrain::mpi
