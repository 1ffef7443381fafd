#include "tracer/code/unwind.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__x86_64__) || defined(__aarch64__)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define REFRAIN_UNWINDS 1
#else
#define REFRAIN_UNWINDS 0
#endif

namespace refrain::tracer {

#if REFRAIN_UNWINDS

namespace {

#define REFRAIN_TEXT_OF(x) #x
#define REFRAIN_NAME_OF(x) REFRAIN_TEXT_OF(x)

struct Library {
  decltype(&unw_init_local) init = nullptr;
  decltype(&unw_step) step = nullptr;
  decltype(&unw_get_reg) get_reg = nullptr;
  decltype(&unw_get_save_loc) get_save_loc = nullptr;
  decltype(&unw_flush_cache) flush_cache = nullptr;
  unw_addr_space_t* local = nullptr;  // what the cache belongs to
#if defined(__x86_64__)
  int (*get_context)(unw_context_t*) = nullptr;
#endif

  bool complete() const {
#if defined(__x86_64__)
    if (get_context == nullptr) return false;
#endif
    return init != nullptr && step != nullptr && get_reg != nullptr && get_save_loc != nullptr;
  }
};

Library load() {
  Library l;
  void* handle = nullptr;
  for (const char* name : {"libunwind.so.8", "libunwind.so"})
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return l;
  const auto find = [&](auto& slot, const char* name) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(handle, name));
  };
  find(l.init, REFRAIN_NAME_OF(unw_init_local));
  find(l.step, REFRAIN_NAME_OF(unw_step));
  find(l.get_reg, REFRAIN_NAME_OF(unw_get_reg));
  find(l.get_save_loc, REFRAIN_NAME_OF(unw_get_save_loc));
  find(l.flush_cache, REFRAIN_NAME_OF(unw_flush_cache));
  find(l.local, REFRAIN_NAME_OF(unw_local_addr_space));
#if defined(__x86_64__)
  find(l.get_context, "_Ux86_64_getcontext");
#endif
  return l;
}

#if defined(__x86_64__)
constexpr int kFramePointer = UNW_X86_64_RBP;
#define REFRAIN_GET_CONTEXT(context) library.get_context(context)
#else
constexpr int kFramePointer = UNW_AARCH64_X29;
#define REFRAIN_GET_CONTEXT(context) unw_getcontext(context)  // no function, but code in line
#endif

// Where a register's value in the cursor's frame is saved; 0: not in memory.
uintptr_t place_of(const Library& library, unw_cursor_t* cursor, int reg) {
  unw_save_loc_t place{};
  if (library.get_save_loc(cursor, reg, &place) != 0) return 0;
  return place.type == UNW_SLT_MEMORY ? place.u.addr : 0;
}

// Of the return address that led to the cursor's frame, whose stack pointer is `sp`.
uintptr_t return_slot(const Library& library, unw_cursor_t* cursor, uintptr_t sp) {
#if defined(__x86_64__)
  (void)library, (void)cursor;
  return sp - sizeof(void*);  // the call put it there
#else
  (void)sp;
  return place_of(library, cursor, UNW_AARCH64_X30);
#endif
}

// What runs on the other stack; used by one thread at a time, as the library is loaded once.
struct Loading {
  ucontext_t caller{}, loader{};
  Library library;
};
Loading* g_loading = nullptr;

// load() on a stack of its own: the dynamic linker takes 6 KiB of it and more where libunwind
// brings further libraries along, and the caller may be a fiber that has no more than its own calls
// need.
Library load_apart() {
  constexpr size_t kStackBytes = 256 << 10;  // only what is touched exists
  const std::unique_ptr<Loading> loading(new (std::nothrow) Loading);
  void* stack = loading == nullptr ? MAP_FAILED
                                   : mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return load();
  g_loading = loading.get();
  if (getcontext(&loading->loader) != 0) {
    munmap(stack, kStackBytes);
    return load();
  }
  loading->loader.uc_stack.ss_sp = stack;
  loading->loader.uc_stack.ss_size = kStackBytes;
  loading->loader.uc_link = &loading->caller;
  makecontext(
      &loading->loader, [] { g_loading->library = load(); }, 0);
  const bool ran = swapcontext(&loading->caller, &loading->loader) == 0;
  munmap(stack, kStackBytes);
  return ran ? loading->library : load();
}

std::atomic<bool> g_is_loaded{false};

const Library& the_library() {
  static const Library library = load_apart();
  g_is_loaded.store(true, std::memory_order_relaxed);
  return library;
}

}  // namespace

void forget_unwinding() {
  if (!g_is_loaded.load(std::memory_order_relaxed)) return;
  const Library& library = the_library();
  if (library.flush_cache != nullptr && library.local != nullptr)
    library.flush_cache(*library.local, 0, 0);
}

size_t unwind(uintptr_t above, StackFrame* frames, size_t max) {
  const Library& library = the_library();
  if (!library.complete()) return 0;
  struct Room {  // 2 KB
    unw_context_t context;
    unw_cursor_t cursor;
  };
  const std::unique_ptr<Room> room(new (std::nothrow) Room);
  if (room == nullptr) return 0;
  unw_cursor_t& cursor = room->cursor;
  if (REFRAIN_GET_CONTEXT(&room->context) != 0 || library.init(&cursor, &room->context) != 0)
    return 0;
  size_t n = 0;
  while (n < max) {
    if (library.step(&cursor) <= 0) break;
    unw_word_t ip = 0, sp = 0;
    if (library.get_reg(&cursor, UNW_REG_IP, &ip) != 0 ||
        library.get_reg(&cursor, UNW_REG_SP, &sp) != 0 || ip == 0)
      break;
    if (sp <= above) continue;
    frames[n++] = {ip, sp, return_slot(library, &cursor, sp),
                   place_of(library, &cursor, kFramePointer)};
  }
  return n;
}

#else

size_t unwind(uintptr_t, StackFrame*, size_t) { return 0; }
void forget_unwinding() {}

#endif

UnwoundFrames unwind_to_heap(uintptr_t above, size_t max) {
  UnwoundFrames out{std::unique_ptr<StackFrame[]>(new (std::nothrow) StackFrame[max])};
  if (out.frames != nullptr) out.count = unwind(above, out.frames.get(), max);
  return out;
}

}  // namespace refrain::tracer
