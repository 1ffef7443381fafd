// What threads of a rank wait for from each other. A trace has the calls of each thread in their
// order, and not which call of one came before which call of another. What has to hold follows from
// the objects that they use: a communicator is made before another thread uses it, and freed when
// nobody does any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "proxy/families.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

class Threads {
 public:
  // Both outlive it.
  Threads(Symbolic& symbolic, const std::vector<Family>& families)
      : symbolic_(symbolic), families_(families) {}

  // Finds out what they wait for, and tells `symbolic` whose objects are meant. Fails with
  // kUnsupported where the trace does not say enough.
  base::Status look();

  // Lines around a symbol of the start of a family, `indent` columns in.
  std::string before(size_t family, uint32_t symbol, size_t indent) const {
    return lines(family, {symbol, false}, indent);
  }
  std::string behind(size_t family, uint32_t symbol, size_t indent) const {
    return lines(family, {symbol, true}, indent);
  }
  const std::set<std::string>& signals() const { return signals_; }  // variables of the program

 private:
  // How one thread uses an object. Numbers of symbols of its start.
  struct Use {
    uint32_t first = UINT32_MAX, last = 0, first_free = UINT32_MAX, first_make = UINT32_MAX;
    uint64_t made = 0;
    bool is_collective = false;
  };
  struct Thread {
    size_t family = 0, kind = 0;
    uint32_t number = 0;
    std::map<std::string, Use> uses;  // by name of the object
  };
  using Place = std::pair<uint32_t, bool>;  // symbol, and whether behind it

  std::map<std::string, Use> uses_of(const Kind& kind);
  base::Status share(const std::string& object, const std::vector<Thread>& threads);
  void take_turns(const std::string& object, const std::vector<const Thread*>& users);
  void await(const Thread& thread, uint32_t symbol, const std::string& signal, size_t times);
  void give(const Thread& thread, uint32_t symbol, const std::string& signal);
  std::string lines(size_t family, Place place, size_t indent) const;

  Symbolic& symbolic_;
  const std::vector<Family>& families_;
  // By family: at each place lines, each with the kinds that it is for.
  std::vector<std::map<Place, std::map<std::string, std::set<uint32_t>>>> lines_;
  std::set<std::string> signals_;
};

}  // namespace refrain::proxy
