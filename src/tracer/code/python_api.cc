#include "tracer/code/python_api.h"

#include <dlfcn.h>

#include <cstring>

namespace refrain::tracer::python {
namespace {

template <class F>
bool find(F& f, const char* name, const char* other = nullptr) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr && other != nullptr) found = dlsym(RTLD_DEFAULT, other);
  if (found == nullptr) dlerror();  // or the program would take that error for one of its own
  std::memcpy(&f, &found, sizeof found);
  return found != nullptr;
}

}  // namespace

uintptr_t find_interpreter_code() {
  Object* (*function)() = nullptr;
  return find(function, kThreadStateName) ? reinterpret_cast<uintptr_t>(function) : 0;
}

bool find_api(Api& a) {
  const bool all = find(a.thread_state, kThreadStateName) &&
                   find(a.holder, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet") &&
                   find(a.first_interpreter, "PyInterpreterState_Head") &&
                   find(a.main_interpreter, "PyInterpreterState_Main") &&
                   find(a.is_finalizing, "Py_IsFinalizing", "_Py_IsFinalizing") &&
                   find(a.line_of, "PyCode_Addr2Line") && find(a.length, "PyUnicode_GetLength") &&
                   find(a.character, "PyUnicode_ReadChar") && find(a.version, "Py_GetVersion") &&
                   find(a.frame, "PyThreadState_GetFrame") && find(a.back, "PyFrame_GetBack") &&
                   find(a.code, "PyFrame_GetCode") && find(a.line, "PyFrame_GetLineNumber") &&
                   find(a.attribute, "PyObject_GetAttrString") &&
                   find(a.as_long, "PyLong_AsLong") && find(a.error, "PyErr_Occurred") &&
                   find(a.clear_error, "PyErr_Clear") && find(a.release, "Py_DecRef");
  if (!find(a.disable_gc, "PyGC_Disable") || !find(a.enable_gc, "PyGC_Enable"))
    a.disable_gc = a.enable_gc = nullptr;
  return all;
}

}  // namespace refrain::tracer::python
