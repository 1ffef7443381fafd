// paraver: the trace (.prv), the names of its numbers (.pcf) and of its rows (.row).
//
// Paraver wants all records by time, and both ends of a message in one. Ranks are walked one after
// another; records, and ends of messages before they are joined, are sorted outside of memory.
// Channels that are too many for a table make the walk begin again: then ends are sorted by channel
// to be numbered (message_ends.h), and again to get the numbers of their channels.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/paraver_names.h"
#include "convert/paraver_rank.h"
#include "events/by_rank/survey.h"
#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::convert {
namespace {

using paraver::End;
using paraver::MetEnd;
using paraver::ParaverRank;
using paraver::Record;

class ParaverWriter {
 public:
  // Without a table, a survey has to give the ends their numbers.
  ParaverWriter(Job& job, std::string path, bool has_table)
      : job_(job), path_(std::move(path)), shared_(job, has_table), regions_(job) {}

  // Reads the calls. False: the table would be too large.
  Result<bool> walk(events::World& world) {
    for (const Rank rank : job_.ranks) {
      events::RankEvents events(job_, world, rank);
      ParaverRank records(job_, shared_, regions_, rank);
      EnterLeave intervals(regions_, records);
      while (const events::Event* event = events.next()) {
        if (!shared_.met && !fits(events)) return false;
        if (!event->in_window) continue;
        ++job_.out.calls;
        intervals.add(*event);
        if (!shared_.status.ok()) return shared_.status.error();
      }
      intervals.finish();
      job_.not_held("ends of regions without a begin", intervals.unmatched_ends());
      events.report();
    }
    if (!shared_.status.ok()) return shared_.status.error();
    return true;
  }
  Status finish() {
    shared_.channels = {};
    events::give_back_memory();
    if (const Status done = number_channels(); !done.ok()) return done;
    if (const Status done = join_messages(); !done.ok()) return done;
    return write_files();
  }

 private:
  static constexpr size_t kChannelBytes = 80;

  bool fits(const events::RankEvents& events) const {
    return shared_.channels.size() * kChannelBytes +
               events.channels() * events::RankEvents::kChannelBytes <=
           job_.options.memory / 2;
  }

  // A channel's number is that of its first end: so they are in the order in which they are met.
  Status number_channels() {
    if (!shared_.met) return base::Done{};
    if (const Status done = shared_.met->finish(); !done.ok()) return done;
    MetEnd first;
    bool has_first = false;
    while (const MetEnd* one = shared_.met->next()) {
      if (!has_first || !(first.key == one->key)) first = *one, has_first = true;
      End end = one->end;
      end.channel = first.end.channel;
      if (const Status done = shared_.ends.add(end); !done.ok()) return done;
    }
    const Status done = shared_.met->status();
    shared_.met.reset();
    return done;
  }

  // The ends of a message follow each other, the sender's first.
  Status join_messages() {
    if (const Status done = shared_.ends.finish(); !done.ok()) return done;
    End send;
    bool has_send = false;
    while (const End* end = shared_.ends.next()) {
      const bool is_send = end->sends == 0;
      if (has_send && !is_send && send.channel == end->channel && send.number == end->number) {
        if (const Status done = shared_.records.add(message(send, *end)); !done.ok()) return done;
        has_send = false;
        continue;
      }
      if (has_send || !is_send) job_.not_held("ends of messages whose other end is not there");
      has_send = is_send;
      if (is_send) send = *end;
    }
    if (has_send) job_.not_held("ends of messages whose other end is not there");
    return shared_.ends.status();
  }

  Record message(const End& send, const End& receive) {
    Record out;
    out.ns = send.begin_ns;
    out.order = shared_.order++;
    out.kind = 3;
    out.task = send.task;
    out.thread = send.thread;
    out.other_task = receive.task;
    out.other_thread = receive.thread;
    out.value[0] = receive.begin_ns;
    out.value[1] = receive.end_ns;
    out.value[2] = send.bytes;
    out.value[3] = static_cast<uint64_t>(send.tag);
    ++job_.out.sends;
    ++job_.out.receives;
    return out;
  }

  std::string header() const {
    const format::Meta& meta = reader::data_of(job_.trace).meta;
    std::vector<size_t> cpus(std::max<size_t>(1, meta.hosts.size()));
    std::string tasks;
    for (const Rank rank : job_.ranks) {
      auto host = static_cast<size_t>(meta.host_of_rank.at(static_cast<uint64_t>(rank)));
      if (host >= cpus.size()) host = 0;
      ++cpus[host];
      fmt::format_to(std::back_inserter(tasks), "{}{}:{}", tasks.empty() ? "" : ",",
                     job_.trace.locations(rank).size(), host + 1);
    }
    std::string nodes;
    for (const size_t count : cpus)
      fmt::format_to(std::back_inserter(nodes), "{}{}", nodes.empty() ? "" : ",", count);
    // 2026-11-21T17:18:46Z
    const std::string started(job_.trace.info().text_of("started"));
    const std::string date =
        started.size() >= 16
            ? fmt::format("{}/{}/{} at {}", started.substr(8, 2), started.substr(5, 2),
                          started.substr(2, 2), started.substr(11, 5))
            : std::string("01/01/70 at 00:00");
    return fmt::format("#Paraver ({}):{}_ns:{}({}):1:{}({})\n", date, shared_.last_ns, cpus.size(),
                       nodes, job_.ranks.size(), tasks);
  }

