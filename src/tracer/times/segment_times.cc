// Runs in MPI_Finalize, when the signatures of all ranks are known (SegmentPlan): segments are cut
// out of the rank's own times and matched with each other, thread by thread. Each step asks for its
// memory first; without it the trace has statistics only, and says why.

#include "tracer/times/segment_times.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "format/decode/time_block.h"
#include "format/decode/time_table.h"
#include "format/signatures/walk.h"
#include "grammar/fold.h"
#include "grammar/terminal_cursor.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/process.h"
#include "tracer/times/mark_of.h"
#include "tracer/times/segment_matcher.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace {

// What a segment takes while they are matched, and the tables of the decoder and a store.
constexpr uint64_t kBytesPerSegment = 96, kTables = uint64_t{8} << 20;

format::Mark mark_at(const format::PartialTrace& leaf, size_t terminal) {
  const format::SignatureList& all = leaf.groups[0].signatures;
  std::vector<int64_t> values;
  // A leaf has one rank, whose values are plain numbers.
  for (size_t k = 0; k < all.slots(terminal); ++k) values.push_back(all.value(terminal, k));
  const auto call = format::parse_fields(leaf.shapes[all.shape(terminal)], values);
  return call ? mark_of(*call, leaf.definitions) : format::Mark();
}

}  // namespace

// Keeps of the leaf what match() needs, before the leaf goes into the merge.
void SegmentTimes::learn(const format::PartialTrace& leaf) {
  if (leaf.groups.empty()) return;
  uint64_t bytes = kTables + 64 * leaf.groups[0].signatures.size();
  for (const grammar::Grammar& g : leaf.grammars)
    bytes += g.symbols.size() * sizeof g.symbols[0] + g.rule_end.size() * sizeof g.rule_end[0];
  // Without it match() finds that its lists are too short, and says so.
  if (!memory_for(bytes)) return;
  grammars_ = leaf.grammars;
  for (const format::PartialLocation& l : leaf.groups[0].locations)
    locations_.push_back({l.thread, static_cast<uint32_t>(l.grammars.first())});
  const format::SignatureList& signatures = leaf.groups[0].signatures;
  for (size_t t = 0; t < signatures.size(); ++t) {
    call_of_.push_back(static_cast<uint16_t>(leaf.shapes.structure(signatures.shape(t)).call_id));
    // Marks are read out of signatures while these are here: the merge renumbers them.
    if (how_.source == format::SegmentSource::kMarks) marks_.push_back(mark_at(leaf, t));
  }
}

// The profile of this rank, or an empty one with its problem: other ranks are told, and do without.
format::RunProfile SegmentTimes::match(Process& p, const SegmentPlan& plan) {
  format::RunProfile none;
  if (plan.signatures.empty()) return none;
  none.problem = "rank " + std::to_string(p.rank) + ": ";
  if (plan.signatures.size() != call_of_.size() || plan.paths.size() != call_of_.size()) {
    none.problem += "no memory to match its segments";
    return none;
  }
  // Threads of a rank are united like ranks: a segment that several threads have is one
  // representative.
  format::Uniter threads(how_.method, how_.across);
  for (const format::ThreadGrammar& location : locations_) {
    auto profile = match(p, plan, location);
    if (!profile.ok()) {
      // One thread without segments makes the whole rank have none: a location with times and one
      // without cannot be told apart in the file.
      none.problem += profile.error().message;
      own_.clear();
      return none;
    }
    take_starts(*profile);
    threads.add(std::move(*profile));
  }
  grammars_ = {};
  return threads.finish();
}

// What was matched while the program ran.
base::Result<format::RunProfile> SegmentTimes::take(const Process& p, const SegmentPlan& plan,
                                                    const format::ThreadGrammar& location,
                                                    SegmentMatcher& matcher) {
  if (!memory_for(kTables + kBytesPerSegment * matcher.end()))
    return base::fail("no memory to match its segments");
  return matcher.finish(static_cast<uint64_t>(p.rank), location.thread, plan.clock, plan.base_ns,
                        grammars_[location.grammar], {plan.signatures, call_of_, marks_});
}

base::Result<format::RunProfile> SegmentTimes::match(Process& p, const SegmentPlan& plan,
                                                     const format::ThreadGrammar& location) {
  for (const Location* l : p.locations)
    // Segments from marks were matched while the program ran; loops are known at the end only, from
    // the grammar.
    if (l->thread == location.thread && l->times != nullptr && l->times->matcher() != nullptr)
      return take(p, plan, location, *l->times->matcher());
  const grammar::Grammar& grammar = grammars_[location.grammar];
  const uint64_t calls = grammar::lengths(grammar).total();
  const bool by_loops = how_.source == format::SegmentSource::kLoops;
  format::LoopPlan loops;
  if (by_loops)
    loops = format::plan_loops(grammar, calls, plan.signatures,
                               [&plan](size_t t) { return plan.paths[t]; });
  // As many as loops have iterations; by marks one call may be one.
  const uint64_t segments =
      by_loops ? format::count_segments(loops.own ? *loops.own : grammar) : calls;
  if (!memory_for(kTables + kBytesPerSegment * segments))
    return base::fail("no memory to match its segments");
  similarity::StoreOptions how;
  how.method = how_.method;
  how.max_memory_bytes = p.options.memory_bytes;
  format::LocationMatcher matcher(how);
  format::ContextNames names;
  format::CutCounts counts;
  const auto take = [&matcher](const similarity::SegmentView& s, uint64_t) { matcher.segment(s); };
  std::unique_ptr<format::SegmentCutter> cutter;
  if (by_loops)
    cutter = std::make_unique<format::LoopCutter>(loops, grammar, &names, &counts, take);
  else
    cutter = std::make_unique<format::MarkCutter>(&names, &counts, take);
  for (const Location* l : p.locations)
    if (l->thread == location.thread && l->times != nullptr)
      if (const base::Status fed = feed(plan, *l, grammar, *cutter); !fed.ok()) return fed.error();
  cutter->finish();
  return matcher.finish(static_cast<uint64_t>(p.rank), location.thread, names, counts);
}

