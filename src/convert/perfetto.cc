// perfetto: Perfetto's protobuf trace, for ui.perfetto.dev and the trace processor.
//
// A track for each rank, one more for each further thread; calls and regions are slices with their
// parameters, messages are flows. Names are interned for each rank and file; a file that gets too
// large is followed by another one, in which what is open begins again.
//
// Numbers of fields are those of Perfetto's protos/perfetto/trace (trace_packet.proto,
// track_event/*.proto).

#include <fmt/format.h>

#include <filesystem>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "convert/enter_leave.h"
#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/parameter_text.h"
#include "events/by_rank/rank_events.h"
#include "mpi/call_table.h"
#include "text/escape.h"

namespace refrain::convert {
namespace {

using protozero::pbf_writer;

namespace field {
constexpr uint32_t kPacket = 1;  // of Trace
// of TracePacket
constexpr uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                   kSequenceFlags = 13, kTrackDescriptor = 60;
// of TrackDescriptor
constexpr uint32_t kUuid = 1, kName = 2, kParent = 5, kChildOrdering = 11, kOrderRank = 12;
// of TrackEvent
constexpr uint32_t kCategoryIid = 3, kAnnotation = 4, kType = 9, kNameIid = 10, kTrack = 11,
                   kFlow = 47, kEndsFlow = 48;
// of InternedData, and of its entries
constexpr uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3, kStrings = 29, kIid = 1,
                   kText = 2;
// of DebugAnnotation
constexpr uint32_t kAnnotationIid = 1, kInt = 4, kStringIid = 17;
}  // namespace field
constexpr uint32_t kCleared = 1, kNeeds = 2;  // sequence flags
constexpr uint64_t kAllRanks = 1;             // uuid of the track above those of the ranks
enum EventType : int32_t { kBegin = 1, kEnd = 2, kInstant = 3 };

uint64_t track_of(Rank rank, uint32_t thread) {
  return 2 + static_cast<uint64_t>(rank) + (uint64_t{thread} << 32);
}

// The same at both ends. Two messages with the same one are one in 2^64.
uint64_t flow_of(const events::Step& step) {
  uint64_t h = 0;
  for (const int64_t v :
       {static_cast<int64_t>(step.number), static_cast<int64_t>(step.channel.comm),
        step.channel.source, step.channel.dest, step.channel.tag}) {
    h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15U + 1;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93U;
    h ^= h >> 29;
  }
  return h == 0 ? 1 : h;
}

std::string numbered(const std::string& path, size_t number) {
  if (number == 0) return path;
  std::filesystem::path out(path);
  const std::string extension = out.extension().string();
  out.replace_extension();
  return fmt::format("{}.{}{}", out.string(), number, extension);
}

// The files, one after the other.
class Files {
 public:
  explicit Files(const Options& options) : options_(options) {}

  Status next() {
    const std::string path = numbered(options_.output, files_.size());
    if (const Status free = check_output(path, options_.force, {}); !free.ok()) return free;
    if (!files_.empty())
      if (const Status done = files_.back().flush(); !done.ok()) return done;
    auto file = BufferedFile::create(path, "the Perfetto trace");
    if (!file.ok()) return file.error();
    files_.push_back(std::move(*file));
    return base::Done{};
  }
  void add(const std::string& packet) {
    pbf_writer trace(files_.back().buffer());
    trace.add_message(field::kPacket, packet);
  }
  bool is_full() const { return files_.back().size() >= options_.most_file_bytes; }
  Status flush_if_full() { return files_.back().flush_if_full(); }
  Status commit(Outcome& out) {
    for (size_t i = 0; i < files_.size(); ++i) {
      out.bytes += files_[i].size();
      if (const Status done = files_[i].commit(); !done.ok()) return done;
      out.files.push_back(numbered(options_.output, i));
    }
    return base::Done{};
  }

 private:
  const Options& options_;
  std::vector<BufferedFile> files_;
};

class RankTrack : public EnterLeaveSink {
 public:
  RankTrack(Job& job, Regions& regions, Files& files, Rank rank)
      : job_(job), regions_(regions), files_(files), rank_(rank) {
    begin_file();
  }

  void enter(const events::Event& call) override {
    job_.out.collectives += call.collective.is_there ? 1 : 0;
    std::string event = slice(call_slice(*call.call), call.thread);
    pbf_writer writer(event);
    for (const events::Step& step : call.steps)
      if (step.has_message && step.begins_send()) {
        ++job_.out.sends;
        writer.add_fixed64(field::kFlow, flow_of(step));
      }
    add_event(call.begin_ns, event);
    last_ns_[call.thread] = call.begin_ns;
    open_[call.thread].push_back(&call_slice(*call.call));
  }

  // A message ends where the call does that it came in, so that its arrow goes forwards in time.
  void leave(const events::Event& call) override {
    for (const events::Step& step : call.steps)
      if (step.has_message && step.ends_receive()) receive(call, step);
    end(call.thread, call.end_ns);
  }

