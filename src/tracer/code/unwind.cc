#include "tracer/code/unwind.h"

#include "base/no_cancel.h"

#include <dlfcn.h>
#include <sys/mman.h>

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

Library g_loaded;  // of load_apart(), which one thread runs at a time

void load_it() { g_loaded = load(); }

// Calls it with the stack pointer `top`. Not by swapcontext(): AddressSanitizer, where the program
// has it, prints a warning at that.
void call_on(void* top, void (*function)()) {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %0, %%rsp\n\t"
      "call *%1\n\t"
      "movq %%rbx, %%rsp"
      :
      : "r"(top), "r"(function)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15", "memory", "cc");
#else
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %0\n\t"
      "blr %1\n\t"
      "mov sp, x19"
      :
      : "r"(top), "r"(function)
      : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
        "x14", "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory",
        "cc");
#endif
}

// load() on a stack of its own: the dynamic linker takes some KiB of it, 2 were seen where
// libunwind brings further libraries along, and the caller may be a fiber that has no more than its
// own calls need.
Library load_apart() {
  constexpr size_t kStackBytes = 256 << 10;  // only what is touched exists
  // Zeros behind the first frame: a profiler's signal handler that walks the stack finds its end.
  constexpr size_t kEndBytes = 4096;
  void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return load();
  call_on(static_cast<char*>(stack) + kStackBytes - kEndBytes, load_it);
  munmap(stack, kStackBytes);
  return g_loaded;
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
  const base::NoCancel no_cancel;  // libunwind asks the system whether memory is there
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
