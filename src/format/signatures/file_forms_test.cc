#include "format/signatures/file_forms.h"

#include <gtest/gtest.h>

#include <random>

#include "format/definitions.h"
#include "format/signatures/walk.h"
#include "format/testing/synthetic.h"
#include "mpi/call_table.h"

namespace refrain::format {
namespace {

TEST(FileForms, HostsCountUp) {
  const std::pair<const char*, const char*> cases[] = {
      {"node7", "node8"},         {"node9", "node10"},      {"n09", "n10"},
      {"n099.site", "n100.site"}, {"rack2-n3", "rack2-n4"}, {"9", "10"},
      {"a9b9c", "a9b10c"},        {"localhost", ""},        {"", ""}};
  for (const auto& [name, next] : cases) EXPECT_EQ(next_name(name), next) << name;
}

TEST(FileForms, ShapesComeBackAsTheyWere) {
  testing::Sig sig(7, 0);
  sig.array(100).times(40).object(1).times(60).integer(3);
  sig.array(3).times(1).request(4).times(1).request(70'000).times(1).none();
  sig.array(7).times(7).integer(1).int_runs({1, 2, 3, 9, 8, 7});
  const std::string shape = split_signature(sig.bytes())->shape;
  const FileShape file = strip_shape(shape);
  EXPECT_EQ(file.counts, (std::vector<int64_t>{100, 40, 60}));
  EXPECT_EQ(file.requests, (std::vector<int64_t>{4, 70'000}));
  EXPECT_EQ(restore_shape(file), shape);
  FileShape other = file;
  other.counts[0] = 101;  // more elements than the runs have
  EXPECT_FALSE(restore_shape(other));
  other = file;
  other.counts.push_back(9);
  EXPECT_FALSE(restore_shape(other));
  other = file;
  other.requests.pop_back();
  EXPECT_FALSE(restore_shape(other));
  other = file;
  other.counts = {100, 40, -60};
  EXPECT_FALSE(restore_shape(other));
}

TEST(FileForms, PayloadsComeBackAsTheyWere) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 500; ++i) {
    CommDefinition comm;
    comm.id = static_cast<int64_t>(random() % 9);
    comm.has_members = true;
    comm.inter = random() % 2 == 0;
    DatatypeDefinition type;
    type.combiner = mpi::constant_id("MPI_COMBINER_INDEXED");
    type.lower_bound = -8;
    for (uint64_t n = random() % 80; n > 0; --n) {
      const auto v = static_cast<int64_t>(random() % 50);
      comm.local.append(v);
      if (comm.inter) comm.remote.append(v * v);
      type.integers.append(v);
      type.addresses.append(-v * 8);
    }
    for (const Definition& d : {Definition{DefinitionKind::kComm, write_comm(comm), {}},
                                Definition{DefinitionKind::kDatatype, write_datatype(type), {}},
                                Definition{DefinitionKind::kComm, "no communicator", {}}}) {
      const FilePayload file = strip_payload(d);
      ASSERT_EQ(restore_payload(file), d.payload);
      FilePayload other = file;
      other.numbers.push_back(1);
      ASSERT_FALSE(restore_payload(other));
    }
  }
}

RefsOf refs_of(const std::vector<std::vector<uint32_t>>& refs) {
  return [&refs](uint32_t i) { return std::span<const uint32_t>(refs[i]); };
}

TEST(FileForms, FamiliesStandTogetherBehindWhatTheyReferTo) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t n = random() % 60, kinds = 1 + random() % 12;
    std::vector<uint64_t> keys;
    std::vector<std::vector<uint32_t>> refs(n);
    for (uint32_t i = 0; i < n; ++i) {
      keys.push_back(random() % kinds);
      while (i > 0 && random() % 3 == 0) refs[i].push_back(static_cast<uint32_t>(random() % i));
    }
    const std::vector<std::vector<uint32_t>> none(n);
    ASSERT_EQ(family_order(keys, nullptr), family_order(keys, refs_of(none)));
    const std::vector<uint32_t> order = family_order(keys, refs_of(refs));
    ASSERT_EQ(order.size(), n);
    std::vector<int64_t> place(n, -1);
    for (uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(place[order[i]], -1);
      place[order[i]] = i;
    }
    for (uint32_t i = 0; i < n; ++i) {
      for (const uint32_t r : refs[i]) ASSERT_LT(place[r], place[i]);
    }
  }
  // Rows of a mesh among other things.
  const std::vector<uint64_t> keys = {1, 5, 2, 5, 5, 3, 5, 6, 6, 6, 6, 4};
  const std::vector<std::vector<uint32_t>> none(keys.size());
  EXPECT_EQ(family_order(keys, refs_of(none)),
            (std::vector<uint32_t>{0, 2, 5, 11, 1, 3, 4, 6, 7, 8, 9, 10}));
}

}  // namespace
}  // namespace refrain::format
