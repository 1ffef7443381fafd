// Calls of POSIX and stdio functions: the section `posix`.
#include "format/posix.h"

#include <algorithm>
#include <string>
#include <utility>

#include "format/codes/run_codec.h"
#include "format/decode/section_readers.h"

namespace refrain::format {

namespace {

using Times = PosixColumn::Times;

class PosixReader {
 public:
  PosixReader(FieldReader& in, TraceData& trace) : in_(in), trace_(trace) {}

  void read() {
    const uint64_t functions = in_.count("POSIX functions", UINT8_MAX + 1);
    for (uint64_t i = 0; i < functions && in_.ok(); ++i) column(static_cast<int64_t>(i));
  }

 private:
  void column(int64_t index) {
    PosixColumn c;
    const size_t begin = in_.position();
    c.function = in_.u8("id of POSIX function", index);
    list("ranks of POSIX function", index, c.ranks);
    const uint64_t ranks = c.ranks.size();
    // Each rank has three times of a byte at least: the list alone could be of millions of ranks.
    if (in_.ok() && ranks * 3 > in_.remaining())
      return in_.fail(kRuleLimits, begin, "too short for the times of all ranks");
    list("calls of POSIX function", index, c.calls);
    list("errors of POSIX function", index, c.errors);
    list("bytes of POSIX function", index, c.bytes);
    if (!in_.ok()) return;
    if (ranks == 0 || c.calls.size() != ranks || c.errors.size() != ranks ||
        c.bytes.size() != ranks)
      return in_.fail(kRulePosix, begin, "lists of a POSIX function of different lengths");
    c.times.resize(ranks);
    times("time of POSIX function", index, &Times::all_ns, c.times);
    times("shortest call of POSIX function", index, &Times::least_ns, c.times);
    times("longest call of POSIX function", index, &Times::greatest_ns, c.times);
    if (in_.ok()) trace_.posix.push_back(std::move(c));
  }

  void list(const char* label, int64_t index, base::RunList& to) {
    if (!in_.ok()) return;
    const size_t begin = in_.position();
    base::ByteReader structure(in_.bytes().string()), numbers(in_.bytes().string());
    base::RunList values = read_runs(structure, numbers, trace_.meta.ranks, budget_);
    if (!in_.bytes().ok() || !structure.ok() || !numbers.ok() || !structure.at_end() ||
        !numbers.at_end())
      return in_.fail(kRuleFields, begin, "a list of a POSIX function is cut short or malformed");
    in_.done(begin, label, index, std::to_string(values.size()) + " ranks");
    to = std::move(values);
  }

  void times(const char* label, int64_t index, uint64_t Times::*of, std::vector<Times>& to) {
    const uint64_t least = in_.varint(label, index, kMaxPosixTimeCode);
    if (!in_.ok()) return;
    const size_t begin = in_.position();
    for (Times& t : to) {
      const uint64_t code = in_.bytes().varint();
      if (!in_.bytes().ok() || code > kMaxPosixTimeCode - least)
        return in_.fail(kRuleFields, begin, "a time of a POSIX function is malformed");
      t.*of = posix_time_of(static_cast<uint16_t>(least + code));
    }
    in_.done(begin, label, index, std::to_string(to.size()) + " ranks");
  }

  FieldReader& in_;
  TraceData& trace_;
  uint64_t budget_ = kMaxRepeatedRunsPerSection;
};

}  // namespace

void read_posix(FieldReader& in, Decoding& out) {
  if (in.remaining() > 0) PosixReader(in, out.trace).read();
}

}  // namespace refrain::format
