#include "analysis/clusters/objects_of_ranks.h"

#include "base/bytes.h"

namespace refrain::analysis::clusters {
namespace {

// Numbers of a file may be anything.
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

ObjectsOfRanks::ObjectsOfRanks(const format::TraceData& data) : data_(data) {
  for (uint32_t d = 0; d < data.definitions.size(); ++d)
    if (const auto key = key_of(d)) all_[*key].push_back(d);
}

uint32_t ObjectsOfRanks::of(uint32_t definition, uint64_t rank) {
  const auto key = key_of(definition);
  if (!key) return definition;
  if (is_member(definition, rank)) return definition;
  for (const uint32_t d : all_[*key])
    if (is_member(d, rank)) return d;
  return definition;
}

const format::CommDefinition* ObjectsOfRanks::comm_of(uint32_t definition) {
  const format::Definition* d = &data_.definitions[definition];
  if ((d->kind == format::DefinitionKind::kWin || d->kind == format::DefinitionKind::kFile) &&
      !d->refs.empty())
    return comm_of(d->refs[0]);
  if (d->kind != format::DefinitionKind::kComm) return nullptr;
  auto& known = comms_[definition];
  if (!known) known = format::parse_comm(d->payload);
  return known ? &*known : nullptr;
}

bool ObjectsOfRanks::is_member(uint32_t definition, uint64_t rank) {
  const format::CommDefinition* comm = comm_of(definition);
  return comm != nullptr &&
         (!comm->has_members || comm->local.find(static_cast<int64_t>(rank)) >= 0);
}

std::optional<ObjectsOfRanks::Key> ObjectsOfRanks::key_of(uint32_t definition) {
  const format::Definition& d = data_.definitions[definition];
  const format::CommDefinition* comm = comm_of(definition);
  if (comm == nullptr || !comm->has_members) return std::nullopt;
  int64_t number = comm->id;
  if (d.kind != format::DefinitionKind::kComm) number = base::ByteReader(d.payload).zigzag();
  return Key{static_cast<int>(d.kind), number * 2 + (comm->inter ? 1 : 0)};
}

std::optional<ObjectsOfRanks::Place> ObjectsOfRanks::place_of(int64_t definition, uint64_t rank) {
  if (definition < 0 || static_cast<uint64_t>(definition) >= data_.definitions.size())
    return std::nullopt;
  const uint32_t own = of(static_cast<uint32_t>(definition), rank);
  const format::CommDefinition* const comm = comm_of(own);
  if (comm == nullptr || !comm->has_members || comm->inter) return std::nullopt;
  const int64_t place = comm->local.find(static_cast<int64_t>(rank));
  if (place < 0) return std::nullopt;
  return Place{own, place};
}

void ObjectsOfRanks::note_split(int64_t definition, int64_t color, int64_t key, uint64_t rank) {
  const auto place = place_of(definition, rank);
  if (!place) return;
  splits_.try_emplace(place->definition, Split{color, sum(key, -place->in_it)});
  colors_.insert(color);
}

// Ranks of a communicator are in the order of their keys.
std::optional<ObjectsOfRanks::Split> ObjectsOfRanks::split_of(int64_t definition, uint64_t rank) {
  const auto place = place_of(definition, rank);
  if (!place) return std::nullopt;
  auto known = splits_.find(place->definition);
  if (known == splits_.end()) {
    while (colors_.contains(next_color_)) ++next_color_;
    known = splits_.emplace(place->definition, Split{next_color_++, 0}).first;
  }
  return Split{known->second.color, sum(known->second.key, place->in_it)};
}

}  // namespace refrain::analysis::clusters
