#include "tracer/unwind.h"

#include <dlfcn.h>

#include <initializer_list>
#include <type_traits>

#if defined(__x86_64__)
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

namespace refrain::tracer {

#if defined(__x86_64__)

namespace {

#define REFRAIN_TEXT_OF(x) #x
#define REFRAIN_NAME_OF(x) REFRAIN_TEXT_OF(x)

struct Library {
  decltype(&unw_init_local) init = nullptr;
  decltype(&unw_step) step = nullptr;
  decltype(&unw_get_reg) get_reg = nullptr;
  decltype(&unw_get_save_loc) get_save_loc = nullptr;
  int (*get_context)(unw_context_t*) = nullptr;

  bool complete() const {
    return init != nullptr && step != nullptr && get_reg != nullptr && get_save_loc != nullptr &&
           get_context != nullptr;
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
  find(l.get_context, "_Ux86_64_getcontext");
  return l;
}

}  // namespace

size_t unwind(uintptr_t above, StackFrame* frames, size_t max) {
  static const Library library = load();
  if (!library.complete()) return 0;
  unw_context_t context;
  unw_cursor_t cursor;
  if (library.get_context(&context) != 0 || library.init(&cursor, &context) != 0) return 0;
  size_t n = 0;
  unw_save_loc_t rbp{};
  while (n < max) {
    // Where this frame's caller finds its rbp is known before the step to it.
    if (library.step(&cursor) <= 0) break;
    unw_word_t ip = 0, sp = 0;
    if (library.get_reg(&cursor, UNW_REG_IP, &ip) != 0 ||
        library.get_reg(&cursor, UNW_REG_SP, &sp) != 0 || ip == 0)
      break;
    if (library.get_save_loc(&cursor, UNW_X86_64_RBP, &rbp) != 0) rbp.type = UNW_SLT_NONE;
    if (sp <= above) continue;
    frames[n++] = {ip, sp, rbp.type == UNW_SLT_MEMORY ? rbp.u.addr : 0};
  }
  return n;
}

#else

size_t unwind(uintptr_t, StackFrame*, size_t) { return 0; }

#endif

}  // namespace refrain::tracer
