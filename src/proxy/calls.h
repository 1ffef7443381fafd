// Calls as statements: the recorded inputs, handles of the program's own, and the recorded end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/told_neighbours.h"
#include "proxy/arguments.h"
#include "proxy/proxy.h"
#include "proxy/requests.h"
#include "refrain/calls.h"

namespace refrain::proxy {

class Calls {
 public:
  Calls(const Trace& trace, const Options& options, Symbolic& symbolic, Tables& tables,
        Pools& pools);

  // `taken`: the name of the sequence of what this receive took, or of where this memory of a
  // dynamic window stood; empty: it is not asked.
  Statement statement(const Kind& kind, SignatureId signature,
                      const std::map<SignatureId, int>& requests, const std::string& taken);
  // What is left out; outlives this.
  void set_skipped(const Skipped* skipped) {
    skipped_ = skipped;
    arguments_.set_skipped(skipped);
  }
  void set_grid(const Grid* grid) { arguments_.set_grid(grid); }
  // Variables of requests that threads hand over, from Requests::handed(); outlives this.
  void set_handed(const Requests::Handed* handed) { handed_ = handed; }
  void set_threads(bool has_threads, bool has_epochs) {
    has_threads_ = has_threads, has_epochs_in_threads_ = has_epochs;
  }
  // Of a program that begins with sessions: MPI_Init is a call like others.
  void set_sessions_first() { has_sessions_first_ = true; }
  // Calls that cannot be said in C++: function -> why.
  const std::map<std::string, std::string>& problems() const { return problems_; }
  std::map<std::string, uint64_t>& not_held() { return not_held_; }
  // What the statements so far have left out; the most frequent first.
  std::vector<LeftOutCalls> left_out() const;
  bool has_ports() const { return !ports_.empty(); }
  const Signature& decoded(const Kind& kind, SignatureId signature);

 private:
  // Counts a call that the program does not make: `what` and `why` say so.
  void leave_out(const Kind& kind, SignatureId signature, const std::string& what,
                 const std::string& why);
  Statement made(const Site& site, const Signature& decoded, const std::string& taken);
  Statement discarded(const Site& site);
  void force_message(const Site& site, Statement& out);
  void force_taken(const Site& site, const std::string& taken, Statement& out);
  bool force_completion(const Site& site, const Signature& decoded, Statement& out);
  bool force_probe(const Site& site, const Signature& decoded, Statement& out);
  bool has_nothing_left(const Site& site, const Signature& decoded);
  void take_turns(const Site& site, const Signature& decoded, Statement& out);
  void hand_over(const Site& site, const Signature& decoded, Statement& out);
  void replace_texts(const Site& site, const Signature& decoded, Statement& out);
  void keep_members(const Site& site, Statement& out);
  void keep_neighbours(const Site& site, Statement& out);
  void number_errors(const Site& site, const Signature& decoded, Statement& out);
  void number_added_errors(const Site& site, Statement& out);
  void name_ports(const Site& site, const Signature& decoded, Statement& out);
  void place_memory(const Site& site, const Signature& decoded, const std::string& attached,
                    Statement& out);
  void replace_status(const Site& site, const Signature& decoded, Statement& out);

  const Trace& trace_;
  const Options& options_;
  Symbolic& symbolic_;
  Tables& tables_;
  std::vector<events::ToldNeighbours> told_;  // of each rank; made at the first graph
  Pools& pools_;
  Arguments arguments_;
  std::unordered_map<Rank, std::unique_ptr<RankReader>> readers_;
  std::map<std::string, std::string> problems_;
  std::map<std::string, uint64_t> not_held_;
  // By group and call: why it is left out.
  std::map<std::pair<uint32_t, SignatureId>, std::string> left_out_;
  const Requests::Handed* handed_ = nullptr;
  const Skipped* skipped_ = nullptr;
  bool has_sessions_first_ = false;
  std::map<std::string, int> ports_;     // that the program opens: name, number
  std::map<std::string, int> attached_;  // places of memory in dynamic windows
  bool has_dynamic_windows_ = false, adds_errors_ = false, has_threads_ = false,
       has_epochs_in_threads_ = false, gives_types_again_ = false;
};

// Whether several threads of a rank open epochs of windows.
bool have_epochs_in_threads(Symbolic& symbolic, const std::vector<Family>& families);
// The flag of a test or a probe; true where there is none.
bool has_flag(const Signature& call);
// Whether a signature is a receive that is not waited for, from anybody or with any tag.
bool takes_any(Symbolic& symbolic, const Kind& kind, SignatureId signature);

}  // namespace refrain::proxy
