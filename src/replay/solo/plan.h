// Plan: what a call with one signature is compared with and given, worked out when it is first met.
//
// A rank repeats few signatures very often. What the trace says of a signature is the same each
// time, so its values are looked through once, and a call is answered from flat lists of numbers.
// What needs a look at more than numbers (strings, addresses, functions, handles of objects that
// the call makes) stays with the general functions, parameter by parameter: a check that does not
// pass here is no difference yet, guard_one() decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/call_meaning.h"
#include "mpi/call_table.h"
#include "refrain/calls.h"

namespace refrain::replay::solo {

// One number, handle or word that is compared.
struct Check {
  enum class How : uint8_t {
    kNumber,   // the number is `expected`
    kBits,     // the handle is `expected`, as far as `mask` goes
    kObject,   // the handle is that of the object `expected`
    kWord,     // the argument itself is `expected`
    kArray,    // `count` elements, from `first` on, of Plan::elements
    kGeneral,  // see guard_one()
  };
  How how = How::kGeneral;
  uint8_t param = 0;
  mpi::ParamKind kind{};
  int64_t expected = 0;
  uint64_t mask = 0;
  uint32_t first = 0, count = 0;
};

// One output that is written.
struct Put {
  enum class How : uint8_t {
    kNumber,   // `value`, as wide as what the argument points to
    kArray,    // `count` elements, from `first` on, of Plan::numbers
    kStatus,   // the same of Plan::statuses; also of a single one
    kRequest,  // a new request
    kGeneral,  // see put_one()
  };
  How how = How::kGeneral;
  uint8_t param = 0;
  int64_t value = 0;
  uint32_t first = 0, count = 0;
};

struct StatusPlan {
  bool is_there = false;  // false: the call leaves it alone
  bool has_source = false, has_tag = false, has_error = false;
  int source = 0, tag = 0, error = 0;
};

struct Plan {
  const mpi::CallInfo* info = nullptr;
  const mpi::CallMeaning* meaning = nullptr;
  uintptr_t site = 0;  // in this process; 0: not compared
  std::vector<Check> checks;
  std::vector<Check> elements;
  // The checks once it is known which arguments are passed by value: the same for all calls from
  // one entry point, which its widths tell from others.
  const uint8_t* widths = nullptr;
  // Of each parameter: what is compared of its word; then, of each, the bits that are. No bit: the
  // argument is not passed by value, or is not compared.
  std::vector<uint64_t> words;
  std::vector<Check> other_checks;
  std::vector<Put> puts;
  std::vector<int64_t> numbers;
  std::vector<StatusPlan> statuses;
  int status_param = -1;    // where the call fills statuses that the program does not ignore
  bool has_result = false;  // false: see put_result()
  uint64_t result = 0;

  int request_param = -1;
  bool makes_request = false;
  int subject_param = -1;                       // whose error handler a request's errors go to
  std::vector<const mpi::BufferInfo*> buffers;  // that the call fills, now or later
  // The one buffer that the call itself fills, if its elements are of a predefined type without
  // gaps; -1: see `buffers`.
  int flat_param = -1;
  // The same of a receive that makes a request.
  int flat_later = -1;
  bool completes = false;  // requests, those of `finished`
  std::vector<size_t> finished;
  // What is left to the general functions.
  bool is_by_hand = true, has_pending = true, may_release = true, frees_request = false;
  bool is_mark = false;   // of the program's own: nobody asks for it
  bool is_short = false;  // see short_way.cc
  // This rank in the communicator, where it sends a block to itself: see own_block.cc; -1: no.
  int own_rank = -1;
  bool has_one_status = false;  // that the call fills
  // Completes, or not yet, one request, which is all that it is asked for beside its words.
  bool has_one_request = false;
  bool ends_one_request = false;
  bool has_more = false;  // makes a request, or completes several

  bool is_word_equal(uint64_t word, size_t i) const {
    return ((word ^ words[i]) & words[words.size() / 2 + i]) == 0;
  }
  // Of the first `count` parameters, which are all.
  bool are_words_equal(const uint64_t* given, size_t count) const {
    uint64_t wrong = 0;
    const uint64_t* const expected = words.data();
    for (size_t i = 0; i < count; ++i) wrong |= (given[i] ^ expected[i]) & expected[count + i];
    return wrong == 0;
  }
};

// Whether parameters of that kind are compared and written as numbers.
bool is_number(mpi::ParamKind kind);

}  // namespace refrain::replay::solo
