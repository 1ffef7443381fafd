#include "tracer/state/tables.h"

#include "base/bytes.h"

namespace refrain::tracer {

namespace {

base::ByteWriter key_of(format::DefinitionKind kind, std::string_view payload, const uint32_t* refs,
                        size_t ref_count) {
  base::ByteWriter key;
  key.put_u8(static_cast<uint8_t>(kind));
  key.put_varint(ref_count);
  for (size_t i = 0; i < ref_count; ++i) key.put_varint(refs[i]);
  key.put_bytes(payload.data(), payload.size());
  return key;
}

}  // namespace

// What others may come across is in the spool by then.
uint32_t Tables::define(format::DefinitionKind kind, std::string_view payload, const uint32_t* refs,
                        size_t ref_count) {
  const base::ByteWriter key = key_of(kind, payload, refs, ref_count);
  const uint32_t hash = InternTable::hash_of(key.view());
  const uint32_t known = definition_index_.find(key.view(), hash);
  if (known != InternTable::kMissing) return known;
  format::Definition d;
  d.kind = kind;
  d.payload = std::string(payload);
  d.refs.assign(refs, refs + ref_count);
  definitions.push_back(std::move(d));
  if (sink != nullptr) sink->definition(definitions.back());
  return definition_index_.add(key.view(), hash);
}

uint32_t Tables::define_once(format::DefinitionKind kind, std::string_view payload,
                             const uint32_t* refs, size_t ref_count) {
  const base::ByteWriter key = key_of(kind, payload, refs, ref_count);
  const uint32_t known = definition_index_.find(key.view());
  if (known != InternTable::kMissing) return known;
  Guard guard(*this);
  return define(kind, payload, refs, ref_count);
}

uint32_t Tables::definition_of(format::DefinitionKind kind, uint64_t key) {
  uint32_t def = HandleMap::kMissing;
  if (threaded && handles.try_find(kind, key, &def)) return def;
  Guard guard(*this);
  return handles.find(kind, key);
}

uint32_t Tables::intern(InternTable& table, std::string_view bytes) {
  const uint32_t hash = InternTable::hash_of(bytes);
  uint32_t index = table.find(bytes, hash);
  if (index != InternTable::kMissing) return index;
  Guard guard(*this);
  if (threaded) index = table.find(bytes, hash);
  return index != InternTable::kMissing ? index : table.add(bytes, hash);
}

uint32_t Tables::make_terminal(std::string_view bytes, uint32_t hash, bool* is_new) {
  const uint32_t known = threaded ? signatures.find(bytes, hash) : InternTable::kMissing;
  if (is_new != nullptr) *is_new = known == InternTable::kMissing;
  if (known != InternTable::kMissing) return known;
  first_ticks.push_back(kNotCalled);
  if (sink != nullptr) sink->signature(bytes);
  return signatures.add(bytes, hash);
}

void Tables::begin_threads() {
  threaded = true;
  if (!is_bounded()) {
    signatures.share();
    request_pools.share();
  }
  left_out.share();
  handles.share();
  definition_index_.share();
  requests.begin_threads();
}

}  // namespace refrain::tracer
