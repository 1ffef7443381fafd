// Data of each call of a group of ranks: its parameters on every rank, and what it sends, receives
// and completes, so that the page can follow a message from one rank to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/runs.h"
#include "events/op.h"
#include "refrain/calls.h"
#include "report/page/templates.h"

namespace refrain::report {

// Of the signatures of one group; add() its ranks in order.
class GroupDetails {
 public:
  // Keeps a reference to `trace`.
  GroupDetails(const Trace& trace, std::vector<SignatureId> signatures);

  void add(RankReader& reader, events::Decoder& ops);
  size_t cost() const;
  // A list by signature, in the given order: {"text": TextTemplate, "send": [comm, peer, tag],
  // "receive": the same, "bytes": of what is sent, "completes": [signatures]}; numbers as runs over
  // the ranks.
  // Peers are world ranks, -1 for any, -2 for nobody; -1 also stands for any tag.
  nlohmann::ordered_json to_json() const;

 private:
  struct End {
    base::RunList comm, peer, tag, bytes;
    bool is_used = false;
    void add(const events::MessageEnd& end, bool here);
  };
  struct Detail {
    TextTemplate text;
    End send, receive;
    std::vector<uint32_t> completes;  // or starts; as on the first rank
    bool starts = false, unsuccessful = false, persistent = false, makes_request = false;
  };

  const Trace& trace_;
  std::vector<SignatureId> signatures_;
  std::vector<Detail> details_;
  uint64_t ranks_ = 0;
};

// "buf=heap, count=4, dest=1"; a parameter that is longer than some hundred characters is cut off.
std::string arguments_text(const Trace& trace, const Signature& call);

}  // namespace refrain::report
