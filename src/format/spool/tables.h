// Reads the records of the tables of a spool file (layout.h), one after the other: what all calls
// of a rank have in common. A stream of a running job has the same records (format/live).
//
// Any bytes are either read or refused; memory is proportional to them. Not thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/merge/unique.h"
#include "format/spool/layout.h"
#include "format/spool/own_pieces.h"
#include "format/spool/run_end.h"
#include "format/time/data.h"
#include "format/trace_data.h"

namespace refrain::format::spool {

struct Tables {
  UniqueSignatures unique;
  std::vector<ClockPoint> clock;
  OwnPieces own_pieces;
  std::optional<RunEnd> end;

  // A record, which begins with its kind. All but signatures, clock points, pieces and the end goes
  // to `to`, losses as those of `rank`. False: it is none, and may be there in part.
  bool read(std::string_view record, int64_t rank, RankRecord& to);
};

// Adds a loss, or its calls to one that is there with the same reason and detail.
void add_loss(RankRecord& record, LossRecord loss);

// Of a record that is whole: a signature that was written and whose call was not is none. Threads
// are in order afterwards.
void trim(RankRecord& record);

}  // namespace refrain::format::spool
