#include "tracer/state/process.h"

#include "base/bytes.h"
#include "format/source_site.h"

namespace refrain::tracer {

uint32_t Process::define_site(uintptr_t address) {
  const Segment* const segment = code.segment_at(address);
  if (segment == nullptr) return UINT32_MAX;
  const Module& module = *segment->module;
  return define_told_site(module.path, module.build_id,
                          static_cast<int64_t>(address - module.bias));
}

uint32_t Process::define_source_site(std::string_view file, std::string_view function, int line) {
  return define_told_site(file, format::source_build_id(function), line);
}

uint32_t Process::define_told_site(std::string_view module, std::string_view build_id,
                                   int64_t offset) {
  base::ByteWriter payload;
  payload.put_string(module);
  payload.put_string(build_id);
  const uint32_t module_def =
      define_once(format::DefinitionKind::kModule, payload.view(), nullptr, 0);
  payload.clear();
  payload.put_zigzag(offset);
  return define_once(format::DefinitionKind::kSite, payload.view(), &module_def, 1);
}

uint32_t Process::define_path(const uint32_t* sites, size_t n) {
  return define_once(format::DefinitionKind::kPath, {}, sites, n);
}

void Process::lose(const char* reason, const char* detail) {
  Guard guard(*this);
  if (sink != nullptr) sink->loss(reason, 1, detail);
  for (format::LossRecord& l : losses)
    if (l.reason == reason && l.detail == detail) {
      ++l.calls;
      return;
    }
  losses.push_back(format::LossRecord{reason, 1, rank, detail});
}

}  // namespace refrain::tracer
