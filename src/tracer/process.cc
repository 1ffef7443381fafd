#include "tracer/process.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/byte_size.h"
#include "tracer/buffers.h"
#include "tracer/control.h"
#include "tracer/location.h"
#include "tracer/recording.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {

// Less than that is spent on moving parts about.
constexpr size_t kMinGrammarBytes = 64 * 1024;

std::string environment(const char* name, const char* fallback) {
  const char* v = std::getenv(name);
  return v != nullptr && v[0] != '\0' ? v : fallback;
}

std::string absolute(const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  char cwd[4096];
  return getcwd(cwd, sizeof cwd) != nullptr ? std::string(cwd) + "/" + path : path;
}

}  // namespace

void Process::start() {
  if (environment("REFRAIN_RECORD", "1") == "0") return set_unusual(unusual::kNotRecording, true);
  pid = static_cast<int>(getpid());
  options.output = absolute(environment("REFRAIN_OUTPUT", "run.rfn"));
  options.program = environment("REFRAIN_PROGRAM", "");
  options.command = environment("REFRAIN_COMMAND", "");
  options.quiet = environment("REFRAIN_QUIET", "0") != "0";
  options.call_path_depth = static_cast<uint32_t>(
      std::strtoul(environment("REFRAIN_CALLPATH", "8").c_str(), nullptr, 10));
  // A checkpoint needs as much again for a moment, and the tables want their share.
  const uint64_t memory = base::parse_bytes(environment("REFRAIN_MEMORY", "")).value_or(0);
  if (memory > 0)
    options.grammar_bytes = std::max(static_cast<size_t>(memory / 4), kMinGrammarBytes);
  clock.start();
  addresses.refresh();
  connect_heap(*this);
  start_control(*this);
}

uint32_t Process::define(format::DefinitionKind kind, std::string_view payload,
                         const uint32_t* refs, size_t ref_count) {
  base::ByteWriter key;
  key.put_u8(static_cast<uint8_t>(kind));
  key.put_varint(ref_count);
  for (size_t i = 0; i < ref_count; ++i) key.put_varint(refs[i]);
  key.put_bytes(payload.data(), payload.size());
  bool is_new = false;
  const uint32_t index = definition_index_.intern(key.view(), &is_new);
  if (is_new) {
    format::Definition d;
    d.kind = kind;
    d.payload = std::string(payload);
    d.refs.assign(refs, refs + ref_count);
    definitions.push_back(std::move(d));
    if (spool != nullptr) spool->definition(definitions.back());
  }
  return index;
}

uint32_t Process::define_site(uintptr_t address) {
  Guard guard(*this);
  const Segment* segment = addresses.find(address);
  if (segment == nullptr) {
    addresses.refresh();  // a library loaded since
    segment = addresses.find(address);
  }
  if (segment == nullptr) return UINT32_MAX;
  const Module& module = addresses.module(segment->module);
  base::ByteWriter payload;
  payload.put_string(module.path);
  payload.put_string(module.build_id);
  const uint32_t module_def = define(format::DefinitionKind::kModule, payload.view());
  payload.clear();
  payload.put_zigzag(static_cast<int64_t>(address - module.bias));
  return define(format::DefinitionKind::kSite, payload.view(), &module_def, 1);
}

uint32_t Process::define_path(const uint32_t* sites, size_t n) {
  Guard guard(*this);
  return define(format::DefinitionKind::kPath, {}, sites, n);
}

const Module* Process::module_at(uintptr_t address) {
  Guard guard(*this);
  const Segment* segment = addresses.find(address);
  if (segment == nullptr) {
    addresses.refresh();  // a library loaded since
    segment = addresses.find(address);
  }
  return segment == nullptr ? nullptr : &addresses.module(segment->module);
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
