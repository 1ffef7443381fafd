// Numbers that name things in a trace. Each kind is dense and begins at 0.
//
// Each kind of id is a type of its own: a signature cannot be passed for a definition, nor a rank
// or a count for either. An id converts to its number where one is wanted (as an index, in
// comparisons); it is made of a uint32_t or a literal, of other integers explicitly.
//
//   for (refrain::SignatureId id = 0; id < trace.signature_count(); ++id) ...
//
// An id is valid in the trace that gave it, and in its copies: the same number in another trace
// names something else. To compare two traces, compare what the ids name (Signature::name and its
// parameters, the module and offset of a Site). ConstantId and CallId are the exceptions: they are
// those of the MPI standard as Refrain numbers it, append-only, and equal in every trace.
//
// The functions of Trace say which ids they take, and what they do with others. Ids are values
// without any owner: copy them, and use them from any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace refrain {

// Names of the kinds, for the compiler only: nothing has these types.
namespace id_kind {
struct Signature;
struct Definition;
struct Group;
struct Grammar;
struct Constant;
}  // namespace id_kind

// An index of 32 bits. `Kind` only tells the ids apart: it is never defined. Ids cost nothing over
// the number, can be keys of maps, hashed or not, and are compared and counted as numbers are.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;  // number 0, which is the first of its kind
  // From a uint32_t or an int literal by itself; from a Rank, a count or a size only when it says
  // so.
  template <std::integral Number>
  constexpr explicit(!std::same_as<Number, uint32_t> && !std::same_as<Number, int>)
      Id(Number number)  // NOLINT: implicit for the two
      : number_(static_cast<uint32_t>(number)) {}
  // For indices and comparisons. Ids of two kinds can be compared by it: that means nothing.
  constexpr operator uint32_t() const { return number_; }  // NOLINT: implicit
  constexpr Id& operator++() {
    ++number_;
    return *this;
  }

 private:
  uint32_t number_ = 0;
};

// The fmt library prints an id as its number; streams print it by the conversion above.
template <class Kind>
constexpr uint32_t format_as(Id<Kind> id) {
  return id;
}

// The ids of this library. All but constants are numbered anew in each trace, in an order that says
// nothing about time.
using SignatureId = Id<id_kind::Signature>;    // a function together with all its parameters
using DefinitionId = Id<id_kind::Definition>;  // communicator, datatype, ... (definitions.h)
using GroupId = Id<id_kind::Group>;            // ranks that did the same
using GrammarId = Id<id_kind::Grammar>;        // a compressed sequence of calls
using ConstantId = Id<id_kind::Constant>;      // a named constant of MPI; 0 is none

// Plain integers, to calculate with: ranks are added to and divided, and -1 has a meaning. They are
// no Id, so that a rank is never taken for an index of a table.
using Rank = int64_t;     // in MPI_COMM_WORLD unless said otherwise; -1: not of this world
using CallId = uint16_t;  // which MPI function; append-only, the same in every version

// Where there is no definition: a call without a known call site, a communicator that is not named.
inline constexpr DefinitionId kNoDefinition{UINT32_MAX};

}  // namespace refrain

// So that an id can be a key of unordered containers.
template <class Kind>
struct std::hash<refrain::Id<Kind>> {
  size_t operator()(refrain::Id<Kind> id) const { return std::hash<uint32_t>()(id); }
};
