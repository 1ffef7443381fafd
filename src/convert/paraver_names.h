// The numbers that Paraver's configurations know calls and states by, and the .pcf and .row files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "convert/job.h"
#include "refrain/ids.h"

namespace refrain::convert {

// Types of events, as Extrae has them.
enum ParaverType : uint32_t {
  kParaverP2p = 50000001,
  kParaverCollective = 50000002,
  kParaverOther = 50000003,
  kParaverRma = 50000004,
  kParaverIo = 50000005,
  kParaverRegion = 60000019,
  kParaverSite = 80000001,
};
struct ParaverCall {
  uint32_t type = kParaverOther;
  uint32_t value = 0;  // 0 ends it
  uint32_t state = 15;
};
// Extrae's number where there is one, else 1000 and ours.
ParaverCall paraver_call(CallId call);

inline constexpr uint32_t kParaverRunning = 1;

struct ParaverNames {
  std::map<uint32_t, std::map<uint32_t, std::string>> values;  // by type
};
std::string pcf_text(const ParaverNames& names);
std::string row_text(const Job& job);

}  // namespace refrain::convert