  void enter_region(uint32_t thread, uint64_t ns, RegionId region) override {
    const Slice& what = region_slice(region);
    add_event(ns, slice(what, thread));
    last_ns_[thread] = ns;
    open_[thread].push_back(&what);
  }
  void leave_region(uint32_t thread, uint64_t ns, RegionId) override { end(thread, ns); }

  // In the file before, what is open ends where its thread is; in the next one it begins there.
  void close_open() {
    for (auto& [thread, slices] : open_)
      for (size_t i = 0; i < slices.size(); ++i) add_event(last_ns_[thread], end_event(thread));
  }
  void reopen() {
    begin_file();
    for (auto& [thread, slices] : open_)
      for (const Slice* what : slices) add_event(last_ns_[thread], slice(*what, thread));
  }

 private:
  // What all slices of a signature, or of a region, have in common.
  struct Slice {
    uint64_t id = 0;
    std::string event;     // fields of TrackEvent
    std::string interned;  // fields of InternedData that it needs
  };

  void begin_file() {
    defined_.clear();
    threads_.clear();
    flags_ = kCleared;
  }

  uint32_t sequence() const { return static_cast<uint32_t>(rank_) + 2; }

  void add_descriptor(uint32_t thread) {
    if (!threads_.insert(thread).second) return;
    std::string track;
    pbf_writer writer(track);
    writer.add_uint64(field::kUuid, track_of(rank_, thread));
    writer.add_string(field::kName, thread == 0 ? fmt::format("Rank {}", rank_)
                                                : fmt::format("Rank {} thread {}", rank_, thread));
    writer.add_uint64(field::kParent, kAllRanks);
    writer.add_int32(field::kOrderRank, static_cast<int32_t>(rank_));
    std::string packet;
    pbf_writer out(packet);
    out.add_uint32(field::kSequence, sequence());
    out.add_message(field::kTrackDescriptor, track);
    files_.add(packet);
  }

  void add_event(uint64_t ns, const std::string& event) {
    std::string packet;
    pbf_writer out(packet);
    out.add_uint64(field::kTimestamp, ns);
    out.add_uint32(field::kSequence, sequence());
    out.add_uint32(field::kSequenceFlags, flags_ | kNeeds);
    flags_ = 0;
    if (!pending_.empty()) out.add_message(field::kInterned, pending_);
    pending_.clear();
    out.add_message(field::kTrackEvent, event);
    files_.add(packet);
  }

  void define(const Slice& what) {
    if (defined_.insert(what.id).second) pending_ += what.interned;
  }

  std::string slice(const Slice& what, uint32_t thread) {
    add_descriptor(thread);
    define(what);
    std::string event;
    pbf_writer writer(event);
    writer.add_int32(field::kType, kBegin);
    writer.add_uint64(field::kTrack, track_of(rank_, thread));
    return event + what.event;
  }
  std::string end_event(uint32_t thread) const {
    std::string event;
    pbf_writer writer(event);
    writer.add_int32(field::kType, kEnd);
    writer.add_uint64(field::kTrack, track_of(rank_, thread));
    return event;
  }
  void end(uint32_t thread, uint64_t ns) {
    add_event(ns, end_event(thread));
    last_ns_[thread] = ns;
    if (!open_[thread].empty()) open_[thread].pop_back();
  }

  void receive(const events::Event& call, const events::Step& step) {
    ++job_.out.receives;
    Slice& what = message_;
    if (what.id == 0) {
      what.id = next_id_++;
      name(what, "message", "p2p");
      from_ = intern(what, field::kAnnotationNames, "from");
      tag_ = intern(what, field::kAnnotationNames, "tag");
    }
    define(what);
    std::string event;
    pbf_writer writer(event);
    writer.add_int32(field::kType, kInstant);
    writer.add_uint64(field::kTrack, track_of(rank_, call.thread));
    add_number(writer, from_, step.channel.source);
    add_number(writer, tag_, step.channel.tag);
    writer.add_fixed64(field::kEndsFlow, flow_of(step));
    add_event(call.end_ns, event + what.event);
  }

