// Options that `refrain reduce` and `refrain evaluate` have in common.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options/command.h"
#include "cli/options/values.h"
#include "format/segments/reduced.h"
#include "format/time/segments.h"

namespace refrain::cli {

inline void add_segment_options(Command& verb, std::string& segments, std::string& across,
                                uint64_t& memory_mib, uint32_t& step_ns) {
  verb.add_option(
          "--start-step", step_ns,
          "To how many ns the starts of segments are kept. 0: 1, with auto up to 1000 as far "
          "as its error allows")
      ->transform(time_with_unit(0, format::kMaxStepNs))
      ->type_name("TIME")
      ->capture_default_str();
  verb.add_option("--segments", segments,
                  "Where segments come from: loops (of the grammar), or marks (refrain/mark.h, "
                  "MPI_Pcontrol from level 3 on)")
      ->check(one_of({"loops", "marks"}))
      ->capture_default_str();
  verb.add_option("--across-ranks", across,
                  "What representatives stand for: segments of their rank only (off), of groups of "
                  "ranks all of whose segments match (groups), of any rank (segments); auto takes "
                  "the last for groups")
      ->check(one_of({"off", "groups", "segments"}))
      ->capture_default_str();
  verb.add_option("--memory", memory_mib,
                  "MiB for the representatives of a rank; when they are used up the threshold is "
                  "loosened. 0: as much as there is")
      ->transform(mebibytes_with_unit(0, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str();
}

// Of values that the options have let through.
inline format::SegmentSource source_of(const std::string& text) {
  return format::source_of(text).value_or(format::SegmentSource::kLoops);
}
inline format::AcrossRanks across_of(const std::string& text) {
  return format::across_of(text).value_or(format::AcrossRanks::kGroups);
}
inline uint64_t memory_of(uint64_t mib) { return mib == 0 ? UINT64_MAX : mib << 20; }

}  // namespace refrain::cli
