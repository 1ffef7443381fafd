// EnterLeave: the calls and regions of one rank as enters and leaves, which nest on every thread.
//
// Regions are the program's own: refrain_region_begin() and _end(), and functions that were
// compiled with -finstrument-functions. A region that stays open is closed at the end of the call
// around it, or with the last call of the thread. An end without a begin is left out and counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/job.h"
#include "events/by_rank/rank_events.h"
#include "reader/symbols.h"

namespace refrain::convert {

using RegionId = uint32_t;

// Names of the program's own regions; the same on all ranks of a conversion.
class Regions {
 public:
  explicit Regions(const Job& job) : trace_(job.trace), resolve_(job.options.resolve) {}
  // Of a mark that begins or ends a region.
  RegionId of(const Signature& mark);
  const std::string& name(RegionId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  std::string function_name(DefinitionId id);
  RegionId add(std::string name);
  const Trace& trace_;
  bool resolve_;
  reader::Symbols symbols_;
  std::map<std::string, RegionId> ids_;
  std::unordered_map<DefinitionId, RegionId> functions_;
  std::vector<std::string> names_;
};

// What happens at the begin and at the end of a call.
class EnterLeaveSink {
 public:
  virtual ~EnterLeaveSink() = default;
  virtual void enter(const events::Event& call) = 0;
  virtual void leave(const events::Event& call) = 0;
  virtual void enter_region(uint32_t thread, uint64_t ns, RegionId region) = 0;
  virtual void leave_region(uint32_t thread, uint64_t ns, RegionId region) = 0;
};

class EnterLeave {
 public:
  EnterLeave(Regions& regions, EnterLeaveSink& sink) : regions_(regions), sink_(sink) {}
  // The next call of the rank, inside of the window.
  void add(const events::Event& event);
  // After the last one.
  void finish();
  uint64_t unmatched_ends() const { return unmatched_; }

 private:
  struct Open {
    bool is_region = false;
    RegionId region = 0;
    events::Event call;
  };
  struct Thread {
    std::vector<Open> open;  // entries past `depth` wait to be used again
    size_t depth = 0;
    uint64_t last_ns = 0;
  };
  Open& push(Thread& thread);
  void pop(uint32_t number, Thread& thread, uint64_t ns);
  void pop_until(uint32_t number, Thread& thread, uint64_t ns);
  void end_region(uint32_t number, Thread& thread, uint64_t ns, RegionId region);

  Regions& regions_;
  EnterLeaveSink& sink_;
  std::map<uint32_t, Thread> threads_;
  uint64_t unmatched_ = 0;
};

}  // namespace refrain::convert
