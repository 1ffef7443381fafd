// Calls of one rank, in order, with every parameter.
//
//   refrain::RankReader rank(trace, 2);
//   rank.for_each_call(0, [](const refrain::Call& call) {
//     std::cout << call.seq << ' ' << call.signature->name << '\n';
//     return true;                                    // false stops
//   });
//
// A trace holds every different call of a rank once (its Signature); a program's loop repeats them.
// RankReader decodes a signature the first time that it is met and keeps it, so walking costs some
// ten nanoseconds a call, whatever the parameters. Idea: Pilgrim, section 2 (call signature table).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "refrain/ids.h"
#include "refrain/trace.h"
#include "refrain/value.h"

namespace refrain {

// Parameters, outputs included, are in the order of the C binding, whatever language the program is
// written in; large-count forms (MPI_Send_c) are functions of their own.
//
// A parameter of a call. The name is valid as long as the RankReader.
struct Argument {
  std::string_view name;  // as in the C binding of the MPI standard; "arg0", ... where not known
  Value value;
};

// One function with all its parameters, as one rank passed them. Names are valid as long as the
// RankReader.
struct Signature {
  SignatureId id;
  CallId call = 0;
  std::string_view name;       // "MPI_Isend"; "call#123" for a function that this version lacks
  std::vector<Argument> args;  // in the order of the C binding
  // What the call returned: kNull for MPI_SUCCESS, else the error code; for a function that returns
  // something else than an error code, that.
  Value result;
  // The class of that error code (MPI_ERR_TRUNCATE, ...); kNull when there was no error.
  Value error_class;
  bool failed() const { return !error_class.is_null(); }
  // The message that a wildcard receive took while its program ignored the status: a status, or an
  // array of statuses and nulls for calls that complete several requests. kNull: no such message.
  Value matched;
  DefinitionId site = kNoDefinition;     // where the call stands
  DefinitionId context = kNoDefinition;  // communicator that its ranks are numbers in; none: world

  // nullptr when there is no such parameter.
  const Value* find(std::string_view arg_name) const;
};

// One call that a thread of a rank made: when, and with which signature. Many calls share one
// Signature object, so compare or cache by its address or its id.
struct Call {
  Rank rank = 0;
  uint32_t thread = 0;  // numbered by first call; 0 is the one that called MPI_Init
  uint64_t seq = 0;     // 0 for the first call of this thread
  const Signature* signature = nullptr;  // valid as long as the RankReader
  // Only with Times::kRead, and where the trace has times of single calls: in ns of the common
  // clock since the earliest MPI_Init, within the bound of Trace::timing(). Calls of a thread
  // are in the order of their ends; of a call inside of another one's callback the end comes first.
  bool has_time = false;
  uint64_t begin_ns = 0, end_ns = 0;
};

// Times are read block by block when they are asked for, and cost nothing when they are not.
enum class Times : uint8_t { kSkip, kRead };

class RankReader;

//   auto cursor = rank.cursor(0);
//   while (const refrain::Call* call = cursor->next()) use(*call);
//
// Walks the calls of one location forwards, without expanding them into memory. Keep its RankReader
// alive and in place while it is used. One thread at a time.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  // The next call, or nullptr after the last. Valid until the next use of this cursor.
  const Call* next();
  // Makes call number `seq` the next one. O(depth of the grammar). Past the end: next() is nullptr.
  void seek(uint64_t seq);
  // Makes the first call that ends at `ns` or later the next one. Needs Times::kRead and a location
  // with times: without them, false, and the cursor stays where it is.
  bool seek_time(uint64_t ns);
  // Why calls are without time although the trace has some: the first damaged block that was met.
  const Status& time_status() const;

 private:
  friend class RankReader;
  struct Impl;
  explicit Cursor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What it costs: opening one rank takes no time worth mentioning; the first call of each signature
// takes microseconds, every further one some ten nanoseconds, and with times a few more.
//
// One rank of a trace. It keeps the trace alive, and every signature that it has decoded, until it
// is destroyed. One thread at a time: to walk ranks in parallel, give each thread a RankReader.
class RankReader {
 public:
  // `rank` must be below trace.rank_count().
  RankReader(const Trace& trace, Rank rank, Times times = Times::kSkip);
  RankReader(RankReader&&) noexcept;
  RankReader& operator=(RankReader&&) noexcept;
  ~RankReader();

  Rank rank() const;
  const Trace& trace() const;

  // Decodes signature `id` for this rank. Out of range: an empty signature without a name.
  const Signature& signature(SignatureId id);
  // The same, and it is not kept: for who looks at each signature once. Calls that complete tens of
  // thousands of requests take megabytes each.
  Signature signature_once(SignatureId id);

  // Calls visit for each call of a thread, in order, until it returns false. Fails when the rank
  // has no such thread; with Times::kRead also, at the end, when a block of its times was damaged.
  using CallVisitor = std::function<bool(const Call&)>;
  Status for_each_call(uint32_t thread, const CallVisitor& visit);

  // A cursor at call 0. Fails when the rank has no such thread.
  Result<Cursor> cursor(uint32_t thread);

 private:
  friend class Cursor;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace refrain
