#include "tracer/paths/call_path.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "tracer/code/unwind.h"
#include "tracer/paths/path_check.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// How many of the frames are the program's: what starts its main function or thread stands around
// it, some frames of the C library and at most one of the program's start-up code.
size_t without_start(const Walk& walk) {
  size_t end = walk.count;
  if (end > 2 && walk.frames[end - 2].facts.is_start) --end;
  while (end > 1 && walk.frames[end - 1].facts.is_start) --end;
  return end == walk.count ? walk.count : std::max<size_t>(end, 1);
}

// How many of the innermost `n` frames are not the recorder's.
size_t without_own(const Walk& walk, size_t n) {
  size_t own = 0;
  for (size_t i = 0; i < std::min(n, walk.count); ++i) own += walk.frames[i].facts.is_own ? 1 : 0;
  return n - own;
}

// The innermost `n` frames, as what later calls are compared with. Returns how many of the words
// are those of the innermost `fewer` frames.
uint32_t remember_words(const Walk& walk, size_t n, size_t fewer, SeenPath& seen) {
  SeenPath::Word* const first = seen.word();
  SeenPath::Word *to = first, *end_of_fewer = first;
  const auto add = [&to](uintptr_t at) {
    const auto* const word = reinterpret_cast<const uintptr_t*>(at);
    *to++ = {word, *word};
  };
  for (size_t i = 0; i < n; ++i) {
    const WalkedFrame& frame = walk.frames[i];
    if (frame.return_slot != 0) add(frame.return_slot);
    if (i < fewer) end_of_fewer = to;
    if (i + 1 == n) break;  // what is further out is no part of the path
    if (frame.reads_pointer) add(frame.pointer_slot);
    if (frame.stored_slot != 0) add(frame.stored_slot);
  }
  seen.words = static_cast<uint32_t>(to - first);
  return static_cast<uint32_t>(end_of_fewer - first);
}

}  // namespace

class CallPaths::LentWalk {
 public:
  // Nothing is kept where a signal handler calls MPI in the middle of another walk.
  explicit LentWalk(CallPaths& paths) : paths_(paths) {
    walk_ = std::exchange(paths.kept_walk_, nullptr);
    if (walk_ == nullptr) walk_ = new (std::nothrow) Walk;
    if (walk_ == nullptr) walk_ = &paths.overflow_.walk;
    walk_->count = 0;
    walk_->is_whole = false;
  }
  ~LentWalk() {
    if (walk_ != &paths_.overflow_.walk) delete std::exchange(paths_.kept_walk_, walk_);
  }
  LentWalk(const LentWalk&) = delete;
  LentWalk& operator=(const LentWalk&) = delete;
  Walk& operator*() const { return *walk_; }

 private:
  CallPaths& paths_;
  Walk* walk_;
};

const SeenPath& CallPaths::unwind_path(Process& p, const StackBounds& stack,
                                       const CallPlace& call) {
  if (call.frame == kToldFrame) return told_path(p, call);
  if (SeenPath* const seen = find_seen(call); seen != nullptr)
    return seen->address == call.address ? *seen : python_.find(p, *seen);
  const size_t depth = std::min<size_t>(p.options.call_path_depth, SeenPath::kMaxDepth);
  const LentWalk lent(*this);
  Walk& walk = *lent;
  if (depth > 1) {
    const bool is_good = walk_by_rules(p, returns_, stack, call, depth, walk);
    if (PathCheck* const check = p.path_check; check != nullptr) [[unlikely]]
      check->compare(p, returns_, call, is_good ? &walk : nullptr);
    if (!is_good) walk_by_libunwind(p, returns_, call, walk);
  }
  uint32_t sites[SeenPath::kMaxDepth];
  const auto [n, frames] = sites_of(p, call, walk, depth, sites);
  const uint32_t definition = n == 0 ? UINT32_MAX : n == 1 ? sites[0] : define(p, sites, n);
  SeenPath& seen = room_for(definition, call.frame, depth);
  seen.forget();
  seen.address = call.address;
  seen.frame = call.frame;
  seen.definition = definition;
  size_t to_python = 0;
  size_t before = n == 0 ? SIZE_MAX : frames_before_python(p, call, walk, to_python);
  if (before != SIZE_MAX) before = without_own(walk, before);
  uint32_t words = remember_words(walk, std::min(frames, walk.count), to_python, seen);
  if (p.path_check != nullptr && p.path_check->every()) [[unlikely]]
    check_others(p, seen), words = seen.words;
  if (SeenPath*& latest = latest_[place_slot(call)]; latest != &seen) {
    auto& older = older_[place_slot(call)];
    std::copy_backward(older, older + kOlder - 1, older + kOlder);
    older[0] = std::exchange(latest, &seen);
  }
  // Without Python, or with as many frames in front of it as a path has.
  if (before >= depth) [[likely]]
    return seen;
  if (!set_through_python(seen, words, sites, std::min(before, n))) return seen;
  return python_.find(p, seen);
}

