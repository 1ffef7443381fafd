// Opening: read, check, and work out once what every question needs (lengths of grammars, the group
// of each rank). What comes after that looks things up.

#include "refrain/trace.h"

#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "format/content.h"
#include "format/decode/decode.h"
#include "format/time/spec.h"
#include "grammar/fold.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "reader/trace_file.h"
#include "reader/trace_impl.h"

namespace refrain {

namespace {

RunInfo info_of(const format::TraceData& data, uint64_t file_bytes) {
  RunInfo info;
  info.text = data.meta.text;
  info.hosts = data.meta.hosts;
  info.rank_count = data.meta.ranks;
  info.duration_ns = data.meta.duration_ns;
  info.file_bytes = file_bytes;
  info.complete = data.meta.complete;
  for (const format::LossRecord& loss : data.losses)
    info.losses.push_back({loss.reason, loss.calls, loss.rank, loss.detail});
  return info;
}

Durations statistics_of(const std::deque<format::DurationStats>& all, SignatureId id) {
  if (id >= all.size()) return {};
  const format::DurationStats& stats = all[id];
  return {stats.count, stats.min_ns, stats.max_ns, stats.sum_ns};
}

// The content was checked: every rank is in at most one group, and in the world.
void assign_groups(reader::TraceImpl& impl) {
  impl.group_of_rank.assign(impl.data.meta.ranks, reader::TraceImpl::kNoGroup);
  for (size_t g = 0; g < impl.data.groups.size(); ++g) {
    for (const base::RunList::Run& run : impl.data.groups[g].ranks.runs()) {
      for (uint64_t i = 0; i < run.count; ++i)
        impl.group_of_rank[static_cast<size_t>(run.start + run.step * static_cast<int64_t>(i))] =
            static_cast<uint32_t>(g);
    }
  }
}

// The content was checked: every rank is in one cluster.
void assign_leads(reader::TraceImpl& impl) {
  const format::ClusterData& clusters = impl.data.clusters;
  impl.time_rank = format::time_ranks(clusters, impl.data.meta.ranks);
  if (clusters.empty()) return;
  impl.lead_of_rank.assign(impl.data.meta.ranks, 0);
  for (const format::Cluster& c : clusters.clusters)
    for (const base::RunList::Run& run : c.members.runs())
      for (uint64_t i = 0; i < run.count; ++i)
        impl.lead_of_rank[static_cast<size_t>(run.start + run.step * static_cast<int64_t>(i))] =
            static_cast<uint32_t>(c.lead);
}

// Lengths of all grammars and the number of calls, which may not overflow.
Status count_calls(reader::TraceImpl& impl) {
  for (const grammar::Grammar& grammar : impl.data.grammars)
    impl.lengths.push_back(std::make_shared<const grammar::Lengths>(grammar::lengths(grammar)));
  for (size_t g = 0; g < impl.data.groups.size(); ++g) {
    const format::Group& group = impl.data.groups[g];
    for (const format::ThreadGrammar& location : group.locations) {
      const uint64_t calls = impl.lengths[location.grammar]->total();
      uint64_t all = 0;
      if (__builtin_mul_overflow(calls, group.ranks.size(), &all) ||
          __builtin_add_overflow(impl.call_count, all, &impl.call_count))
        return base::fail("damaged: group " + std::to_string(g) + " has more calls than can be");
    }
  }
  return base::Done{};
}

// By its name: whoever gives the spool for the trace wants to hear of `recover`.
bool is_spool(const std::filesystem::path& path) {
  const std::string name =
      path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
  return name.ends_with(".spool");
}

}  // namespace

std::string_view RunInfo::text_of(std::string_view key) const {
  const auto it = text.find(std::string(key));
  return it == text.end() ? std::string_view() : std::string_view(it->second);
}

const format::Group* reader::TraceImpl::group(Rank rank) const {
  if (rank < 0 || static_cast<uint64_t>(rank) >= group_of_rank.size()) return nullptr;
  const uint32_t g = group_of_rank[static_cast<size_t>(rank)];
  return g == kNoGroup ? nullptr : &data.groups[g];
}

namespace {

// Why a path cannot be a trace, before it is opened.
Status check_path(const std::string& path) {
  // As of a variable of a shell script that nobody has set.
  if (path.empty()) return base::fail("the name of the trace is empty");
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return base::Done{};
  if (is_spool(path))
    return base::fail(
        "this is what an unfinished run left; make a trace of it with `refrain recover " + path +
            "`",
        path);
  return base::fail("is a directory, not a trace", path);
}

Error with_advice(Error error, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path + ".spool", ignored))
    error.message += "; its run did not finish: `refrain recover " + path + ".spool`";
  return error;
}