// The thread's calls with their times, block by block: terminals come from the grammar, times from
// the spool or memory. Times become those of the common clock before they are compared.
base::Status SegmentTimes::feed(const SegmentPlan& plan, const Location& l,
                                const grammar::Grammar& grammar, format::SegmentCutter& cutter) {
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  format::BlockDecoder decoder(exact);
  const format::ClockMap clock(plan.clock, plan.base_ns);
  grammar::TerminalCursor terminals(grammar);
  std::vector<format::TimedCall> calls;
  uint64_t before_ns = 0;
  base::Status status = base::Done{};
  const auto take = [&](const format::TimeBlock& block, std::string_view bytes) -> base::Status {
    if (terminals.remaining() < block.calls) return base::fail("there are more times than calls");
    calls.resize(block.calls);
    for (format::TimedCall& c : calls) c.terminal = terminals.next();
    const base::Status decoded = decoder.decode(block, bytes, before_ns, call_of_, calls);
    if (!decoded.ok()) return decoded;
    before_ns = block.end_ns;
    for (const format::TimedCall& c : calls)
      cutter.call({plan.signatures[c.terminal], call_of_[c.terminal],
                   marks_.empty() ? nullptr : &marks_[c.terminal],
                   static_cast<int64_t>(clock.to_common(c.begin_ns)),
                   static_cast<int64_t>(clock.to_common(c.end_ns)), 0});
    return decoded;
  };
  // Blocks are in runs of bytes of the spool file, which is mapped piece by piece.
  const bool whole = l.times->for_each_run(
      l, TimeLog::Which::kKept,
      [&](const std::vector<format::TimeBlock>& blocks, std::string_view bytes) {
        for (const format::TimeBlock& block : blocks) {
          if (status.ok()) status = take(block, bytes.substr(0, block.bytes));
          bytes.remove_prefix(block.bytes);
        }
      });
  return whole ? status : base::fail("cannot read times of its calls back from the spool");
}

// Starts and lengths stay here. Where groups are not compared, segment by segment, nobody else
// needs to know more than which representatives there are, in the order of first use.
void SegmentTimes::take_starts(format::RunProfile& profile) {
  Own own;
  own.thread = profile.locations[0].second;
  similarity::ProcessGroup& group = profile.profile.groups[0];
  similarity::GroupMember& member = group.members[0];
  if (!member.starts_ns.empty()) own.start_ns = member.starts_ns[0];
  own.lengths_ns = std::move(member.lengths_ns);
  // What goes into the tree is as long as the loops, and not as the run.
  member = {member.rank, {}, {}};
  if (how_.across != format::AcrossRanks::kGroups) {
    constexpr uint32_t kNew = UINT32_MAX;
    std::vector<uint32_t> place(profile.profile.segments.size(), kNew), used;
    for (const uint32_t id : group.sequence) {
      if (place[id] == kNew) {
        place[id] = static_cast<uint32_t>(used.size());
        used.push_back(id);
      }
      own.places.push_back(place[id]);
    }
    group.sequence = std::move(used);
  }
  own_.push_back(std::move(own));
}

// When all ranks agree on the representatives: `numbers` translates the rank's own into theirs.
bool SegmentTimes::encode(size_t location, const std::vector<uint32_t>& numbers,
                          std::span<const format::Representative> representatives,
                          uint32_t step_ns) {
  Own& own = own_[location];
  for (uint32_t& place : own.places) {
    if (place >= numbers.size()) return false;
    place = numbers[place];
  }
  // Where groups were compared, the tree has handed back the whole sequence instead of a
  // translation.
  const std::vector<uint32_t>& sequence = own.places.empty() ? numbers : own.places;
  if (sequence.size() != own.lengths_ns.size()) return false;
  if (sequence.empty()) return true;
  format::encode_location(representatives, step_ns, static_cast<uint64_t>(own.start_ns), sequence,
                          own.lengths_ns, own.chunk, own.bytes);
  // Freed location by location: the blocks that were made of them take memory by now.
  own.places = {};
  own.lengths_ns = {};
  return true;
}

void SegmentTimes::each(const Visit& visit) const {
  for (const Own& own : own_)
    if (!own.chunk.blocks.empty()) visit(own.thread, own.chunk.blocks, own.bytes);
}

}  // namespace refrain::tracer
