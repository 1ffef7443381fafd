#include "reader/growing_trace.h"

#include <utility>
#include <vector>

#include "base/bytes.h"

namespace refrain::reader {

GrowingTrace::GrowingTrace(uint64_t ranks, std::string name)
    : impl_(std::make_shared<TraceImpl>()), trace_(Internal::trace(impl_)) {
  impl_->name = std::move(name);
  impl_->data.meta.ranks = impl_->info.rank_count = ranks;
  impl_->world.append_run(0, 1, ranks);
  impl_->group_of_rank.assign(ranks, TraceImpl::kNoGroup);
}

bool GrowingTrace::add(format::Definition definition) {
  std::vector<format::Definition>& all = impl_->data.definitions;
  all.push_back(std::move(definition));
  if (impl_->definitions.add(all.back())) return true;
  all.pop_back();
  return false;
}

void GrowingTrace::add_signature(std::string_view shape, std::span<const int64_t> values) {
  std::vector<format::RankExpr> constants(values.size());
  for (size_t i = 0; i < values.size(); ++i) constants[i].a = values[i];
  format::SignatureTable& all = impl_->data.signatures;
  all.append(all.add_shape(shape), constants);
  impl_->call_of_signature.push_back(static_cast<CallId>(base::ByteReader(shape).varint()));
}

}  // namespace refrain::reader