  static void append(std::string& out, const Record& r) {
    const auto at = std::back_inserter(out);
    if (r.kind == 1) {
      fmt::format_to(at, "1:{}:1:{}:{}:{}:{}:{}\n", r.task, r.task, r.thread, r.ns, r.value[0],
                     r.value[1]);
    } else if (r.kind == 2) {
      fmt::format_to(at, "2:{}:1:{}:{}:{}", r.task, r.task, r.thread, r.ns);
      for (uint32_t i = 0; i < r.pairs; ++i)
        fmt::format_to(at, ":{}:{}", r.value[2 * i], r.value[2 * i + 1]);
      out += '\n';
    } else {
      fmt::format_to(at, "3:{}:1:{}:{}:{}:{}:{}:1:{}:{}:{}:{}:{}:{}\n", r.task, r.task, r.thread,
                     r.ns, r.ns, r.other_task, r.other_task, r.other_thread, r.value[0], r.value[1],
                     r.value[2], static_cast<int64_t>(r.value[3]));
    }
  }

  Status write_files() {
    if (const Status done = shared_.records.finish(); !done.ok()) return done;
    auto prv = BufferedFile::create(path_, "the Paraver trace");
    if (!prv.ok()) return prv.error();
    prv->buffer() += header();
    while (const Record* record = shared_.records.next()) {
      append(prv->buffer(), *record);
      if (const Status done = prv->flush_if_full(); !done.ok()) return done;
    }
    if (!shared_.records.status().ok()) return shared_.records.status();
    const std::string stem = path_.substr(0, path_.size() - 4);
    auto pcf = BufferedFile::create(stem + ".pcf", "the Paraver trace");
    if (!pcf.ok()) return pcf.error();
    pcf->buffer() += pcf_text(shared_.names);
    if (job_.out.times == TimesFrom::kBuilt)
      pcf->buffer() +=
          "\n# Times are built from mean durations: the trace has none of single calls.\n";
    auto row = BufferedFile::create(stem + ".row", "the Paraver trace");
    if (!row.ok()) return row.error();
    row->buffer() += row_text(job_);
    job_.out.bytes = prv->size() + pcf->size() + row->size();
    job_.out.files = {path_, stem + ".pcf", stem + ".row"};
    // None gets its name before the bytes of all are on the disk.
    for (BufferedFile* file : {&*prv, &*pcf, &*row})
      if (const Status done = file->flush(); !done.ok()) return done;
    for (BufferedFile* file : {&*prv, &*pcf, &*row})
      if (const Status done = file->commit(); !done.ok()) return done;
    return base::Done{};
  }

  Job& job_;
  std::string path_;
  ParaverRank::Shared shared_;
  Regions regions_;
};

Status with_table(Job& job, const std::string& path, bool& fits) {
  events::World world(job.trace);
  ParaverWriter writer(job, path, true);
  const Result<bool> walked = writer.walk(world);
  if (!walked.ok()) return walked.error();
  fits = *walked;
  return fits ? writer.finish() : Status(base::Done{});
}

Status without_table(Job& job, const std::string& path) {
  events::World world(job.trace);
  job.expect_passes(2);
  events::Survey survey(job, world);
  Status done = survey.run_outside(events::MessageEnds::Wanted::kNumbers);
  if (!done.ok()) return done;
  ParaverWriter writer(job, path, false);
  const Result<bool> walked = writer.walk(world);
  if (!walked.ok()) return walked.error();
  done = survey.status();
  return done.ok() ? writer.finish() : done;
}

}  // namespace

Status write_paraver(Job& job) {
  std::string path = job.options.output;
  if (!path.ends_with(".prv")) path += ".prv";
  const std::string stem = path.substr(0, path.size() - 4);
  for (const char* suffix : {".prv", ".pcf", ".row"})
    if (const Status free = check_output(stem + suffix, job.options.force, {}); !free.ok())
      return free;
  const Outcome before = job.out;
  bool fits = false;
  const Status done = with_table(job, path, fits);
  if (!done.ok() || fits) return done;
  job.out = before;
  return without_table(job, path);
}

}  // namespace refrain::convert
