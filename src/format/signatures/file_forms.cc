#include "format/signatures/file_forms.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "format/codes/checksum.h"
#include "format/codes/run_codec.h"
#include "format/definitions.h"
#include "format/limits.h"
#include "format/signatures/changed_copy.h"
#include "format/signatures/walker.h"

namespace refrain::format {

namespace {

class Stripper final : public Visitor {
 public:
  explicit Stripper(std::string_view shape) : out_(shape) {}
  uint64_t count(uint64_t n, size_t begin, size_t end) override {
    if (n < kLargeElementCount) return n;
    out_.replace(begin, end, kLargeElementCount);
    result.counts.push_back(static_cast<int64_t>(n));
    return n;
  }
  void request(uint64_t n, size_t begin, size_t end) override {
    out_.leave_out(begin, end);
    result.requests.push_back(static_cast<int64_t>(n));
  }
  void finish() { result.bytes = out_.finish(); }
  FileShape result;

 private:
  ChangedCopy out_;
};

class Restorer final : public Visitor {
 public:
  explicit Restorer(const FileShape& shape) : shape_(shape), out_(shape.bytes) {}
  uint64_t count(uint64_t n, size_t begin, size_t end) override {
    if (n < kLargeElementCount) return n;
    const uint64_t all =
        counts_ < shape_.counts.size() ? static_cast<uint64_t>(shape_.counts[counts_]) : UINT64_MAX;
    ++counts_;
    if (n > kLargeElementCount || all < kLargeElementCount)
      return UINT64_MAX;  // beyond the walker's limit
    out_.replace(begin, end, all);
    return all;
  }
  uint64_t request_in_file() override {
    return requests_ < shape_.requests.size() ? static_cast<uint64_t>(shape_.requests[requests_])
                                              : UINT64_MAX;
  }
  void request(uint64_t n, size_t begin, size_t end) override {
    ++requests_;
    out_.replace(begin, end, n);
  }
  // Whether all that the file says was asked for.
  bool is_used_up() const {
    return counts_ == shape_.counts.size() && requests_ == shape_.requests.size();
  }
  std::string finish() { return out_.finish(); }

 private:
  const FileShape& shape_;
  ChangedCopy out_;
  size_t counts_ = 0, requests_ = 0;
};

enum PayloadForm : uint8_t { kAsItIs = 0, kCommunicator = 1, kDerivedType = 2 };

// Members of a communicator are regular; what a datatype was made of are a few numbers, each with a
// meaning of its own, and more often regular by chance.
constexpr uint64_t kFewNumbers = 32;

void put_list(const base::RunList& list, base::ByteWriter& structure, std::vector<int64_t>& numbers,
              uint64_t few = 0) {
  structure.put_varint(list.size() < few ? list.size() : few);
  if (list.size() >= few) return split_list(base::NestedRuns(list).items(), structure, numbers);
  for (uint64_t i = 0; i < list.size(); ++i) numbers.push_back(list.at(i));
}

FilePayload as_it_is(const std::string& payload) {
  FilePayload out;
  out.structure += static_cast<char>(kAsItIs);
  out.structure += payload;
  return out;
}

FilePayload strip(const CommDefinition& comm) {
  FilePayload out;
  base::ByteWriter w;
  w.put_u8(kCommunicator);
  w.put_zigzag(comm.id);
  w.put_varint(comm.constant);
  w.put_u8(comm.inter ? 1 : 0);
  put_list(comm.local, w, out.numbers);
  if (comm.inter) put_list(comm.remote, w, out.numbers);
  out.structure = w.take();
  return out;
}

FilePayload strip(const DatatypeDefinition& type) {
  FilePayload out;
  base::ByteWriter w;
  w.put_u8(kDerivedType);
  w.put_zigzag(type.id);
  w.put_varint(type.combiner);
  out.numbers = {type.size_bytes, type.lower_bound, type.extent_bytes};
  put_list(type.integers, w, out.numbers, kFewNumbers);
  put_list(type.addresses, w, out.numbers, kFewNumbers);
  out.structure = w.take();
  return out;
}

// All of a payload's lists together may not have more runs out of loops than this.
class ListSource {
 public:
  ListSource(base::ByteReader& in, const FilePayload& payload, size_t at)
      : in_(in), numbers_(payload.numbers), at_(at), source_(numbers_, at_) {}
  base::RunList list(uint64_t few = 0) {
    const uint64_t n = in_.varint();
    if (n >= few) return n == few ? join_list(in_, source_, kMaxMembers, budget_) : broken();
    base::RunList list;
    int64_t v = 0;
    for (uint64_t i = 0; i < n; ++i) {
      if (!source_.next(v)) return broken();
      list.append(v);
    }
    return list;
  }
  bool at_end() const { return in_.ok() && in_.at_end() && at_ == numbers_.size(); }

