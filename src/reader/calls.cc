#include "refrain/calls.h"

#include <optional>
#include <string>
#include <utility>

#include "grammar/walk.h"
#include "reader/decode_signature.h"
#include "reader/trace_impl.h"

namespace refrain {

const Value* Signature::find(std::string_view arg_name) const {
  for (const Argument& arg : args)
    if (arg.name == arg_name) return &arg.value;
  return nullptr;
}

struct RankReader::Impl {
  Impl(const Trace& trace_in, Rank rank_in)
      : trace(trace_in),
        rank(rank_in),
        group(trace.impl_->group(rank)),
        signatures(trace.signature_count()) {}

  const Signature& signature(SignatureId id) {
    if (id >= signatures.size()) return nothing;
    std::unique_ptr<Signature>& slot = signatures[id];
    if (slot == nullptr) {
      if (!decoder) {
        const int64_t position = group == nullptr ? -1 : group->ranks.find(rank);
        decoder.emplace(trace.impl_->data, trace.impl_->definitions, rank,
                        position < 0 ? 0 : static_cast<uint64_t>(position));
      }
      slot = std::make_unique<Signature>(decoder->decode(id));
    }
    return *slot;
  }

  Trace trace;  // keeps what the rest looks into
  Rank rank;
  const format::Group* group;
  std::vector<std::unique_ptr<Signature>> signatures;  // decoded so far, by id
  std::optional<reader::SignatureDecoder> decoder;
  const Signature nothing{};
};

struct Cursor::Impl {
  RankReader::Impl* reader;
  const std::vector<uint32_t>* signatures;  // of the terminals
  grammar::Cursor cursor;
  Call call;
};

Cursor::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

const Call* Cursor::next() {
  Impl& impl = *impl_;
  if (impl.cursor.at_end()) return nullptr;
  impl.call.seq = impl.cursor.position();
  impl.call.signature = &impl.reader->signature((*impl.signatures)[impl.cursor.next()]);
  return &impl.call;
}

void Cursor::seek(uint64_t seq) { impl_->cursor.seek(seq); }

RankReader::RankReader(const Trace& trace, Rank rank)
    : impl_(std::make_unique<Impl>(trace, rank)) {}
RankReader::RankReader(RankReader&&) noexcept = default;
RankReader& RankReader::operator=(RankReader&&) noexcept = default;
RankReader::~RankReader() = default;

Rank RankReader::rank() const { return impl_->rank; }
const Trace& RankReader::trace() const { return impl_->trace; }
const Signature& RankReader::signature(SignatureId id) { return impl_->signature(id); }

Result<Cursor> RankReader::cursor(uint32_t thread) {
  const format::Group* group = impl_->group;
  if (group == nullptr)
    return base::fail("the trace has no calls of rank " + std::to_string(impl_->rank),
                      impl_->trace.name());
  for (const format::Location& location : group->locations) {
    if (location.thread != thread) continue;
    const Trace::Impl& trace = *impl_->trace.impl_;
    return Cursor(std::unique_ptr<Cursor::Impl>(new Cursor::Impl{
        impl_.get(), &group->signatures,
        grammar::Cursor(trace.data.grammars[location.grammar], trace.lengths[location.grammar]),
        Call{impl_->rank, thread, 0, nullptr}}));
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
  return base::Done{};
}

}  // namespace refrain
