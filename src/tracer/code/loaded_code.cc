#include "tracer/code/loaded_code.h"

#include "tracer/code/python_frames.h"
#include "tracer/code/unloads.h"

namespace refrain::tracer {

const Segment* LoadedCode::segment_at(uintptr_t address) {
  const Segment* const known = addresses_.find(address);
  if (known != nullptr) return known;
  refresh();  // a library loaded since
  return addresses_.find(address);
}

void LoadedCode::refresh() {
  const uint32_t count = unloads();
  bool has_python = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    unloads_ = count;
    addresses_.refresh();
    has_python = addresses_.has_python();
  }
  const uintptr_t code = has_python ? python::find_interpreter() : 0;
  const Segment* const segment = code == 0 ? nullptr : addresses_.find(code);
  const Module* const module = segment == nullptr ? nullptr : segment->module;
  if (module != nullptr) python::is_in(code, module->path + ' ' + module->build_id, count);
  interpreter_.store(module, std::memory_order_relaxed);
}

void LoadedCode::forget_unloaded() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (unloads_ == unloads()) return;
  }
  refresh();
}

const Module* LoadedCode::module_at(uintptr_t address) {
  const Segment* const segment = segment_at(address);
  return segment == nullptr ? nullptr : segment->module;
}

bool LoadedCode::is_mpi(uintptr_t address) {
  const Module* const module = module_at(address);
  return module != nullptr && module->is_mpi;
}

bool LoadedCode::is_own(uintptr_t address) {
  const Module* const module = module_at(address);
  return module != nullptr && module->is_own;
}

bool LoadedCode::is_system(uintptr_t address) {
  const Module* const module = module_at(address);
  return module != nullptr && module->is_system;
}

}  // namespace refrain::tracer
