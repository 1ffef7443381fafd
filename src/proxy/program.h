// The text of the program: functions of rules, tables, variables, main.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proxy/calls.h"
#include "proxy/recorded.h"
#include "proxy/requests.h"
#include "proxy/threads.h"
#include "reader/symbols.h"
#include "text/path_names.h"

namespace refrain::proxy {

class Program {
 public:
  Program(const Trace& trace, const Options& options);

  // Fails with kUnsupported where something is refused.
  Result<Outcome> write();

 private:
  struct Function {
    std::string name, text;
  };
  // The functions of a family's rules; the start's lines up to MPI_Init go into `opening`.
  // Whether there is one.
  bool write_family(size_t number, std::string& opening);
  std::string symbol_text(size_t family, const grammar::Symbol& symbol,
                          const std::vector<uint64_t>& counts, bool is_main_loop, bool with_work,
                          size_t indent);
  std::string call_lines(size_t family, uint32_t terminal, bool with_work, size_t indent);
  std::string name_of(size_t family, uint32_t rule);
  std::vector<DefinitionId> sites_of(size_t family, uint32_t rule);
  std::string site_comment(const Kind& kind, SignatureId signature);
  bool has_one_main_loop() const;
  bool has_end() const;
  bool begins_with_sessions() const;
  std::optional<std::string> simple_kinds() const;
  std::string kinds_text();
  std::vector<int64_t> kind_of_rank() const;
  std::string variables() const;
  std::string starts_text() const;
  Status check_objects(const Kind& kind);
  std::string assembled(const std::string& opening, Outcome& out);

  const Trace& trace_;
  const Options& options_;
  Symbolic symbolic_;
  Tables tables_;
  Pools pools_;
  Calls calls_;
  reader::Symbols symbols_;
  text::PathNames paths_;
  std::vector<Family> families_;
  std::vector<Recorded> recorded_;
  RecordedTexts texts_;
  std::vector<Function> functions_;
  std::map<std::string, std::string> by_text_;  // text without its name -> name
  std::map<std::string, int> names_;
  std::vector<std::vector<std::string>> rule_names_;  // by family
  std::set<std::string> unknown_objects_;
  std::optional<Requests> requests_;
  std::optional<Grid> grid_;
  Skipped skipped_;
  Threads threads_{symbolic_, families_};
  bool has_main_loop_ = true, has_sessions_first_ = false;
};

}  // namespace refrain::proxy
