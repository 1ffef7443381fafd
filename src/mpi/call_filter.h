// CallFilter: which functions a recording keeps, from the words of --only and --without.
//
//   word := group | function        p2p, coll, rma, io, comm, ..., MPI_Barrier
//
// Both ends of a message are kept or neither: all functions that move messages are one group (p2p,
// including persistent and partitioned ones), and none of them can be named alone. Completions of
// requests cannot be named either: they follow the calls that created the requests. MPI_Init,
// MPI_Finalize and similar functions, and MPI_Pcontrol, are always kept.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "mpi/call_table.h"

namespace refrain::mpi {

// How a function stands to a filter.
enum class FilterRole : uint8_t {
  kAlways,   // begin and end of MPI and of recording, and the program's marks
  kFollows,  // works on requests: kept when one of them was made by a call that is kept
  kWord,     // kept or not, as the words say
};

FilterRole filter_role(const CallInfo& call);
// The group that a word means it by: persistent calls are p2p or coll.
CallGroup filter_group(const CallInfo& call);

class CallFilter {
 public:
  static constexpr size_t kCalls = 2048;  // above every id

  // Comma-separated words; empty: no such option. Fails with one line that names the word.
  static base::Result<CallFilter> parse(std::string_view only, std::string_view without);

  bool keeps(CallId id) const { return id >= kCalls || !left_out_[id]; }
  // Whether there is a function that it leaves out.
  bool leaves_out() const { return left_out_.any(); }

 private:
  std::bitset<kCalls> left_out_;
};

// Calls visit(word) for each of the comma-separated words.
template <class Visit>
void for_each_word(std::string_view words, Visit&& visit) {
  while (!words.empty()) {
    const size_t comma = words.find(',');
    visit(words.substr(0, comma));
    words = comma == std::string_view::npos ? std::string_view() : words.substr(comma + 1);
  }
}

}  // namespace refrain::mpi