// What was read of a trace, whose indices are good.
struct Parts {
  format::TraceData data;
  std::string name;
  uint64_t file_bytes = 0;
  int minor = 0;  // of the format
  std::shared_ptr<reader::TimeStore> times;
};

Result<Trace> build(Parts parts) {
  auto impl = std::make_shared<reader::TraceImpl>();
  impl->name = std::move(parts.name);
  impl->data = std::move(parts.data);
  impl->times = std::move(parts.times);
  impl->info = info_of(impl->data, parts.file_bytes);
  impl->info.format_major = format::kMajor;
  impl->info.format_minor = parts.minor;
  impl->world.append_run(0, 1, impl->data.meta.ranks);
  auto definitions = reader::DefinitionTable::parse(impl->data.definitions);
  if (!definitions.ok()) return base::fail(definitions.error().message, impl->name);
  impl->definitions = std::move(*definitions);
  assign_groups(*impl);
  assign_leads(*impl);
  const Status counted = count_calls(*impl);
  if (!counted.ok()) return base::fail(counted.error().message, impl->name);
  impl->call_of_signature.reserve(impl->data.signatures.size());
  for (const auto& signature : impl->data.signatures)
    impl->call_of_signature.push_back(
        static_cast<CallId>(base::ByteReader(signature.shape).varint()));
  return reader::Internal::trace(std::move(impl));
}

// The entry of the times, in a header that was read before.
const format::SectionEntry* times_of(const format::FileHeader& header) {
  if (header.sections.empty() || header.sections.back().type != format::SectionType::kTime)
    return nullptr;
  return &header.sections.back();
}

}  // namespace

namespace reader {

Result<std::string> read_trace_file(const std::string& path) {
  const Status sensible = check_path(path);
  if (!sensible.ok()) return sensible.error();
  Result<std::string> bytes = format::read_file(path);
  if (!bytes.ok()) return with_advice(bytes.error(), path);
  return bytes;
}

}  // namespace reader

Result<Trace> Trace::open(const std::string& path) {
  const Status sensible = check_path(path);
  if (!sensible.ok()) return sensible.error();
  const Result<format::OpenFile> file = format::open_file(path);
  if (!file.ok()) return with_advice(file.error(), path);
  // Closes the file if nobody needs it.
  std::shared_ptr<reader::TimeStore> times = reader::TimeStore::in_file(file->fd, 0, 0);
  Result<format::TraceData> data = format::decode(file->bytes, path, file->file_bytes);
  if (!data.ok()) return data.error();
  const Result<format::FileHeader> header =
      format::read_header(file->bytes, path, file->file_bytes);
  if (!header.ok()) return header.error();
  if (const format::SectionEntry* entry = times_of(*header); entry != nullptr)
    times->place(entry->offset, entry->stored_bytes);
  else
    times = nullptr;
  return build({std::move(*data), path, file->file_bytes, header->minor, std::move(times)});
}

