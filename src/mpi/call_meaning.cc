#include "mpi/call_meaning.h"

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
  // Asked for at every call of a trace: rows stand in the order of the functions' ids.
  const CallInfo* const info = find_call(id);
  if (info == nullptr) return kNobodyKnows;
  const auto row = static_cast<size_t>(info - all_calls().data());
  return row < std::size(kMeanings) && kMeanings[row].id == id ? kMeanings[row].meaning
                                                               : kNobodyKnows;
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
