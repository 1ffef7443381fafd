// OtfEvents: the records of one rank's calls.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "convert/enter_leave.h"
#include "convert/otf2_definitions.h"
#include "events/buffers/transfers.h"
#include "events/by_rank/comm_ranks.h"
#include "events/by_rank/survey.h"

namespace refrain::convert {

class OtfEvents : public EnterLeaveSink {
 public:
  OtfEvents(Job& job, events::World& world, events::Survey& survey, OtfDefinitions& definitions,
            events::CommRanks& ranks, events::RankEvents& events, OTF2_Archive* archive);
  ~OtfEvents() override;
  OtfEvents(const OtfEvents&) = delete;

  void enter(const events::Event& call) override;
  void leave(const events::Event& call) override;
  void enter_region(uint32_t thread, uint64_t ns, RegionId region) override;
  void leave_region(uint32_t thread, uint64_t ns, RegionId region) override;

  // Locations with their numbers of records, after the last call. The writers are closed.
  std::vector<OtfLocation> close();
  bool is_good() const { return is_good_; }
  uint64_t first_ns() const { return first_ns_; }
  uint64_t last_ns() const { return last_ns_; }

 private:
  struct Window {
    OTF2_RmaWinRef id = 0;
    events::CommView comm;
    std::vector<std::pair<uint64_t, int64_t>> open;  // matching ids and targets of accesses
  };

  OTF2_EvtWriter* writer(uint32_t thread);
  void check(OTF2_ErrorCode code) { is_good_ = is_good_ && code == OTF2_SUCCESS; }
  void at(uint64_t ns);
  events::CommView view(const Signature& call, std::string_view parameter);
  OTF2_AttributeList* message_attributes(const events::Step& step, bool sends);
  void begin_step(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step);
  void end_step(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step);
  void send(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step);
  void receive(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step);
  struct CollectiveRecord {
    OTF2_CollectiveOp op = OTF2_COLLECTIVE_OP_BARRIER;
    uint32_t root = OTF2_UNDEFINED_UINT32;
    uint64_t sent = 0, received = 0;
  };
  CollectiveRecord collective(const events::Op& op, const Signature& call);
  bool is_collective(const events::Event& call) const;

  // otf2_windows.cc
  void enter_window(OTF2_EvtWriter* out, const events::Event& call);
  void leave_window(OTF2_EvtWriter* out, const events::Event& call);
  void access(OTF2_EvtWriter* out, const events::Event& call, Window& window);
  void complete_accesses(OTF2_EvtWriter* out, uint64_t ns, Window& window, int64_t target);
  void enter_file(OTF2_EvtWriter* out, const events::Event& call);
  void leave_file(OTF2_EvtWriter* out, const events::Event& call);
  uint64_t bytes_of(SignatureId call);

  Job& job_;
  events::World& world_;
  events::Survey& survey_;
  OtfDefinitions& definitions_;
  events::CommRanks& ranks_;
  events::RankEvents& events_;
  events::TransferReader transfers_;
  OTF2_Archive* archive_;
  OTF2_AttributeList* attributes_;
  std::map<uint32_t, OTF2_EvtWriter*> writers_;
  std::unordered_set<uint64_t> requests_;  // that have a record and are open
  std::unordered_map<int64_t, Window> windows_;
  std::map<std::pair<events::CommKey, bool>, uint64_t> windows_made_;
  std::unordered_map<int64_t, OTF2_IoHandleRef> files_;
  uint64_t next_match_ = 0;
  bool is_good_ = true;
  uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
};

}  // namespace refrain::convert