Result<Trace> Trace::from_bytes(std::string_view bytes, std::string name) {
  Result<format::TraceData> data = format::decode(bytes, name);
  if (!data.ok()) return data.error();
  const Result<format::FileHeader> header = format::read_header(bytes, name);
  if (!header.ok()) return header.error();
  std::shared_ptr<reader::TimeStore> times;
  if (const format::SectionEntry* entry = times_of(*header); entry != nullptr)
    times =
        reader::TimeStore::in_memory(std::string(bytes.substr(entry->offset, entry->stored_bytes)));
  return build({std::move(*data), std::move(name), bytes.size(), header->minor, std::move(times)});
}

Result<Trace> reader::trace_of(format::TraceData data, std::string name, uint64_t file_bytes) {
  // Data that was put together in memory has to obey the same rules as a file.
  const std::vector<format::Finding> findings = format::check_content(data);
  if (!findings.empty()) return base::fail(findings.front().to_string(), name);
  std::shared_ptr<reader::TimeStore> times;
  if (!data.times.empty()) times = reader::TimeStore::of(data.times);
  return build({std::move(data), std::move(name), file_bytes, format::kMinor, std::move(times)});
}

bool Trace::has_times() const { return impl_->times != nullptr; }

Status Trace::check_times() const {
  if (!has_times()) return base::Done{};
  const Status good = impl_->times->check(impl_->data.meta.ranks);
  return good.ok() ? good : Status(reader::in_trace(good.error(), impl_->name));
}

Result<Trace> Trace::open_with_times(const std::string& path) {
  Result<Trace> trace = open(path);
  if (!trace.ok()) return trace;
  if (const Status good = trace->check_times(); !good.ok()) return good.error();
  return trace;
}

Result<format::TimeSpec> reader::time_spec_of(const Trace& trace) {
  if (!trace.has_times()) return format::TimeSpec{};
  const TraceImpl& impl = Internal::of(trace);
  const auto table = impl.times->table(impl.data.meta.ranks);
  if (!table.ok()) return reader::in_trace(table.error(), impl.name);
  return (*table)->spec();
}

Result<Timing> Trace::timing() const {
  const auto spec = reader::time_spec_of(*this);
  if (!spec.ok()) return spec.error();
  Timing timing;
  switch (spec->mode) {
    case format::TimeMode::kStats: timing.kind = TimingKind::kStatistics; break;
    case format::TimeMode::kBins: timing.kind = TimingKind::kBounded; break;
    case format::TimeMode::kExact: timing.kind = TimingKind::kExact; break;
    case format::TimeMode::kSegments: timing.kind = TimingKind::kSegments; break;
  }
  timing.bound = static_cast<double>(spec->bound) / format::TimeSpec::kOne;
  timing.text = spec->to_string();
  return timing;
}

Result<Trace::TimeSize> Trace::time_size() const {
  TimeSize size;
  if (!has_times()) return size;
  const auto table = impl_->times->table(impl_->data.meta.ranks);
  if (!table.ok()) return reader::in_trace(table.error(), impl_->name);
  size.bytes = impl_->times->bytes();
  size.blocks = (*table)->block_count();
  for (const auto& [location, blocks] : (*table)->locations())
    if (!blocks.empty()) size.calls += blocks.back().first_call + blocks.back().block.calls;
  return size;
}

const RunInfo& Trace::info() const { return impl_->info; }
const std::string& Trace::name() const { return impl_->name; }
Rank Trace::rank_count() const { return static_cast<Rank>(impl_->data.meta.ranks); }
uint64_t Trace::call_count() const { return impl_->call_count; }

Result<reader::TimeParts> reader::time_parts_of(const Trace& trace) {
  if (!trace.has_times())
    return base::unsupported("there are no times of single calls", trace.name());
  const TraceImpl& impl = Internal::of(trace);
  auto index = impl.times->index(impl.data.meta.ranks);
  if (!index.ok()) return reader::in_trace(index.error(), impl.name);
  return TimeParts{std::move(*index), [store = impl.times](uint64_t offset, uint64_t count) {
                     return store->read(offset, count);
                   }};
}

