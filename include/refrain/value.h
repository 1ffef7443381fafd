// Value: one parameter of one call, decoded for one rank.
//
// A tree of plain data that owns all it holds; copy, move and read it from any thread. Arrays stay
// compressed (as runs), so that a value never takes more memory than its place in the file, times a
// small factor: walk them with for_each() or at(), do not look at `items` and expect one per
// element.
//
// The parameters of `MPI_Isend(buf, 10, MPI_INT, 3, 7, MPI_COMM_WORLD, &r)` on rank 2, decoded:
//
//   buf       kBuffer    id: kHeap, number: 4, offset: 128          heap#4+128
//   count     kInteger   number: 10
//   datatype  kObject    id: its definition                         MPI_INT
//   dest      kInteger   number: 3      (in the file perhaps as "me + 1", here always absolute)
//   tag       kInteger   number: 7
//   comm      kObject    id: its definition                         MPI_COMM_WORLD
//   request   kRequest   id: this signature, number: 0
//
// No function here fails: asked for what its kind does not have, a value gives the default that is
// named beside the function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "refrain/ids.h"

namespace refrain {

// What a value is, and which members of Value it uses. More kinds may follow: code that switches
// over them needs a default.
enum class ValueKind : uint8_t {
  kNull,      // undefined: an output that the call left alone, or a parameter not significant here
  kInteger,   // number. Ranks and tags are absolute numbers, ranks in the call's communicator
  kConstant,  // id: a named constant of MPI (MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_COMM_NULL); see
              // name()
  kObject,    // id: its definition; number: its symbolic id, unique among live objects of its kind
  kFunction,  // id: the definition of an address in the program
  kRequest,  // id: the signature of the call that created the request, which also names it; number:
             // in that call itself, its position in the pool of requests that look the same
  kBuffer,   // id: BufferPlace; number: which one (-1: not known); offset: bytes from its begin;
             // items: the number of the device, for kDevice
  kString,   // text
  kBytes,    // text: opaque bytes
  kStatus,   // items: source, tag, and error where the call returned MPI_ERR_IN_STATUS
  kArray,    // items: runs, see Value::repeat
  kChanged,  // items: the value at exit, the value at entry; an inout parameter that changed
  kBits,     // items: named bits (kConstant); number: the bits that have no name
};

// What kind of memory a buffer is in, as far as the recorder could tell. Which block of the heap it
// is, and memory of accelerators, is known only with `refrain record --buffers on`. The numbers are
// those of the file.
enum class BufferPlace : uint8_t {
  kUnknown = 0,
  kStack = 1,
  kData = 2,
  kHeap = 3,
  kDevice = 4,   // memory of an accelerator
  kManaged = 5,  // memory that host and accelerators share
  kPinned = 6,   // memory of the host that accelerators can reach
};

// One parameter, one element of an array, or the value of a call. Two values are equal when they
// are the same tree, run by run.
//
//   const refrain::Value* count = signature.find("sendcounts");
//   int64_t sum = 0;
//   count->for_each([&](const refrain::Value& v) { sum += v.integer_or(0); });
//
// Which members are set follows from `kind`; the others have their defaults. Numbers are those that
// the program passed, in the units of the standard: counts in elements, displacements as the call
// has them, addresses never.
struct Value {
  ValueKind kind = ValueKind::kNull;
  uint32_t id = 0;
  int64_t number = 0;
  int64_t offset = 0;
  // As an item of an array: this many elements in a row. Element i of the run is this value, plus
  // i * step when it is an integer; of a request, its id plus i * step. 1 and 0 everywhere else.
  // The displacements 0, 8, 16, ..., 8184 are one item: number 0, repeat 1024, step 8.
  uint64_t repeat = 1;
  int64_t step = 0;
  std::string text;
  std::vector<Value> items;

  // What it is.
  bool is_null() const { return kind == ValueKind::kNull; }
  bool is_integer() const { return kind == ValueKind::kInteger; }
  bool is_constant() const { return kind == ValueKind::kConstant; }
  bool is_object() const { return kind == ValueKind::kObject; }
  bool is_array() const { return kind == ValueKind::kArray; }

