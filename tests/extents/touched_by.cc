// What the calls of a rank write, by their parameters: a line `FUNCTION PARAMETER BYTES` for each
// buffer.
//
// usage: touched_by run.rfn RANK

#include <cstdio>
#include <cstdlib>

#include "events/buffers/touched.h"
#include "events/payload.h"
#include "mpi/call_table.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

int main(int argc, char** argv) {
  using namespace refrain;
  if (argc != 3) return 2;
  const auto trace = Trace::open(argv[1]);
  if (!trace.ok()) return 1;
  const Rank rank = std::atoi(argv[2]);
  RankReader reader(*trace, rank);
  // The program's only topology is a ring.
  const auto ring = [](DefinitionId) { return events::Degrees{2, 2}; };
  auto cursor = reader.cursor(0);
  if (!cursor.ok()) return 1;
  while (const Call* call = cursor->next()) {
    const Signature& s = *call->signature;
    const auto comm = trace->communicator(s.context, rank);
    for (const events::Touched& touched :
         events::touched_by(*trace, s, comm ? *comm : trace->world(rank), ring)) {
      if (!touched.is_written || touched.param < 0 || !touched.is_sized) continue;
      const mpi::CallInfo* const info = mpi::find_call(s.call);
      const auto name = info->params[static_cast<size_t>(touched.param)].name;
      std::printf("%.*s %.*s %llu\n", static_cast<int>(info->name.size()), info->name.data(),
                  static_cast<int>(name.size()), name.data(),
                  static_cast<unsigned long long>(touched.bytes));
    }
  }
  return 0;
}