const format::OwnWork* reader::own_work_of(const Trace& trace, Rank rank, uint32_t thread) {
  const Rank of = trace.times_rank(rank);
  return of < 0 ? nullptr
                : format::find_own_work(data_of(trace), static_cast<uint64_t>(of), thread);
}

double reader::small_work_a_call(const Trace& trace, Rank rank) {
  const Rank of = trace.times_rank(rank);
  const format::TraceData& data = data_of(trace);
  if (of < 0 || static_cast<size_t>(of) >= data.totals.size()) return 0;
  uint64_t ns = data.totals[static_cast<size_t>(of)].own_ns, calls = 0;
  if (ns == 0) return 0;
  for (const Location& location : trace.locations(of)) {
    calls += location.calls;
    if (const format::OwnWork* const work = own_work_of(trace, of, location.thread))
      for (const format::OwnPiece& piece : work->pieces) ns -= std::min(ns, piece.ns);
  }
  return calls == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(calls);
}

const format::TraceData& reader::data_of(const Trace& trace) { return Internal::of(trace).data; }

std::vector<Location> Trace::locations(Rank rank) const {
  // Those of the group, whose first rank stands in for all of them.
  const std::optional<GroupId> group = group_of(rank);
  if (!group) return {};
  std::vector<Location> locations = group_locations(*group);
  for (Location& location : locations) location.rank = rank;
  return locations;
}

GroupId Trace::group_count() const { return static_cast<GroupId>(impl_->data.groups.size()); }

std::optional<GroupId> Trace::group_of(Rank rank) const {
  const format::Group* group = impl_->group(rank);
  if (group == nullptr) return std::nullopt;
  return static_cast<GroupId>(group - impl_->data.groups.data());
}

uint64_t Trace::group_size(GroupId group) const { return impl_->data.groups[group].ranks.size(); }

Rank Trace::group_rank(GroupId group, uint64_t i) const {
  return impl_->data.groups[group].ranks.at(i);
}

std::vector<Location> Trace::group_locations(GroupId group) const {
  std::vector<Location> locations;
  const format::Group& g = impl_->data.groups[group];
  const Rank first = g.ranks.empty() ? 0 : g.ranks.at(0);
  for (const format::ThreadGrammar& location : g.locations)
    locations.push_back(
        {first, location.thread, impl_->lengths[location.grammar]->total(), location.grammar});
  return locations;
}

std::vector<Trace::Occurrence> Trace::occurrences(GroupId group) const {
  const format::Group& g = impl_->data.groups[group];
  std::vector<uint64_t> calls(g.signatures.size());
  for (const format::ThreadGrammar& location : g.locations) {
    const std::vector<uint64_t> of_thread =
        grammar::occurrences(impl_->data.grammars[location.grammar], calls.size());
    for (size_t t = 0; t < calls.size(); ++t) calls[t] += of_thread[t];
  }
  std::vector<Occurrence> result;
  for (size_t t = 0; t < calls.size(); ++t)
    if (calls[t] > 0) result.push_back({g.signatures[t], calls[t]});
  return result;
}

SignatureId Trace::signature_count() const {
  return static_cast<SignatureId>(impl_->data.signatures.size());
}

CallId Trace::call_of(SignatureId id) const { return impl_->call_of_signature[id]; }

Durations Trace::durations(SignatureId id) const {
  return statistics_of(impl_->data.durations, id);
}

bool Trace::has_gaps() const { return !impl_->data.gaps.empty(); }

Durations Trace::gaps(SignatureId id) const { return statistics_of(impl_->data.gaps, id); }

std::vector<uint64_t> Trace::gap_histogram(SignatureId id) const {
  std::vector<uint64_t> counts;
  if (id >= impl_->data.gaps.size()) return counts;
  const format::Histogram& histogram = impl_->data.gaps[id].histogram;
  for (size_t i = 0; i < histogram.size(); ++i) counts.push_back(histogram[i]);
  return counts;
}

DefinitionId Trace::definition_count() const {
  return static_cast<DefinitionId>(impl_->definitions.size());
}

}  // namespace refrain
