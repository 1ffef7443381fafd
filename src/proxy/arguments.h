// Parameters of a call as C++: from the symbolic fields of a signature and what the function does.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/call_table.h"
#include "proxy/skipped.h"
#include "proxy/statement.h"
#include "proxy/symbolic.h"

namespace refrain::proxy {

// Variables of the program for handles: how many there are of each kind, and what is made and used
// by whom.
struct Pools {
  std::map<std::string, int64_t> size;  // "comms" -> highest number + 1
  std::set<std::string> made, used;     // "comms[3]", of the kind of ranks at hand
  std::map<std::string, int> files;     // names, each with its number
};

// Of one signature that one kind of ranks calls.
struct Site {
  const Kind* kind = nullptr;
  SignatureId signature;
  const SymbolicCall* call = nullptr;
  const std::map<SignatureId, int>* requests = nullptr;  // made by that signature: variable
};

// What a parameter was before the call.
inline const format::Field& at_entry(const format::Field& field) {
  const bool is_changed = field.tag == format::FieldTag::kChanged && field.children.size() == 2;
  return is_changed ? field.children[1] : field;
}

class Arguments {
 public:
  void set_skipped(const Skipped* skipped) { skipped_ = skipped; }
  void set_grid(const Grid* grid) { grid_ = grid; }
  Arguments(Symbolic& symbolic, Tables& tables, Pools& pools)
      : symbolic_(symbolic), tables_(tables), pools_(pools) {}

  // As it is passed, without regard to how the call ended.
  Argument plain(const Site& site, size_t parameter);
  // Parts of it, for calls whose end is forced. -1: there is no such parameter.
  int find(const Site& site, std::string_view name) const;
  const format::Field& field(const Site& site, size_t parameter) const {
    return site.call->fields.parameters[parameter];
  }
  Argument number(const Site& site, const format::Field& field);
  std::string text(const Site& site, const Argument& argument);
  // Variables of requests: -1 where the handle is null.
  std::vector<int> request_numbers(const Site& site, const format::Field& field);
  int new_request(const Site& site) const;  // that the call makes; -1: none
  // What cannot be said in C++, since the last call of this.
  std::string take_problem() { return std::exchange(problem_, {}); }

  static bool is_constant(const format::Field& field, std::string_view name);

 private:
  Argument object(const Site& site, const format::Field& field);
  Argument one_of(const Site& site, uint32_t slot, const std::set<std::string>& names);
  std::string object_name(int64_t definition);
  Argument output(const Site& site, const mpi::ParamInfo& info, const format::Field& field);
  Argument array(const Site& site, size_t parameter, const mpi::ParamInfo& info,
                 const format::Field& field);
  Argument kept(const Site& site, size_t parameter, Argument array);
  Argument integers(const Site& site, size_t parameter, const format::Field& field);
  std::vector<int64_t> constants(const Site& site, const format::Field& field);
  bool leaves_sides_open(const Site& site, const format::Field& field);
  bool is_sides_of_grid(const Site& site, size_t parameter, const format::Field& field);
  Argument list_by_rank(const Site& site, size_t parameter);
  Argument requests(const Site& site, const mpi::ParamInfo& info, const format::Field& field);
  Argument buffer(const Site& site, size_t parameter);
  std::string memory_that_stays(const Site& site);
  std::string blocks(const Site& site, const mpi::BufferInfo& what);
  std::string me_text(const Site& site);
  std::string value_text(const Site& site, int parameter);
  void note(std::set<std::string>& where, const std::string& text);
  void fail(const std::string& why) {
    if (problem_.empty()) problem_ = why;
  }

  Symbolic& symbolic_;
  Tables& tables_;
  Pools& pools_;
  std::string problem_;
  const Grid* grid_ = nullptr;
  const Skipped* skipped_ = nullptr;
};

}  // namespace refrain::proxy
