// What decode() does not need to refuse a file for, and what is wrong all the same: calls with too
// many parameters, requests that nobody made, communicators without the rank that uses them. One
// walk over each shape gives what all checks need.

#include "reader/verify/verify.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "format/signatures/walk.h"
#include "format/trace_data.h"
#include "mpi/call_name.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/definitions.h"

namespace refrain::reader {

namespace {

// What the checks need to know of a signature.
class ShapeSummary : public format::Visitor {
 public:
  void call(uint32_t id) override { call_id = id; }
  void open(format::FieldTag tag) override {
    if (depth_++ == 0 && tag != format::FieldTag::kResult) ++fields;
    if (tag == format::FieldTag::kNewRequest) makes_request = true;
    tag_ = tag;
  }
  void close(format::FieldTag) override { --depth_; }
  int64_t slot(format::SlotNature, int64_t v, size_t, size_t) override {
    if (tag_ == format::FieldTag::kObject) object_slots.push_back(slot_count);
    ++slot_count;
    return v;
  }
  void request(uint64_t n, size_t, size_t) override {
    requests.push_back(static_cast<SignatureId>(n));
  }

  uint32_t call_id = 0;
  size_t fields = 0;  // the site and the parameters
  bool makes_request = false;
  size_t slot_count = 0;
  std::vector<size_t> object_slots;
  std::vector<SignatureId> requests;

 private:
  int depth_ = 0;
  format::FieldTag tag_ = format::FieldTag::kNone;
};

class Verifier {
 public:
  Verifier(const Trace& trace, size_t max_findings)
      : trace_(trace), data_(data_of(trace)), max_findings_(max_findings) {}

  std::vector<std::string> run() {
    for (SignatureId s = 0; s < data_.signatures.size() && !full(); ++s) check_signature(s);
    for (GroupId g = 0; g < data_.groups.size() && !full(); ++g) {
      check_requests(g);
      check_communicators(g);
    }
    return std::move(findings_);
  }

 private:
  // A damaged trace may be wrong in every signature: the first few findings say it as well.
  bool full() const { return findings_.size() >= max_findings_; }
  void found(std::string text) {
    if (!full()) findings_.push_back(std::move(text));
  }
  static std::string call_name(uint32_t call_id) {
    return mpi::call_name(static_cast<CallId>(call_id));
  }

  void check_signature(SignatureId id) {
    ShapeSummary& summary = summaries_.emplace_back();
    format::walk_signature(data_.signatures[id].shape, format::Form::kSplit, summary);
    const mpi::CallInfo* info = mpi::find_call(static_cast<CallId>(summary.call_id));
    if (info != nullptr && summary.fields != info->params.size() + 1)
      found("signature " + std::to_string(id) + ": " + std::string(info->name) + " has " +
            std::to_string(info->params.size()) + " parameters, not " +
            std::to_string(summary.fields - 1));
    for (const SignatureId request : summary.requests) {
      if (request < id && summaries_[request].makes_request) continue;
      found("signature " + std::to_string(id) + ": " + call_name(summary.call_id) +
            " uses a request that signature " + std::to_string(request) + " did not make");
    }
  }

  // Terminals are numbered by first occurrence, so the maker of a request has a lower one.
  void check_requests(GroupId g) {
    const format::Group& group = data_.groups[g];
    std::unordered_map<SignatureId, size_t> first_terminal;
    for (size_t t = 0; t < group.signatures.size(); ++t) {
      const SignatureId id = group.signatures[t];
      first_terminal.try_emplace(id, t);
      if (id >= summaries_.size()) continue;
      for (const SignatureId request : summaries_[id].requests) {
        if (first_terminal.contains(request)) continue;
        found("group " + std::to_string(g) + ", signature " + std::to_string(id) + ": " +
              call_name(summaries_[id].call_id) + " comes before signature " +
              std::to_string(request) + ", which makes its request");
      }
    }
  }

  // Of its lead, where clusters mix structures and ends are the lead's: such a trace is for looking
  // at the whole, and says that it cannot be replayed.
  bool has_calls_of_another(Rank rank) const {
    return clustering_ && clustering_->has_lead_endpoints && !clustering_->is_replayable &&
           trace_.lead_of(rank) != rank;
  }

  void check_communicators(GroupId g) {
    const format::Group& group = data_.groups[g];
    std::set<DefinitionId> used;
    for (const SignatureId id : group.signatures) {
      if (id >= summaries_.size()) continue;
      for (const size_t slot : summaries_[id].object_slots) {
        if (slot >= data_.signatures[id].slots.size()) break;
        const format::RankExpr& expr = data_.signatures[id].slots[slot];
        // Definitions that differ between ranks are in tables, and would have to be asked for each
        // rank.
        if (expr.kind != format::RankExpr::Kind::kConst) continue;
        const DefinitionId comm = trace_.communicator_of(static_cast<DefinitionId>(expr.a));
        if (comm != kNoDefinition) used.insert(comm);
      }
    }
    for (const DefinitionId comm : used) {
      if (full()) return;
      for (uint64_t i = 0; i < group.ranks.size(); ++i) {
        const Rank rank = group.ranks.at(i);
        if (trace_.communicator(comm, rank)->me >= 0 || has_calls_of_another(rank)) continue;
        found("group " + std::to_string(g) + ": rank " + std::to_string(rank) + " uses " +
              trace_.object_name(comm) + ", but is no member of it");
        break;
      }
    }
  }

  const Trace& trace_;
  const format::TraceData& data_;
  const std::optional<Clustering> clustering_ = trace_.clustering();
  const size_t max_findings_;
  std::vector<ShapeSummary> summaries_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> verify(const Trace& trace, size_t max_findings) {
  return Verifier(trace, max_findings).run();
}

}  // namespace refrain::reader
