#include "python/calls.h"

#include <structmember.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "python/errors.h"

namespace refrain::python {

namespace py = pybind11;

namespace {

// ---- refrain.Call ----

struct CallObject {
  PyObject ob_base;
  PyObject* signature;  // owned
  uint64_t seq, begin_ns, end_ns;
  int64_t rank;
  uint32_t thread;
  bool has_time;
};

const CallObject& call_of(PyObject* self) { return *reinterpret_cast<CallObject*>(self); }

void free_call(PyObject* self) {
  Py_XDECREF(call_of(self).signature);
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* get_signature(PyObject* self, void*) { return Py_NewRef(call_of(self).signature); }
// An attribute of the signature; `name` is a string of this file.
PyObject* get_of_signature(PyObject* self, void* name) {
  return PyObject_GetAttrString(call_of(self).signature, static_cast<const char*>(name));
}
PyObject* get_seq(PyObject* self, void*) { return PyLong_FromUnsignedLongLong(call_of(self).seq); }
PyObject* get_rank(PyObject* self, void*) { return PyLong_FromLongLong(call_of(self).rank); }
PyObject* get_thread(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(call_of(self).thread);
}
PyObject* time_or_none(const CallObject& call, uint64_t ns) {
  if (!call.has_time) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(ns);
}
PyObject* get_begin(PyObject* self, void*) {
  return time_or_none(call_of(self), call_of(self).begin_ns);
}
PyObject* get_end(PyObject* self, void*) {
  return time_or_none(call_of(self), call_of(self).end_ns);
}

PyObject* get_duration(PyObject* self, void*) {
  const CallObject& call = call_of(self);
  return time_or_none(call, call.end_ns > call.begin_ns ? call.end_ns - call.begin_ns : 0);
}

PyObject* show_call(PyObject* self) {
  PyObject* const name = get_of_signature(self, const_cast<char*>("name"));
  if (name == nullptr) return nullptr;
  PyObject* const text = PyUnicode_FromFormat(
      "<Call %U rank=%lld thread=%u seq=%llu>", name, static_cast<long long>(call_of(self).rank),
      call_of(self).thread, static_cast<unsigned long long>(call_of(self).seq));
  Py_DECREF(name);
  return text;
}

char kName[] = "name", kArgs[] = "args", kSite[] = "site", kResult[] = "result",
     kFailed[] = "failed", kBytes[] = "bytes", kPeer[] = "peer", kPath[] = "call_path";
PyGetSetDef kCallAttributes[] = {
    {"rank", get_rank, nullptr, "World rank", nullptr},
    {"thread", get_thread, nullptr, "Number of the thread in its rank", nullptr},
    {"seq", get_seq, nullptr, "Number of the call in its thread, from 0 on", nullptr},
    {"begin_ns", get_begin, nullptr, "Since the earliest MPI_Init; None without times", nullptr},
    {"end_ns", get_end, nullptr, "Since the earliest MPI_Init; None without times", nullptr},
    {"duration_ns", get_duration, nullptr, "end_ns - begin_ns; None without times", nullptr},
    {"signature", get_signature, nullptr, "The call's Signature", nullptr},
    {"name", get_of_signature, nullptr, "MPI function", kName},
    {"args", get_of_signature, nullptr, "Every parameter by name", kArgs},
    {"site", get_of_signature, nullptr, "Call site: heat.c:41", kSite},
    {"call_path", get_of_signature, nullptr, "(function, site) of each step, the outermost first",
     kPath},
    {"bytes", get_of_signature, nullptr, "What it hands to MPI; None where that is not known",
     kBytes},
    {"peer", get_of_signature, nullptr, "World rank of its partner, if it has one that is known",
     kPeer},
    {"result", get_of_signature, nullptr, "None for MPI_SUCCESS", kResult},
    {"failed", get_of_signature, nullptr, "Whether it returned an error", kFailed},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot kCallSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(free_call)},
                            {Py_tp_repr, reinterpret_cast<void*>(show_call)},
                            {Py_tp_getset, kCallAttributes},
                            {Py_tp_doc, const_cast<char*>("One MPI call of one thread.")},
                            {0, nullptr}};
PyType_Spec kCallSpec = {"refrain.Call", sizeof(CallObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kCallSlots};

PyTypeObject* call_type = nullptr;
PyObject* error_type = nullptr;

void set_error(const char* text) { PyErr_SetString(error_type, text); }

// ---- the iterator ----

struct Walk {
  Walk(std::shared_ptr<RankView> view, analysis::CallsInRange calls_)
      : rank(std::move(view)), calls(std::move(calls_)) {}
  std::shared_ptr<RankView> rank;
  analysis::CallsInRange calls;
  // Signatures by number: what the short way of next_call() looks at.
  std::vector<PyObject*> signatures;  // borrowed from rank
};

struct WalkObject {
  PyObject ob_base;
  Walk* walk;
};

void free_walk(PyObject* self) {
  delete reinterpret_cast<WalkObject*>(self)->walk;
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* signature_of(Walk& walk, const Signature& signature) {
  if (signature.id >= walk.signatures.size()) walk.signatures.resize(size_t{signature.id} + 1);
  PyObject*& known = walk.signatures[signature.id];
  if (known == nullptr) known = walk.rank->signature(signature).ptr();
  return known;
}

PyObject* make_call(Walk& walk, const Call& call) {
  auto* const object = PyObject_New(CallObject, call_type);
  if (object == nullptr) return nullptr;
  object->signature = nullptr;
  try {
    object->signature = Py_NewRef(signature_of(walk, *call.signature));
  } catch (py::error_already_set& e) {
    Py_DECREF(object);
    e.restore();
    return nullptr;
  } catch (const std::exception& e) {
    Py_DECREF(object);
    set_error(e.what());
    return nullptr;
  }
  object->seq = call.seq;
  object->begin_ns = call.begin_ns;
  object->end_ns = call.end_ns;
  object->rank = call.rank;
  object->thread = call.thread;
  object->has_time = call.has_time;
  return reinterpret_cast<PyObject*>(object);
}

PyObject* next_call(PyObject* self) {
  Walk* const walk = reinterpret_cast<WalkObject*>(self)->walk;
  if (const Call* const call = walk->calls.next(); call != nullptr) return make_call(*walk, *call);
  if (const Status& read = walk->calls.time_status(); !read.ok())
    set_error(read.error().to_string().c_str());
  return nullptr;
}

PyType_Slot kWalkSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(free_walk)},
                            {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                            {Py_tp_iternext, reinterpret_cast<void*>(next_call)},
                            {0, nullptr}};
PyType_Spec kWalkSpec = {"refrain.CallIterator", sizeof(WalkObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kWalkSlots};

PyTypeObject* walk_type = nullptr;

PyTypeObject* make_type(PyType_Spec* spec) {
  PyObject* const type = PyType_FromSpec(spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

void add_call_types(py::module_& module) {
  error_type = module.attr("Error").ptr();
  call_type = make_type(&kCallSpec);
  walk_type = make_type(&kWalkSpec);
  module.attr("Call") = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(call_type));
}

py::object iterate(std::shared_ptr<RankView> rank, uint32_t thread,
                   const analysis::CallRange& range) {
  auto calls = unwrap(analysis::CallsInRange::open(rank->reader(), thread, range));
  auto* const object = PyObject_New(WalkObject, walk_type);
  if (object == nullptr) throw py::error_already_set();
  object->walk = new Walk(std::move(rank), std::move(calls));
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

}  // namespace refrain::python
