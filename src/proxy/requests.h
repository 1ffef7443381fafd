// Variables of the program for requests: one for each call of a thread that makes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "proxy/families.h"
#include "proxy/symbolic.h"
#include "refrain/ids.h"

namespace refrain::proxy {

class Requests {
 public:
  // `families` by thread, as families_of() gives them; they and `symbolic` are used here alone.
  Requests(Symbolic& symbolic, const std::vector<Family>& families);

  // Of a kind of a family: call that makes the request -> number of the variable. Has also the
  // calls of other threads whose requests the kind's thread completes.
  const std::map<SignatureId, int>& of(size_t family, size_t kind) const {
    return variables_[family][kind];
  }
  int count() const { return count_; }
  // Variables that one thread fills and another one uses, by number of the kind.
  struct Use {
    bool is_persistent = false;
    // Some thread does not complete the request as often as it starts it: then, as far as a trace
    // without times says, it never completes what it has started itself.
    bool is_completed_elsewhere = false;
  };
  using Handed = std::map<std::pair<uint32_t, int>, Use>;
  const Handed& handed() const { return handed_; }

 private:
  std::map<uint32_t, int> of_family(Symbolic& symbolic, const Family& family);
  void find_starts(Symbolic& symbolic, const std::vector<Family>& families);
  void find_makers(Symbolic& symbolic, const std::vector<Family>& families);

  std::vector<std::vector<std::map<SignatureId, int>>> variables_;
  Handed handed_;
  int count_ = 0;
};

}  // namespace refrain::proxy
