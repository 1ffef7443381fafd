// Functions of the loaded Python interpreter.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace refrain::tracer::python {

using Object = void;  // PyObject and all that begin with one

inline constexpr const char* kThreadStateName = "PyGILState_GetThisThreadState";

// Those of the first group neither change anything nor need the interpreter's lock; the others are
// called while it is held.
struct Api {
  Object* (*thread_state)();                // PyGILState_GetThisThreadState
  Object* (*holder)();                      // _PyThreadState_UncheckedGet
  void* (*first_interpreter)();             // PyInterpreterState_Head: the youngest
  void* (*main_interpreter)();              // PyInterpreterState_Main
  int (*is_finalizing)();                   // _Py_IsFinalizing
  int (*line_of)(Object*, int);             // PyCode_Addr2Line
  ssize_t (*length)(Object*);               // PyUnicode_GetLength
  uint32_t (*character)(Object*, ssize_t);  // PyUnicode_ReadChar
  const char* (*version)();                 // Py_GetVersion

  Object* (*frame)(Object*);  // PyThreadState_GetFrame
  Object* (*back)(Object*);   // PyFrame_GetBack
  Object* (*code)(Object*);   // PyFrame_GetCode
  int (*line)(Object*);       // PyFrame_GetLineNumber
  Object* (*attribute)(Object*, const char*);
  long (*as_long)(Object*);
  Object* (*error)();
  void (*clear_error)();
  void (*release)(Object*);  // Py_DecRef
  int (*disable_gc)();       // may be missing
  int (*enable_gc)();
};

// An address in the interpreter's code; 0: none is loaded where all can find it.
uintptr_t find_interpreter_code();
// False: one of them is missing.
bool find_api(Api& api);

// A reference that is given back.
class Held {
 public:
  Held(const Api& api, Object* object) : api_(api), object_(object) {}
  ~Held() {
    if (object_ != nullptr) api_.release(object_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void set(Object* object) {
    if (object_ != nullptr) api_.release(object_);
    object_ = object;
  }
  Object* get() const { return object_; }

 private:
  const Api& api_;
  Object* object_;
};

}  // namespace refrain::tracer::python
