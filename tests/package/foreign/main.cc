// Reads a trace with the installed library: ranks, calls, and how often each function was called.
// Touches each public header, so that one that is not whole does not get by.

#include <cstdio>
#include <map>
#include <string>

#include <refrain/calls.h>
#include <refrain/definitions.h>
#include <refrain/ids.h>
#include <refrain/mark.h>
#include <refrain/result.h>
#include <refrain/trace.h>
#include <refrain/value.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  refrain_region_begin("reading");  // nobody records it: costs a test
  const refrain::Result<refrain::Trace> trace = refrain::Trace::open(argv[1]);
  if (!trace.ok()) {
    std::fprintf(stderr, "foreign: %s\n", trace.error().to_string().c_str());
    return static_cast<int>(trace.error().code);
  }
  std::map<std::string, unsigned long> functions;
  unsigned long to_itself = 0;
  for (refrain::Rank r = 0; r < trace->rank_count(); ++r) {
    refrain::RankReader rank(*trace, r);
    for (const refrain::Location& location : trace->locations(r)) {
      auto cursor = rank.cursor(location.thread);
      if (!cursor.ok()) return 1;
      while (const refrain::Call* call = cursor->next()) {
        ++functions[std::string(call->signature->name)];
        const refrain::Value* dest = call->signature->find("dest");
        if (dest != nullptr && dest->integer_or(-1) == r) ++to_itself;
      }
    }
  }
  refrain_region_end("reading");
  std::printf(
      "{\"ranks\": %ld, \"calls\": %lu, \"to_itself\": %lu, \"world\": %lu, \"functions\": {",
      static_cast<long>(trace->rank_count()), static_cast<unsigned long>(trace->call_count()),
      to_itself, static_cast<unsigned long>(trace->world(0).size()));
  const char* comma = "";
  for (const auto& [name, count] : functions) {
    std::printf("%s\"%s\": %lu", comma, name.c_str(), count);
    comma = ", ";
  }
  std::puts("}}");
  return 0;
}