  // The id of a text in one of the tables of InternedData, which `what` then defines.
  uint64_t intern(Slice& what, uint32_t table, std::string_view text) {
    const auto [known, is_new] =
        ids_.try_emplace(std::to_string(table) + ' ' + std::string(text), next_iid_);
    if (is_new) ++next_iid_;
    std::string entry;
    pbf_writer writer(entry);
    writer.add_uint64(field::kIid, known->second);
    writer.add_string(field::kText, text.data(), text.size());
    pbf_writer(what.interned).add_message(table, entry);
    return known->second;
  }
  void name(Slice& what, std::string_view text, std::string_view category) {
    const uint64_t name = intern(what, field::kNames, text);
    const uint64_t group = intern(what, field::kCategories, category);
    pbf_writer writer(what.event);
    writer.add_uint64(field::kCategoryIid, group);
    writer.add_uint64(field::kNameIid, name);
  }
  static void add_number(pbf_writer& event, uint64_t name, int64_t number) {
    std::string annotation;
    pbf_writer writer(annotation);
    writer.add_uint64(field::kAnnotationIid, name);
    writer.add_int64(field::kInt, number);
    event.add_message(field::kAnnotation, annotation);
  }
  void annotate(Slice& what, std::string_view key, const Value& value) {
    if (value.is_null()) return;
    if (!value.is_integer()) return annotate(what, key, plain_text(job_, value));
    const uint64_t id = intern(what, field::kAnnotationNames, key);
    pbf_writer writer(what.event);
    add_number(writer, id, value.number);
  }
  void annotate(Slice& what, std::string_view key, const std::string& text) {
    if (text.empty()) return;
    const uint64_t id = intern(what, field::kAnnotationNames, key);
    const uint64_t value = intern(what, field::kStrings, text::printable(text));
    std::string annotation;
    pbf_writer writer(annotation);
    writer.add_uint64(field::kAnnotationIid, id);
    writer.add_uint64(field::kStringIid, value);
    pbf_writer(what.event).add_message(field::kAnnotation, annotation);
  }

  const Slice& call_slice(const Signature& call) {
    Slice& what = calls_[call.id];
    if (what.id != 0) return what;
    what.id = next_id_++;
    const mpi::CallInfo* info = mpi::find_call(call.call);
    name(what, call.name, info == nullptr ? "unknown" : mpi::to_string(info->group));
    annotate(what, "site", job_.sites.name(call.site));
    for (const Argument& argument : call.args) {
      annotate(what, argument.name, argument.value.at_exit());
      if (argument.value.kind == ValueKind::kChanged)
        annotate(what, std::string(argument.name) + "_in", argument.value.at_entry());
    }
    annotate(what, "return", call.result);
    annotate(what, "error_class", call.error_class);
    annotate(what, "matched", call.matched);
    return what;
  }
  const Slice& region_slice(RegionId region) {
    Slice& what = region_slices_[region];
    if (what.id != 0) return what;
    what.id = next_id_++;
    name(what, regions_.name(region), "region");
    return what;
  }

  Job& job_;
  Regions& regions_;
  Files& files_;
  const Rank rank_;
  std::unordered_map<SignatureId, Slice> calls_;
  std::unordered_map<RegionId, Slice> region_slices_;
  Slice message_;
  uint64_t from_ = 0, tag_ = 0;
  std::unordered_map<std::string, uint64_t> ids_;
  uint64_t next_id_ = 1, next_iid_ = 1;
  std::unordered_set<uint64_t> defined_;  // in this file
  std::unordered_set<uint32_t> threads_;  // that have a descriptor in this file
  std::map<uint32_t, std::vector<const Slice*>> open_;
  std::map<uint32_t, uint64_t> last_ns_;  // of each thread's events
  std::string pending_;
  uint32_t flags_ = kCleared;
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(Job& job) : job_(job), regions_(job), files_(job.options) {}

  Status run() {
    if (const Status done = begin_file(); !done.ok()) return done;
    events::World world(job_.trace);
    for (const Rank rank : job_.ranks) {
      events::RankEvents events(job_, world, rank);
      RankTrack track(job_, regions_, files_, rank);
      EnterLeave intervals(regions_, track);
      while (const events::Event* event = events.next()) {
        if (!event->in_window) continue;
        ++job_.out.calls;
        if (files_.is_full()) {
          track.close_open();
          if (const Status done = begin_file(); !done.ok()) return done;
          track.reopen();
        }
        intervals.add(*event);
        if (const Status done = files_.flush_if_full(); !done.ok()) return done;
      }
      intervals.finish();
      job_.not_held("ends of regions without a begin", intervals.unmatched_ends());
      events.report();
    }
    return files_.commit(job_.out);
  }

 private:
  Status begin_file() {
    if (const Status done = files_.next(); !done.ok()) return done;
    const std::string program(job_.trace.info().text_of("program"));
    std::string track;
    pbf_writer writer(track);
    writer.add_uint64(field::kUuid, kAllRanks);
    writer.add_string(
        field::kName,
        text::printable(program.substr(program.rfind('/') + 1)) +
            (job_.out.times == TimesFrom::kBuilt ? " (times are built from mean durations)" : ""));
    writer.add_int32(field::kChildOrdering, 3);  // by kOrderRank
    std::string packet;
    pbf_writer out(packet);
    out.add_uint32(field::kSequence, 1);
    out.add_message(field::kTrackDescriptor, track);
    files_.add(packet);
    return base::Done{};
  }

  Job& job_;
  Regions regions_;
  Files files_;
};

}  // namespace

Status write_perfetto(Job& job) { return PerfettoWriter(job).run(); }

}  // namespace refrain::convert
