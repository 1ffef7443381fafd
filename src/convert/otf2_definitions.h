// OTF2 definitions: collected while events are written, and written after them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/enter_leave.h"
#include "convert/job.h"
#include "events/by_rank/rank_events.h"

namespace refrain::convert {

struct OtfLocation {
  OTF2_LocationRef id = 0;
  Rank rank = 0;
  uint32_t thread = 0;
  uint64_t events = 0;
};
// Rank and thread as OTF2 numbers them.
inline OTF2_LocationRef otf_location(Rank rank, uint32_t thread) {
  return uint64_t{thread} << 32 | static_cast<uint64_t>(rank);
}

class OtfDefinitions {
 public:
  OtfDefinitions(Job& job, Regions& regions) : job_(job), regions_(regions) { string(""); }

  OTF2_StringRef string(std::string_view text);
  OTF2_RegionRef call_region(CallId call) { return region(call); }
  OTF2_RegionRef user_region(RegionId id) { return region(kFirstUser + id); }
  OTF2_CommRef comm(const events::CommView& view);
  void name_comm(const events::CommView& view, std::string_view name);
  // The window that is the n-th made on a communicator.
  OTF2_RmaWinRef window(const events::CommView& view, Rank self, uint64_t number);
  OTF2_IoHandleRef file(const events::CommView& view, std::string_view name);
  uint32_t instance(std::string_view name);  // a parameter

  enum Attribute : OTF2_AttributeRef { kSite, kError, kCount, kDatatype };

  // All of it. False: OTF2 said no.
  bool write(OTF2_GlobalDefWriter* writer, const std::vector<OtfLocation>& locations,
             uint64_t first_ns, uint64_t last_ns);

 private:
  struct Comm {
    bool is_self = false;
    Communicator comm;
    std::string name;
  };
  bool write_locations(const std::vector<OtfLocation>& locations);
  bool write_regions();
  bool write_comms();
  bool write_rest();
  bool write_group(OTF2_GroupRef id, const Communicator& comm);
  // Strings stand before what refers to them; from write() on they are written as they come.
  void write_string(OTF2_StringRef id);
  static bool good(OTF2_ErrorCode code) { return code == OTF2_SUCCESS; }

  Job& job_;
  Regions& regions_;
  OTF2_GlobalDefWriter* writer_ = nullptr;
  std::unordered_map<std::string, OTF2_StringRef> strings_;
  std::vector<const std::string*> texts_;
  bool strings_are_good_ = true;
  // OTF2 wants its ids dense and in order: numbers by first use, and what they stand for.
  static constexpr uint32_t kFirstUser = 1U << 16;  // below: calls
  OTF2_RegionRef region(uint32_t what);
  std::unordered_map<uint32_t, OTF2_RegionRef> region_ids_;
  std::vector<uint32_t> regions_used_;
  std::vector<Comm> comms_;
  std::unordered_map<events::CommKey, OTF2_CommRef> comm_ids_;
  std::map<std::tuple<OTF2_CommRef, Rank, uint64_t>, OTF2_RmaWinRef> windows_;
  std::vector<OTF2_CommRef> window_comms_;
  using File = std::pair<OTF2_CommRef, std::string>;
  std::map<File, OTF2_IoHandleRef> files_;
  std::vector<File> files_used_;
  std::map<std::string, uint32_t> instances_;
  std::vector<std::string> instances_used_;
};

}  // namespace refrain::convert
