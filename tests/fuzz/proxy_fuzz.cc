// Whatever opens as a trace becomes a program, or is refused. The program is text whose strings and
// comments end where they should.
#include "proxy/proxy.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

constexpr Rank kMaxRanks = 256;           // more would only be slower
constexpr uint64_t kMaxCalls = 1u << 20;  // some are walked through

// Line by line, as no string and no comment of the program goes over several.
void look_through(const std::string& program) {
  bool in_string = false, in_comment = false;
  int depth = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    const char c = program[i];
    require(c == '\n' || (c >= ' ' && c < 0x7f), "the program is plain text");
    if (c == '\n') {
      require(!in_string, "strings end in their lines");
      require(i == 0 || program[i - 1] != '\\', "no line goes on in the next one");
      in_comment = false;
    } else if (in_comment) {
      continue;
    } else if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '/' && program[i + 1] == '/') {
      in_comment = true;
    } else if (c == '{' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ')') {
      require(--depth >= 0, "brackets are opened before they are closed");
    }
    require(program.compare(i, 3, "?\?=") != 0 && program.compare(i, 3, "?\?/") != 0,
            "no trigraphs");
  }
  require(depth == 0, "brackets are closed");
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace refrain;
  const std::string bytes = fuzz::trace_file(fuzz::view_of(data, size));
  const auto trace = Trace::from_bytes(bytes, "fuzz");
  if (!trace.ok() || trace->rank_count() > fuzz::kMaxRanks || trace->call_count() > fuzz::kMaxCalls)
    return 0;
  proxy::Options options;
  options.resolve = false;  // a trace of a fuzzer says which files to read
  for (const bool skips : {false, true}) {
    if (skips) {
      const auto refused = proxy::refusals(*trace, options);
      fuzz::require(refused.ok(), "what is refused can be said");
      for (const proxy::Refusal& one : *refused) options.skip.insert(one.function);
      options.skip.insert("MPI_Send");
      options.skip.insert("MPI_Irecv");
    }
    const auto made = proxy::generate(*trace, options);
    if (!made.ok()) {
      fuzz::require(made.error().message.find('\n') == std::string::npos, "an error is one line");
      continue;
    }
    fuzz::look_through(made->program);
  }
  return 0;
}
