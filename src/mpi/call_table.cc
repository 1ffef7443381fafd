#include "mpi/call_table.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace refrain::mpi {

namespace {

struct ConstantName {
  uint32_t id;
  std::string_view name;
};

#include "mpi/call_rows.inc"
#include "mpi/constant_names.inc"

constexpr size_t kConstantCount = std::size(kConstants);

template <class Row, size_t kSize>
const Row* find_by_name(const Row (&rows)[kSize], const uint16_t (&order)[kSize],
                        std::string_view name) {
  const uint16_t* const at =
      std::lower_bound(std::begin(order), std::end(order), name,
                       [&rows](uint16_t i, std::string_view key) { return rows[i].name < key; });
  return at != std::end(order) && rows[*at].name == name ? &rows[*at] : nullptr;
}

template <class Row, size_t kSize>
const Row* find_by_id(const Row (&rows)[kSize], uint32_t id) {
  const Row* const at = std::lower_bound(std::begin(rows), std::end(rows), id,
                                         [](const Row& row, uint32_t key) { return row.id < key; });
  return at != std::end(rows) && at->id == id ? at : nullptr;
}

}  // namespace

const CallInfo* find_call(CallId id) {
  // Asked for at every call of a trace; ids have few gaps.
  constexpr size_t kIds = std::end(kCalls)[-1].id + 1;
  static constexpr auto kRows = [] {
    std::array<uint16_t, kIds> rows{};  // one more than the number of the row; 0: none
    for (uint16_t i = 0; i < std::size(kCalls); ++i) rows[kCalls[i].id] = i + 1;
    return rows;
  }();
  return id < kIds && kRows[id] > 0 ? &kCalls[kRows[id] - 1] : nullptr;
}

const CallInfo* find_call(std::string_view name) {
  return find_by_name(kCalls, kCallsByName, name);
}

std::span<const CallInfo> all_calls() { return kCalls; }

std::string_view to_string(CallGroup group) {
  switch (group) {
    case CallGroup::kP2p: return "p2p";
    case CallGroup::kCompletion: return "completion";
    case CallGroup::kColl: return "coll";
    case CallGroup::kRma: return "rma";
    case CallGroup::kIo: return "io";
    case CallGroup::kComm: return "comm";
    case CallGroup::kGroup: return "group";
    case CallGroup::kTopo: return "topo";
    case CallGroup::kType: return "type";
    case CallGroup::kInfo: return "info";
    case CallGroup::kEnv: return "env";
    case CallGroup::kError: return "error";
    case CallGroup::kAttr: return "attr";
    case CallGroup::kSpawn: return "spawn";
    case CallGroup::kSession: return "session";
    case CallGroup::kPersist: return "persist";
    case CallGroup::kTool: return "tool";
    case CallGroup::kMisc: return "misc";
    case CallGroup::kMark: return "mark";
  }
  return "misc";
}

std::string_view constant_name(uint32_t id) {
  const ConstantName* const row = find_by_id(kConstants, id);
  return row != nullptr ? row->name : std::string_view();
}

uint32_t constant_id(std::string_view name) {
  const ConstantName* const row = find_by_name(kConstants, kConstantsByName, name);
  return row != nullptr ? row->id : 0;
}

uint32_t constant_count() { return static_cast<uint32_t>(kConstantCount); }

}  // namespace refrain::mpi
