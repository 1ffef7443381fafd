#include "analysis/replays/left_out.h"

#include "events/refusals.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "mpi/call_table.h"

namespace refrain::analysis {

bool same_function(const Signature& a, const Signature& b) {
  if (a.call == b.call) return true;
  const mpi::CallMeaning &one = mpi::meaning_of(a.call), &other = mpi::meaning_of(b.call);
  return one.plain == other.plain && one.how == other.how && one.plain != 0 &&
         a.args.size() == b.args.size();
}

bool has_flag(const Signature& s) {
  const Value* const flag = s.find("flag");
  return flag == nullptr || flag->at_exit().integer_or(0) != 0;
}

bool cannot_fail_again(const Signature& s) {
  if (s.call == mpi::kMPI_Comm_spawn || s.call == mpi::kMPI_Comm_spawn_multiple) return s.failed();
  return s.call == mpi::kMPI_Win_test && !has_flag(s);
}

bool is_about_what_is_missing(const Signature& a, const Signature* b) {
  if (!events::is_about_mpis_own(a)) return false;
  return b == nullptr || !same_function(a, *b) || !events::is_about_mpis_own(*b);
}

bool may_be_left_out(const Signature& call) {
  const mpi::CallInfo* const info = mpi::find_call(call.call);
  if (call.failed() || (info != nullptr && info->group == mpi::CallGroup::kTool)) return true;
  return mpi::meaning_of(call.call).reissue == mpi::Reissue::kLocal ||
         call.call == mpi::krefrain_function_enter || call.call == mpi::krefrain_function_leave;
}

bool is_failure_left_out(RankReader& original, uint32_t thread, const Call& a, const Signature& b) {
  if (!a.signature->failed() || b.failed()) return false;
  auto behind = original.cursor(thread);
  if (!behind.ok()) return false;
  behind->seek(a.seq + 1);
  const Call* next = behind->next();
  while (next != nullptr && next->signature->failed()) next = behind->next();
  return next != nullptr && same_function(*next->signature, b);
}

}  // namespace refrain::analysis
