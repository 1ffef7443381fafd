// A program made from a trace: readable C++ that makes the recorded calls again.
//
//   proxy::Options options;
//   options.output = "proxy/";
//   auto outcome = proxy::generate(trace, options, {});
//
// A function for each rule of the grammars, loops from repetitions, numbers as expressions of the
// rank where the trace has them so, tables where not. Ranks of equal structure share their
// functions, and what differs among them is chosen by kind. The output is a folder with the
// program, the header that it stands on and a CMakeLists.txt; it is written beside its place and
// gets its name when it is whole. Needs no MPI. Nothing that the trace says becomes code: names are
// cut down to identifiers and texts are escaped.
//
// Idea: the proxy generator that Pilgrim announces (section 6), and ScalaReplay.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "refrain/trace.h"

namespace refrain::proxy {

struct Options {
  std::string output;          // path of the folder; empty: nothing is written
  std::set<std::string> skip;  // functions whose calls are dropped
  bool force = false;          // replace a folder that generate() made
  bool resolve = true;         // names from debug information
  // By recorded path: so long are files that the program found and read.
  std::map<std::string, uint64_t> file_bytes;
};

// Why calls of a function cannot be made again.
struct Refusal {
  std::string function, why;
  uint64_t calls = 0;
};

// Calls that the program does not make.
struct LeftOutCalls {
  std::string function, why;
  uint64_t calls = 0;  // of all ranks
};

struct Outcome {
  std::string output;
  std::string program;  // its text
  uint64_t lines = 0;   // of it
  uint64_t functions = 0, rules = 0, signatures = 0, tables = 0, kinds = 0, families = 0;
  uint64_t calls = 0;
  uint64_t skipped = 0;                      // calls, by Options::skip
  uint64_t other_ends = 0;                   // calls that their messages came from or went to
  uint64_t failed = 0;                       // calls that failed and are left out
  std::vector<std::string> needs;            // why the program wants the recorded number of ranks
  std::map<std::string, uint64_t> not_held;  // what else differs from the trace, and how often
  std::vector<LeftOutCalls> left_out;        // the most frequent first
  std::string compute;                       // where the work between calls is from
};

// All that cannot be made again, or nothing. A function that is skipped is not among them.
Result<std::vector<Refusal>> refusals(const Trace& trace, const Options& options);

// Calls that Options::skip leaves out, with both ends of their messages: by group of the trace.
// Fails as generate() does.
using LeftOut = std::set<std::pair<uint32_t, SignatureId>>;
Result<LeftOut> left_out(const Trace& trace, const Options& options);

// Fails with kUnsupported when something is refused, kUsage when the output is in the way.
Result<Outcome> generate(const Trace& trace, const Options& options);

}  // namespace refrain::proxy