  // What `id` names, by kind: the definition of kObject and kFunction, the signature of kRequest,
  // the constant of kConstant. kNoDefinition, 0 and 0 for other kinds.
  DefinitionId definition() const {
    return is_object() || kind == ValueKind::kFunction ? DefinitionId(id) : kNoDefinition;
  }
  SignatureId request_signature() const {
    return kind == ValueKind::kRequest ? SignatureId(id) : SignatureId();
  }
  ConstantId constant_id() const { return is_constant() ? ConstantId(id) : ConstantId(); }

  // The number of an integer, `otherwise` for every other kind.
  int64_t integer_or(int64_t otherwise) const { return is_integer() ? number : otherwise; }

  // A name is for people and for comparisons with the standard; constant_id() is quicker to
  // compare.
  //
  // MPI's name of a constant ("MPI_ANY_TAG"); empty for other kinds and for constants that this
  // version does not know. Valid for the life of the program.
  std::string_view name() const;

  // A parameter's value at exit and at entry; the value itself unless it is kChanged. An inout
  // parameter that a call left as it was is stored once. References into this value.
  const Value& at_exit() const;
  const Value& at_entry() const;

  // Status: source and tag; a null value for other kinds. The source is a rank of the communicator
  // of the call that received (Signature::context), not of the world. References into this value,
  // or to a null value that lives as long as the program.
  const Value& source() const;
  const Value& tag() const;

  // Of an item of an array: element i of its run, i < repeat, and the number of that element.
  Value element(uint64_t i) const;
  int64_t number_of_element(uint64_t i) const {
    // Unsigned arithmetic, because a damaged trace may have any numbers.
    return static_cast<int64_t>(static_cast<uint64_t>(number) + i * static_cast<uint64_t>(step));
  }
  SignatureId request_of_element(uint64_t i) const {
    return SignatureId(static_cast<uint32_t>(id + i * static_cast<uint64_t>(step)));
  }

  // For asking, not for walking: each at() begins at the first run.
  // Arrays: number of elements; 0 for other kinds. O(runs).
  uint64_t size() const;
  // Element i of an array, a null value past its end. O(runs).
  Value at(uint64_t i) const;
  // For sums over long arrays, in as many steps as there are runs of equal elements:
  //
  //   counts.for_each_run([&](const Value& v, uint64_t n) { sum += v.integer_or(0) * n; });
  //
  // Calls visit(const Value& element, uint64_t count) for every run of equal elements, in order; a
  // run with a step is visited element by element. The reference is valid during the visit. Other
  // kinds than kArray have no elements.
  template <class Visit>
  void for_each_run(Visit&& visit) const;
  // Calls visit(const Value& element) for every element, in order. O(elements).
  template <class Visit>
  void for_each(Visit&& visit) const;

  bool operator==(const Value&) const = default;

  // Values for comparisons, as in `*signature.find("source") == Value::constant("MPI_ANY_SOURCE")`.
  static Value null() { return {}; }
  static Value integer(int64_t v);
  static Value constant(ConstantId id);
  // The named constant, a null value when this version has no such name.
  static Value constant(std::string_view name);
  static Value status(Value source, Value tag);
};

template <class Visit>
void Value::for_each_run(Visit&& visit) const {
  if (kind != ValueKind::kArray) return;
  for (const Value& run : items) {
    if (run.step == 0) {
      visit(run, run.repeat);
      continue;
    }
    Value element = run;
    element.repeat = 1;
    element.step = 0;
    for (uint64_t i = 0; i < run.repeat; ++i) {
      if (run.kind == ValueKind::kRequest)
        element.id = run.request_of_element(i);
      else
        element.number = run.number_of_element(i);
      visit(static_cast<const Value&>(element), uint64_t{1});
    }
  }
}

template <class Visit>
void Value::for_each(Visit&& visit) const {
  for_each_run([&](const Value& element, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) visit(element);
  });
}

}  // namespace refrain