 private:
  base::RunList broken() {
    in_.fail();
    return {};
  }
  base::ByteReader& in_;
  const std::vector<int64_t>& numbers_;
  size_t at_;
  VectorSource source_;
  uint64_t budget_ = kMaxRepeatedRuns;
};

std::optional<std::string> restore_comm(base::ByteReader& in, const FilePayload& payload) {
  CommDefinition comm;
  comm.id = in.zigzag();
  comm.constant = static_cast<uint32_t>(in.varint());
  const uint8_t flags = in.u8();
  comm.inter = (flags & 1) != 0;
  comm.has_members = true;
  ListSource lists(in, payload, 0);
  comm.local = lists.list();
  if (comm.inter) comm.remote = lists.list();
  if (!lists.at_end() || flags > 1) return std::nullopt;
  return write_comm(comm);
}

std::optional<std::string> restore_type(base::ByteReader& in, const FilePayload& payload) {
  DatatypeDefinition type;
  type.id = in.zigzag();
  type.combiner = static_cast<uint32_t>(in.varint());
  if (payload.numbers.size() < 3) return std::nullopt;
  type.size_bytes = payload.numbers[0];
  type.lower_bound = payload.numbers[1];
  type.extent_bytes = payload.numbers[2];
  ListSource lists(in, payload, 3);
  type.integers = lists.list(kFewNumbers);
  type.addresses = lists.list(kFewNumbers);
  if (!lists.at_end()) return std::nullopt;
  return write_datatype(type);
}

}  // namespace

FileShape strip_shape(std::string_view shape) {
  Stripper v(shape);
  walk_with(shape, Form::kSplit, v);
  v.finish();
  return std::move(v.result);
}

std::optional<std::string> restore_shape(const FileShape& shape) {
  Restorer v(shape);
  if (!walk_with(shape.bytes, Form::kFile, v) || !v.is_used_up()) return std::nullopt;
  return v.finish();
}

FilePayload strip_payload(const Definition& d) {
  FilePayload out;
  if (d.kind == DefinitionKind::kComm) {
    const auto comm = parse_comm(d.payload);
    if (comm && comm->has_members) out = strip(*comm);
  } else if (d.kind == DefinitionKind::kDatatype) {
    const auto type = parse_datatype(d.payload);
    if (type && type->constant == 0) out = strip(*type);
  }
  // A payload that somebody wrote in another way than write_comm() does is kept as it is.
  if (out.structure.empty() || restore_payload(out) != d.payload) return as_it_is(d.payload);
  return out;
}

std::optional<std::string> restore_payload(const FilePayload& payload) {
  base::ByteReader in(payload.structure);
  switch (in.u8()) {
    case kCommunicator: return restore_comm(in, payload);
    case kDerivedType: return restore_type(in, payload);
    case kAsItIs:
      if (!in.ok() || !payload.numbers.empty()) return std::nullopt;
      return std::string(payload.structure, 1);
    default: return std::nullopt;
  }
}

FileDefinition file_definition(const Definition& d) {
  if (d.kind == DefinitionKind::kSite)
    return {d.kind, d.refs.size(), {{}, {base::ByteReader(d.payload).zigzag()}}};
  return {d.kind, d.refs.size(), strip_payload(d)};
}
bool FileDefinition::like(const FileDefinition& o) const {
  return kind == o.kind && refs == o.refs && payload.structure == o.payload.structure &&
         payload.numbers.size() == o.payload.numbers.size();
}
uint64_t FileDefinition::key() const {
  base::ByteWriter w;
  w.put_u8(static_cast<uint8_t>(kind));
  w.put_varint(refs);
  w.put_varint(payload.numbers.size());
  w.put_string(payload.structure);
  return hash64(w.view().data(), w.size());
}

FileSignature file_signature(const SignatureTable& all, size_t signature) {
  FileSignature form{strip_shape(all[signature].shape), 0, all.codes(signature)};
  form.requests = std::exchange(form.shape.requests, {}).size();
  form.shape.bytes.shrink_to_fit();
  return form;
}
bool FileSignature::like(const FileSignature& o) const {
  return shape.bytes == o.shape.bytes && codes == o.codes &&
         shape.counts.size() == o.shape.counts.size() && requests == o.requests;
}
uint64_t FileSignature::key() const {
  base::ByteWriter w;
  w.put_varint(shape.counts.size());
  w.put_varint(requests);
  w.put_string(shape.bytes);
  for (const ExprCode c : codes) w.put_u8(static_cast<uint8_t>(c));
  return hash64(w.view().data(), w.size());
}

std::string next_name(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t last = name.find_last_of(kDigits);
  if (last == std::string::npos) return {};
  const size_t before = name.find_last_not_of(kDigits, last);
  const size_t first = before == std::string::npos ? 0 : before + 1;
  std::string number = name.substr(first, last - first + 1);
  size_t at = number.size();
  while (at > 0 && number[at - 1] == '9') number[--at] = '0';
  if (at > 0) ++number[at - 1];
  std::string next(name, 0, first);
  if (at == 0) next += '1';
  next += number;
  next += std::string_view(name).substr(last + 1);
  return next;
}

base::RunList host_blocks(uint64_t ranks, uint64_t ranks_each) {
  base::RunList list;
  for (uint64_t host = 0; host * ranks_each < ranks; ++host)
    list.append_run(static_cast<int64_t>(host), 0, std::min(ranks_each, ranks - host * ranks_each));
  return list;
}

namespace {

// Neighbours with one key, of which there may be millions.
struct KeyRun {
  uint32_t kind;  // its key as a small number, in order of first use
  uint32_t begin, end;
};
struct Kinds {
  explicit Kinds(const std::vector<uint64_t>& keys) {
    std::unordered_map<uint64_t, uint32_t> known;
    for (size_t i = 0, end = 0; i < keys.size(); i = end) {
      while (end < keys.size() && keys[end] == keys[i]) ++end;
      const auto [it, is_new] = known.try_emplace(keys[i], static_cast<uint32_t>(members.size()));
      if (is_new) members.push_back(0);
      runs.push_back({it->second, static_cast<uint32_t>(i), static_cast<uint32_t>(end)});
      members[it->second] += end - i;
    }
  }
  std::vector<KeyRun> runs;
  std::vector<size_t> members;
};

// Where nothing refers to anything: long families behind the others.
std::vector<uint32_t> family_order_of(const Kinds& kinds, size_t n) {
  std::vector<uint32_t> order;
  order.reserve(n);
  const auto add = [&](const KeyRun& run) {
    for (uint32_t i = run.begin; i < run.end; ++i) order.push_back(i);
  };
  std::vector<std::vector<KeyRun>> long_ones;  // in order of first use
  std::vector<uint32_t> place(kinds.members.size(), UINT32_MAX);
  for (const KeyRun& run : kinds.runs) {
    if (kinds.members[run.kind] < kLongFamily) {
      add(run);
      continue;
    }
    if (place[run.kind] == UINT32_MAX) {
      place[run.kind] = static_cast<uint32_t>(long_ones.size());
      long_ones.emplace_back();
    }
    long_ones[place[run.kind]].push_back(run);
  }
  for (const std::vector<KeyRun>& family : long_ones)
    for (const KeyRun& run : family) add(run);
  return order;
}

}  // namespace

std::vector<uint32_t> family_order(const std::vector<uint64_t>& keys, const RefsOf& refs) {
  const Kinds kinds(keys);
  if (!refs) return family_order_of(kinds, keys.size());
  std::vector<uint32_t> kind_of(keys.size());
  for (const KeyRun& run : kinds.runs)
    std::fill(kind_of.begin() + run.begin, kind_of.begin() + run.end, run.kind);
  // Goes to the end: long families, and what refers to their members. 0: it does not, else the
  // number of its part, from 1 on.
  std::vector<uint32_t> part_of(keys.size(), 0);
  std::vector<uint32_t> place(kinds.members.size(), 0);  // the part that a family is in just now
  std::vector<uint32_t> sizes = {0};                     // of the parts
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const uint32_t kind = kind_of[i];
    // What a member refers to must stand before it: in a part that begins no later than its own.
    uint32_t earliest = 0;
    for (const uint32_t r : refs(i))
      if (r < i) earliest = std::max(earliest, part_of[r]);
    if (kinds.members[kind] < kLongFamily && earliest == 0) {
      ++sizes[0];
      continue;
    }
    if (place[kind] == 0 || place[kind] < earliest) {
      place[kind] = static_cast<uint32_t>(sizes.size());
      sizes.push_back(0);
    }
    part_of[i] = place[kind];
    ++sizes[place[kind]];
  }
  uint32_t next = 0;
  for (uint32_t& s : sizes) s = std::exchange(next, next + s);
  std::vector<uint32_t> order(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) order[sizes[part_of[i]]++] = i;
  return order;
}

}  // namespace refrain::format
