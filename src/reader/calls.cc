// RankReader and Cursor. A cursor walks the grammar of a thread, whose terminals are numbers in its
// group; the reader turns each terminal into a signature, which it decodes when it meets it first
// and keeps.

#include "refrain/calls.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/terminal_cursor.h"
#include "reader/block_walk.h"
#include "reader/calls_read.h"
#include "reader/decode_signature.h"
#include "reader/decoded_signatures.h"
#include "reader/trace_impl.h"

namespace refrain {

const Value* Signature::find(std::string_view arg_name) const {
  for (const Argument& arg : args)
    if (arg.name == arg_name) return &arg.value;
  return nullptr;
}

struct RankReader::Impl {
  Impl(const Trace& trace_in, Rank rank_in, Times times_in)
      : trace(trace_in),
        rank(rank_in),
        times(times_in),
        group(reader::Internal::of(trace).group(rank)),
        of_terminal(group == nullptr ? 0 : group->signatures.size()) {}

  // That of a terminal of the group's grammars.
  const Signature& of(uint32_t terminal) {
    const Signature*& slot = of_terminal[terminal];
    if (slot == nullptr) slot = &signature(group->signatures[terminal]);
    return *slot;
  }

  const Signature& signature(SignatureId id) {
    if (id >= trace.signature_count()) return nothing;
    if (const Signature* const known = signatures.find(id); known != nullptr) return *known;
    return signatures.add(id, decode(id));
  }

  Signature decode(SignatureId id) {
    if (!decoder) {
      const int64_t position = group == nullptr ? -1 : group->place_of(rank);
      const reader::TraceImpl& impl = reader::Internal::of(trace);
      decoder.emplace(impl.data, impl.definitions, rank,
                      position < 0 ? 0 : static_cast<uint64_t>(position));
    }
    return decoder->decode(id);
  }

  Trace trace;  // keeps what the rest looks into
  Rank rank;
  Times times;
  const format::Group* group;
  // Decoded so far, by id: all ranks together must not take signatures times ranks.
  reader::DecodedSignatures signatures;
  std::vector<const Signature*> of_terminal;  // the same
  std::optional<reader::SignatureDecoder> decoder;
  const Signature nothing{};
};

struct Cursor::Impl {
  RankReader::Impl* reader;
  grammar::TerminalCursor cursor;
  Call call;
  std::unique_ptr<reader::BlockWalk> times;  // nullptr: none, or not asked for
  Status time_status = base::Done{};
};

Cursor::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

const Call* Cursor::next() {
  Impl& impl = *impl_;
  if (impl.cursor.at_end()) return nullptr;
  impl.call.seq = impl.cursor.position();
  if (impl.times != nullptr) {
    const format::TimedCall* const timed = impl.times->find(impl.call.seq, impl.time_status);
    impl.call.has_time = timed != nullptr;
    impl.call.begin_ns = timed != nullptr ? timed->begin_ns : 0;
    impl.call.end_ns = timed != nullptr ? timed->end_ns : 0;
  }
  // All threads add to one number, which is too dear for every call.
  constexpr uint64_t kStep = 4096;
  if (impl.times == nullptr && impl.call.seq % kStep == kStep - 1) reader::add_calls_read(kStep);
  impl.call.signature = &impl.reader->of(impl.cursor.next());
  return &impl.call;
}

void Cursor::seek(uint64_t seq) { impl_->cursor.seek(seq); }

bool Cursor::seek_time(uint64_t ns) {
  if (impl_->times == nullptr) return false;
  const std::optional<uint64_t> seq = impl_->times->first_ending_at(ns, impl_->time_status);
  if (seq) impl_->cursor.seek(*seq);
  return seq.has_value();
}

const Status& Cursor::time_status() const { return impl_->time_status; }

RankReader::RankReader(const Trace& trace, Rank rank, Times times)
    : impl_(std::make_unique<Impl>(trace, rank, times)) {}
RankReader::RankReader(RankReader&&) noexcept = default;
RankReader& RankReader::operator=(RankReader&&) noexcept = default;
RankReader::~RankReader() = default;

Rank RankReader::rank() const { return impl_->rank; }
const Trace& RankReader::trace() const { return impl_->trace; }
const Signature& RankReader::signature(SignatureId id) { return impl_->signature(id); }
Signature RankReader::signature_once(SignatureId id) {
  return id < impl_->trace.signature_count() ? impl_->decode(id) : Signature();
}

Result<Cursor> RankReader::cursor(uint32_t thread) {
  // Ranks that left no record are in no group.
  const format::Group* group = impl_->group;
  if (group == nullptr)
    return base::fail("the trace has no calls of rank " + std::to_string(impl_->rank),
                      impl_->trace.name());
  for (const format::ThreadGrammar& location : group->locations) {
    if (location.thread != thread) continue;
    const reader::TraceImpl& trace = reader::Internal::of(impl_->trace);
    grammar::TerminalCursor terminals(trace.data.grammars[location.grammar],
                                      trace.lengths[location.grammar]);
    std::unique_ptr<Cursor::Impl> cursor(
        new Cursor::Impl{impl_.get(), terminals, Call{impl_->rank, thread}, nullptr});
    const Rank times_of = impl_->trace.times_rank(impl_->rank);
    if (impl_->times == Times::kRead && trace.times != nullptr && times_of >= 0) {
      const auto table = trace.times->table(trace.data.meta.ranks);
      if (!table.ok()) return reader::in_trace(table.error(), impl_->trace.name());
      // It has a cursor of its own over the same terminals, as it reads a block ahead.
      cursor->times = std::make_unique<reader::BlockWalk>(
          *trace.times, **table, static_cast<uint64_t>(times_of), thread, std::move(terminals),
          impl_->trace.name());
      cursor->times->set_functions(trace.call_of_signature, group->signatures);
    }
    return Cursor(std::move(cursor));
  }
  return base::usage(
      "rank " + std::to_string(impl_->rank) + " has no thread " + std::to_string(thread),
      impl_->trace.name());
}

Status RankReader::for_each_call(uint32_t thread, const CallVisitor& visit) {
  Result<Cursor> calls = cursor(thread);
  if (!calls.ok()) return calls.error();
  while (const Call* call = calls->next())
    if (!visit(*call)) break;
  return calls->time_status();
}

}  // namespace refrain