// One that holds, or leads to Python as this call's stack does, is the latest from now on. That the
// latest one does not hold is known.
SeenPath* CallPaths::find_seen(const CallPlace& call) {
  const uint32_t at = place_slot(call);
  if (SeenPath* const latest = latest_[at];
      latest != nullptr && latest->leads_through_python(call.address, call.frame))
    return latest;
  auto& older = older_[at];
  for (size_t i = 0; i < kOlder; ++i) {
    SeenPath* const found = older[i];
    if (found == nullptr) return nullptr;
    if (!found->still_holds(call.address, call.frame) &&
        !found->leads_through_python(call.address, call.frame))
      continue;
    std::copy_backward(older, older + i, older + i + 1);
    older[0] = std::exchange(latest_[at], found);
    return found;
  }
  return nullptr;
}

// There is no stack to recognise it by: the address says which one it is.
const SeenPath& CallPaths::told_path(Process& p, const CallPlace& call) {
  const auto definition = static_cast<uint32_t>(call.address - 1);
  const size_t depth = std::min<size_t>(p.options.call_path_depth, SeenPath::kMaxDepth);
  SeenPath& seen = room_for(definition, call.frame, depth);
  seen.forget();
  seen.address = call.address;
  seen.frame = call.frame;
  seen.definition = definition;
  latest_[place_slot(call)] = &seen;
  return seen;
}

// The sites of the path; a call whose own frame was not found has its own site at least. Where an
// MPI call has called a function of the program, the wrapper of that call stands between the two:
// its frames are left out.
CallPaths::Length CallPaths::sites_of(Process& p, const CallPlace& call, const Walk& walk,
                                      size_t depth, uint32_t* sites) {
  if (depth == 0) return {};
  size_t end = 0;
  if (walk.count > 0 && walk.frames[0].return_address == call.address)
    end = std::min(walk.is_whole ? without_start(walk) : walk.count, depth + SeenPath::kMaxOwn);
  Length length;
  for (size_t i = 0; i < end && length.sites < depth; ++i) {
    const WalkedFrame& frame = walk.frames[i];
    length.frames = i + 1;
    if (frame.facts.is_own) continue;
    sites[length.sites++] = frame.facts.has_site
                                ? frame.facts.site
                                : ReturnAddresses::site_of(p, returns_.at(p, frame.return_address));
  }
  if (length.sites > 0) return length;
  sites[0] = ReturnAddresses::site_of(p, returns_.at(p, call.address));
  return {1, 1};
}

uint32_t CallPaths::define(Process& p, const uint32_t* sites, size_t n) {
  const std::string_view key(reinterpret_cast<const char*>(sites), n * sizeof *sites);
  const uint32_t hash = InternTable::hash_of(key);
  const uint32_t known = paths_.find(key, hash);
  if (known != InternTable::kMissing) return definitions_[known];
  const uint32_t definition = p.define_path(sites, n);
  definitions_.push_back(definition);
  paths_.add(key, hash);
  return definition;
}

SeenPath& CallPaths::room_for(uint32_t definition, uintptr_t frame, size_t depth) {
  SeenPath*& place = seen_[path_slot(definition, frame)];
  if (place == nullptr) {
    const size_t bytes = sizeof(SeenPath) + SeenPath::words_of(depth) * sizeof(SeenPath::Word);
    void* const room = ::operator new(bytes, std::nothrow);
    if (room == nullptr) return overflow_.path;
    place = new (room) SeenPath;
  }
  return *place;
}

// None that holds may be another path. The call's own is made never to hold.
void CallPaths::check_others(Process& p, SeenPath& seen) {
  static constexpr uintptr_t kNever = 0;
  seen.word()[seen.words++] = {&kNever, 1};
  for (const SeenPath* const other : seen_)
    if (other != nullptr && other->definition != seen.definition &&
        other->still_holds(seen.address, seen.frame, other->words - 1))
      p.path_check->found_wrong(seen.address);
}

// Memos point at them: they stay, and hold no more.
void CallPaths::forget(Process& p) {
  unloads_ = unloads();
  returns_.forget();
  forget_unwinding();
  for (SeenPath* const seen : seen_)
    if (seen != nullptr) seen->forget();
  overflow_.path.forget();
  python_.forget();
  p.code.forget_unloaded();
}

}  // namespace refrain::tracer
