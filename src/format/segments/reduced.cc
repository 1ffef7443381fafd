#include "format/segments/reduced.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "format/codes/checksum.h"
#include "format/time/segment_encoder.h"

namespace refrain::format {

using similarity::GroupMember;
using similarity::Method;
using similarity::ProcessGroup;
using similarity::ProfileSegment;

namespace {

Representative representative_of(const ProfileSegment& s) {
  Representative r;
  r.context = s.context;
  const size_t count = s.stamps.size() - 1;  // the last one is the end of the last call
  if (s.elastic < count) r.elastic = s.elastic;
  int64_t end = 0;
  for (size_t k = 0; k < count; k += 2) {
    end = std::max<int64_t>(end, std::llround(s.stamps[k + 1]));
    r.stamps.push_back(std::min<int64_t>(std::llround(s.stamps[k]), end));
    r.stamps.push_back(end);
  }
  return r;
}

uint32_t step_of(const RunProfile& p, const ReducedHow& how) {
  if (how.step_ns > 0) return std::min(how.step_ns, kMaxStepNs);
  if (how.method.method != Method::kAuto || p.segments == 0) return 1;
  constexpr double kShare = 1.0 / 16;
  const double mean = static_cast<double>(p.length_ns) / static_cast<double>(p.segments);
  const double step = kShare * how.method.threshold * mean;
  return static_cast<uint32_t>(std::clamp(step, 1.0, similarity::StoreOptions().noise_ns));
}

similarity::InterMatches matches_of(const RunProfile& p, const ReducedHow& how) {
  if (how.across == AcrossRanks::kOff) return {};
  return inter_matches(p.profile, how.across == AcrossRanks::kGroups
                                      ? similarity::Uniting::kGroups
                                      : similarity::Uniting::kRepresentatives);
}

void describe(const RunProfile& p, const ReducedHow& how, SegmentInfo& info) {
  const similarity::InterMatches inter = matches_of(p, how);
  info.source = how.source;
  info.across = how.across;
  info.segments = p.segments;
  info.matches = p.profile.intra_matches + inter.found;
  info.possible_matches = p.profile.intra_possible + inter.possible;
  info.threshold = p.threshold;
  info.loosenings = p.loosenings;
  info.contexts = p.contexts.all();
  const uint64_t rounding = info.step_ns / 2;  // of a start or an end
  for (const ProfileSegment& s : p.profile.segments) {
    info.error_ns = std::max(info.error_ns, static_cast<uint64_t>(std::ceil(s.error_ns)));
    info.relative_error =
        std::max(info.relative_error,
                 s.relative_error + static_cast<double>(rounding) / std::max(1.0, s.shortest_ns));
  }
  info.error_ns += rounding;
}

}  // namespace

std::optional<SegmentSource> source_of(std::string_view word) {
  if (word == "loops") return SegmentSource::kLoops;
  if (word == "marks") return SegmentSource::kMarks;
  return std::nullopt;
}

std::optional<AcrossRanks> across_of(std::string_view word) {
  if (word == "off") return AcrossRanks::kOff;
  if (word == "groups") return AcrossRanks::kGroups;
  if (word == "segments") return AcrossRanks::kSegments;
  return std::nullopt;
}

base::Result<ReducedTimes> finish_profile(const RunProfile& p, const ReducedHow& how) {
  ReducedTimes out;
  out.info.step_ns = step_of(p, how);
  out.group_of.assign(p.locations.size(), ReducedTimes::kNoGroup);
  for (size_t g = 0; g < p.profile.groups.size(); ++g)
    for (const GroupMember& m : p.profile.groups[g].members)
      out.group_of[m.rank] = static_cast<uint32_t>(g);
  // By first use, in the order of the locations: the coder expects new ones in order.
  constexpr uint32_t kUnused = UINT32_MAX;
  out.number_of.assign(p.profile.segments.size(), kUnused);
  std::vector<bool> known(p.profile.groups.size());
  for (const uint32_t g : out.group_of) {
    if (g == ReducedTimes::kNoGroup || known[g]) continue;
    known[g] = true;
    for (const uint32_t id : p.profile.groups[g].sequence) {
      if (out.number_of[id] != kUnused) continue;
      out.number_of[id] = static_cast<uint32_t>(out.representatives.size());
      out.representatives.push_back(representative_of(p.profile.segments[id]));
    }
  }
  auto bytes = encode_representatives(out.representatives);
  if (!bytes.ok()) return bytes.error();
  out.bytes = std::move(*bytes);
  describe(p, how, out.info);
  out.info.representatives = out.representatives.size();
  out.info.bytes = out.bytes.size();
  out.info.checksum = checksum32(out.bytes);
  return out;
}

void encode_location(std::span<const Representative> representatives, uint32_t step_ns,
                     uint64_t start_ns, std::span<const uint32_t> numbers,
                     std::span<const int64_t> lengths_ns, TimeChunk& chunk, std::string& bytes) {
  SegmentEncoder encoder(representatives, step_ns);
  encoder.begin(start_ns);
  for (size_t s = 0; s < numbers.size(); ++s)
    encoder.segment(numbers[s], static_cast<uint64_t>(lengths_ns[s]), chunk, bytes);
  encoder.finish(chunk, bytes);
}

}  // namespace refrain::format
