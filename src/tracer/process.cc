#include "tracer/process.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/byte_size.h"
#include "format/source_site.h"
#include "tracer/buffers.h"
#include "tracer/built_with.h"
#include "tracer/call_times.h"
#include "tracer/control.h"
#include "tracer/location.h"
#include "tracer/path_check.h"
#include "tracer/python_frames.h"
#include "tracer/segment_times.h"
#include "tracer/slow_path_reasons.h"
#include "tracer/spool.h"
#include "tracer/table_epochs.h"
#include "tracer/unloads.h"

namespace refrain::tracer {

namespace {

std::string environment(const char* name, const char* fallback) {
  const char* v = std::getenv(name);
  return v != nullptr && v[0] != '\0' ? v : fallback;
}

std::string absolute(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char cwd[4096];
  return getcwd(cwd, sizeof cwd) != nullptr ? std::string(cwd) + "/" + path : path;
}

base::ByteWriter key_of(format::DefinitionKind kind, std::string_view payload, const uint32_t* refs,
                        size_t ref_count) {
  base::ByteWriter key;
  key.put_u8(static_cast<uint8_t>(kind));
  key.put_varint(ref_count);
  for (size_t i = 0; i < ref_count; ++i) key.put_varint(refs[i]);
  key.put_bytes(payload.data(), payload.size());
  return key;
}

CallTimes* make_times(const format::TimeSpec& timing, const std::string& output) {
  const bool has_copy = timing.mode != format::TimeMode::kExact;
  auto* const times =
      new CallTimes(timing, has_copy ? environment("REFRAIN_EXACT_COPY", "") : std::string(),
                    PlainSpec::from_environment(output), ClockRounds::interval_from_environment());
  if (timing.mode != format::TimeMode::kSegments) return times;
  const auto method = similarity::parse_method(timing.method);
  if (!method.ok()) return times;  // it has been asked
  const std::string source = environment("REFRAIN_SEGMENTS", "loops");
  const std::string across = environment("REFRAIN_ACROSS_RANKS", "groups");
  times->make_segments(
      new SegmentTimes(*method, format::source_of(source).value_or(format::SegmentSource::kLoops),
                       format::across_of(across).value_or(format::AcrossRanks::kGroups)),
      source, across);
  return times;
}

}  // namespace

void Process::start() {
  leave_if_other_mpi();
  if (environment("REFRAIN_RECORD", "1") == "0")
    return set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  pid = static_cast<int>(getpid());
  options.output = absolute(environment("REFRAIN_OUTPUT", "run.rfn"));
  options.program = environment("REFRAIN_PROGRAM", "");
  options.command = environment("REFRAIN_COMMAND", "");
  options.quiet = environment("REFRAIN_QUIET", "0") != "0";
  options.totals = environment("REFRAIN_TOTALS", "on") != "off";
  options.call_path_depth =
      static_cast<uint32_t>(base::parse_bytes(environment("REFRAIN_CALLPATH", "8")).value_or(8));
  const uint64_t memory = base::parse_bytes(environment("REFRAIN_MEMORY", "")).value_or(0);
  if (memory > 0) bound_memory(*this, memory);
  clock.start();
  if (const auto timing = format::TimeSpec::parse(environment("REFRAIN_TIMING", "stats"));
      timing.ok() && timing->has_times())
    times = make_times(*timing, options.output);
  path_check = PathCheck::from_environment();
  see_what_is_loaded();
  connect_heap(*this);
  start_control(*this);
}

// What others may come across is in the spool by then.
uint32_t Process::define(format::DefinitionKind kind, std::string_view payload,
                         const uint32_t* refs, size_t ref_count) {
  const base::ByteWriter key = key_of(kind, payload, refs, ref_count);
  const uint32_t hash = InternTable::hash_of(key.view());
  const uint32_t known = definition_index_.find(key.view(), hash);
  if (known != InternTable::kMissing) return known;
  format::Definition d;
  d.kind = kind;
  d.payload = std::string(payload);
  d.refs.assign(refs, refs + ref_count);
  definitions.push_back(std::move(d));
  if (spool != nullptr) spool->definition(definitions.back());
  return definition_index_.add(key.view(), hash);
}

uint32_t Process::define_once(format::DefinitionKind kind, std::string_view payload,
                              const uint32_t* refs, size_t ref_count) {
  const base::ByteWriter key = key_of(kind, payload, refs, ref_count);
  const uint32_t known = definition_index_.find(key.view());
  if (known != InternTable::kMissing) return known;
  Guard guard(*this);
  return define(kind, payload, refs, ref_count);
}

uint32_t Process::definition_of(format::DefinitionKind kind, uint64_t key) {
  uint32_t def = HandleMap::kMissing;
  if (threaded && handles.try_find(kind, key, &def)) return def;
  Guard guard(*this);
  return handles.find(kind, key);
}

uint32_t Process::intern(InternTable& table, std::string_view bytes) {
  const uint32_t hash = InternTable::hash_of(bytes);
  uint32_t index = table.find(bytes, hash);
  if (index != InternTable::kMissing) return index;
  Guard guard(*this);
  if (threaded) index = table.find(bytes, hash);
  return index != InternTable::kMissing ? index : table.add(bytes, hash);
}

uint32_t Process::make_terminal(std::string_view bytes, uint32_t hash, bool* is_new) {
  const uint32_t known = threaded ? signatures.find(bytes, hash) : InternTable::kMissing;
  if (is_new != nullptr) *is_new = known == InternTable::kMissing;
  if (known != InternTable::kMissing) return known;
  first_ticks.push_back(kNotCalled);
  if (spool != nullptr) spool->signature(bytes);
  return signatures.add(bytes, hash);
}

void Process::begin_threads() {
  threaded = true;
  if (!is_bounded()) {
    signatures.share();
    request_pools.share();
  }
  left_out.share();
  handles.share();
  definition_index_.share();
  requests.begin_threads();
}

uint32_t Process::define_site(uintptr_t address) {
  const Segment* const segment = segment_at(address);
  if (segment == nullptr) return UINT32_MAX;
  const Module& module = *segment->module;
  base::ByteWriter payload;
  payload.put_string(module.path);
  payload.put_string(module.build_id);
  const uint32_t module_def =
      define_once(format::DefinitionKind::kModule, payload.view(), nullptr, 0);
  payload.clear();
  payload.put_zigzag(static_cast<int64_t>(address - module.bias));
  return define_once(format::DefinitionKind::kSite, payload.view(), &module_def, 1);
}

uint32_t Process::define_source_site(std::string_view file, std::string_view function, int line) {
  base::ByteWriter payload;
  payload.put_string(file);
  payload.put_string(format::source_build_id(function));
  const uint32_t module_def =
      define_once(format::DefinitionKind::kModule, payload.view(), nullptr, 0);
  payload.clear();
  payload.put_zigzag(line);
  return define_once(format::DefinitionKind::kSite, payload.view(), &module_def, 1);
}

uint32_t Process::define_path(const uint32_t* sites, size_t n) {
  return define_once(format::DefinitionKind::kPath, {}, sites, n);
}

const Segment* Process::segment_at(uintptr_t address) {
  const Segment* const known = addresses.find(address);
  if (known != nullptr) return known;
  see_what_is_loaded();  // a library loaded since
  return addresses.find(address);
}

// The loader is asked for functions without our lock: a library that is being loaded, which has the
// loader's, may call MPI and wait for ours.
void Process::see_what_is_loaded() {
  const uint32_t count = unloads();
  bool has_python = false;
  {
    Guard guard(*this);
    unloads_ = count;
    addresses.refresh();
    has_python = addresses.has_python();
  }
  const uintptr_t code = has_python ? python::find_interpreter() : 0;
  const Segment* const segment = code == 0 ? nullptr : addresses.find(code);
  const Module* const module = segment == nullptr ? nullptr : segment->module;
  if (module != nullptr) python::is_in(code, module->path + ' ' + module->build_id, count);
  interpreter_.store(module, std::memory_order_relaxed);
}

void Process::forget_unloaded() {
  {
    Guard guard(*this);
    if (unloads_ == unloads()) return;
  }
  see_what_is_loaded();
}

const Module* Process::module_at(uintptr_t address) {
  const Segment* const segment = segment_at(address);
  return segment == nullptr ? nullptr : segment->module;
}

bool Process::is_mpi_code(uintptr_t address) {
  const Module* module = module_at(address);
  return module != nullptr && module->is_mpi;
}

bool Process::is_own_code(uintptr_t address) {
  const Module* module = module_at(address);
  return module != nullptr && module->is_own;
}

bool Process::is_system_code(uintptr_t address) {
  const Module* module = module_at(address);
  return module != nullptr && module->is_system;
}

void Process::lose(const char* reason, const char* detail) {
  Guard guard(*this);
  if (spool != nullptr) spool->loss(reason, 1, detail);
  for (format::Loss& l : losses)
    if (l.reason == reason && l.detail == detail) {
      ++l.calls;
      return;
    }
  losses.push_back(format::Loss{reason, 1, rank, detail});
}

}  // namespace refrain::tracer
