// Together: what a rank does to compute at the same times as the other ranks of its node, which
// `refrain solo --concurrent` runs beside it (options/together.h).
//
// Of one thread. Waiting gives the core away, as there may be more ranks than cores.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "options/together.h"

namespace refrain::replay::solo {

class Together {
 public:
  // `text`: the variable of the environment, "PLACE,RANKS,FILE"; empty: nobody is beside the rank.
  // Whether there is somebody.
  bool open(const std::string& text);
  bool is_open() const { return !lanes_.empty(); }
  // Until all others have begun, or ended.
  void begin();
  // Behind a call that ended at `end_ns` in place, in front of a unit that lasted until `next_ns`.
  void wait_for_others(uint64_t end_ns, uint64_t next_ns);
  void end();

 private:
  template <class Condition>
  void wait_while(Condition waits) const;

  std::span<options::TogetherLane> lanes_;
  size_t own_ = 0;
  pid_t parent_ = 0;
};

}  // namespace refrain::replay::solo
