#include "tracer/paths/python_paths.h"

#include <algorithm>
#include <new>
#include <string>

#include "tracer/state/process.h"

namespace refrain::tracer {
namespace {

// What imports modules is no part of the program, and would fill paths of calls while mpi4py is
// imported.
bool is_import(const python::Place& place) { return place.file.rfind("<frozen importlib", 0) == 0; }

bool is_mpi4py(const Module* module) {
  return module != nullptr && module->path.find("/mpi4py/") != std::string::npos;
}

uint64_t mixed(uint64_t key, uint64_t word) {
  const uint64_t product = (key ^ word) * 0x9e3779b97f4a7c15u;
  return product ^ (product >> 32);
}

}  // namespace

bool SeenPath::holds_in_python(uintptr_t from, uintptr_t at) const {
  return python->is_told && leads_through_python(from, at) && python::still_holds(python->frames);
}

size_t frames_before_python(Process& process, const CallPlace& call, const Walk& walk,
                            size_t& frames) {
  const Module* const interpreter = process.code.interpreter();
  frames = walk.count;
  if (interpreter == nullptr) return SIZE_MAX;
  if (walk.count == 0 || walk.frames[0].return_address != call.address)
    return is_mpi4py(process.code.module_at(call.address)) ? 0 : SIZE_MAX;
  const auto module_of = [&](size_t i) {
    return process.code.module_at(walk.frames[i].return_address);
  };
  size_t i = 0;
  while (i < walk.count && module_of(i) != interpreter) ++i;
  const size_t first = i;
  frames = std::min(first + 1, walk.count);
  while (i > 0 && is_mpi4py(module_of(i - 1))) --i;
  // Short paths may end within mpi4py, which nobody but the interpreter calls.
  return first < walk.count || i < first ? i : SIZE_MAX;
}

bool set_through_python(SeenPath& seen, uint32_t words, const uint32_t* sites, size_t n) {
  if (seen.python == nullptr) seen.python = new (std::nothrow) SeenPython;
  if (seen.python == nullptr) return false;
  seen.python->address = seen.address;
  seen.python->is_told = false;
  seen.python->words = words;
  seen.python->key = seen.frame;
  for (uint32_t i = 0; i < words; ++i)
    seen.python->key = mixed(seen.python->key, seen.word()[i].value);
  seen.python->sites = static_cast<uint32_t>(n);
  std::copy_n(sites, n, seen.python->site);
  seen.address = 0;
  return true;
}

const SeenPath& PythonPaths::find(Process& process, SeenPath& native) {
  python::Frame top;
  size_t count = 0;
  bool is_all = false;
  if (const python::Answer answer = python::read(&top, 1, count, is_all);
      answer != python::Answer::kRead)
    return without_frames(process, native, answer);
  const uintptr_t address = native.python->address;
  const uint64_t key = native.python->key ^ (top.code >> 3) ^ top.instruction;
  Known*& latest = latest_[mixed(key, 0) >> kShift];
  if (latest == nullptr || !latest->path.still_holds(address, native.frame)) {
    Known*& place = known_[slot_by_frames(process, native)];
    if (place == nullptr || !place->path.still_holds(address, native.frame)) {
      const SeenPath& path = read(process, native, place);
      latest = place;
      if (place == nullptr || &path != &place->path) return path;
    }
    latest = place;
  }
  native.python->latest = &latest->path;
  return latest->path;
}

// 0 where the frames cannot be told, which read() says again.
size_t PythonPaths::slot_by_frames(const Process& process, const SeenPath& native) {
  python::Frame frames[SeenPath::kMaxDepth];
  size_t count = 0;
  bool is_all = false;
  const size_t depth = std::min<size_t>(process.options.call_path_depth, SeenPath::kMaxDepth);
  python::read(frames, depth - native.python->sites, count, is_all);
  uint64_t key = native.python->key;
  for (size_t i = 0; i < count; ++i) key = mixed(mixed(key, frames[i].code), frames[i].instruction);
  return mixed(key, 0) >> kShift;
}

const SeenPath& PythonPaths::without_frames(Process& process, SeenPath& native,
                                            python::Answer answer) {
  if (answer != python::Answer::kNoFrame && !native.python->is_counted) {
    process.lose("python_frames", "call paths without the frames of Python");
    native.python->is_counted = true;
  }
  // A path like others from here on, which calls that repeat need not ask for again.
  if (answer == python::Answer::kNever) {
    native.address = native.python->address;
    native.python->address = 0;
  }
  return native;
}

const SeenPath& PythonPaths::read(Process& process, SeenPath& native, Known*& place) {
  if (place == nullptr) place = new (std::nothrow) Known;
  if (place == nullptr) return native;
  SeenPath& path = place->path;
  SeenPython& known = place->python;
  path.forget();
  const size_t depth = std::min<size_t>(process.options.call_path_depth, SeenPath::kMaxDepth);
  uint32_t sites[SeenPath::kMaxDepth];
  size_t n = native.python->sites;
  std::copy_n(native.python->site, n, sites);
  // As many frames as there are steps; all of them where some are none.
  for (size_t most = depth - n; n < depth;) {
    const python::Answer answer = python::read(known.frames, most);
    if (answer != python::Answer::kRead) return without_frames(process, native, answer);
    bool has_import = false;
    size_t steps = n;
    for (size_t i = 0; i < known.frames.count && steps < depth; ++i) {
      python::Place at;
      if (!python::find_place(known.frames.frame[i], at))
        return without_frames(process, native, python::Answer::kCannot);
      has_import = has_import || is_import(at);
      if (!is_import(at))
        sites[steps++] = process.define_source_site(at.file, at.function, at.line);
    }
    if (!has_import || steps == depth || known.frames.is_all || most == python::kMostFrames) {
      n = steps;
      break;
    }
    most = python::kMostFrames;
  }
  if (n == 0) return native;
  path.frame = native.frame;
  path.words = native.python->words;
  std::copy_n(native.word(), path.words, path.word());
  path.definition = n == 1 ? sites[0] : process.define_path(sites, n);
  path.python = &known;
  known.address = native.python->address;
  known.is_told = true;
  return path;
}

void PythonPaths::forget() {
  for (Known* const known : known_)
    if (known != nullptr) known->path.forget();
}

}  // namespace refrain::tracer
