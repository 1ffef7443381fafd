// What `--skip FUNCTION` leaves out: the calls of that function, and whatever waits for their
// messages or sends what they would have taken.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "proxy/families.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

struct Skipped {
  std::set<std::pair<uint32_t, SignatureId>> all;  // number of the kind, call
  uint64_t named = 0, other_ends = 0;              // calls of all ranks

  bool contains(const Kind& kind, SignatureId signature) const {
    return all.contains({kind.number, signature});
  }
};

// Fails with kUnsupported where one end of messages cannot be left out without messages that stay:
// where other functions send to the same rank with the same tag, or where a receive from anybody
// may take them.
base::Result<Skipped> skipped_of(Symbolic& symbolic, const std::vector<Family>& families,
                                 const std::set<std::string>& functions);

}  // namespace refrain::proxy
