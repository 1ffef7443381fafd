#include "analysis/diff/call_words.h"

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"

namespace refrain::analysis::diff {
namespace {

using mpi::ParamKind;

constexpr size_t kMostText = 72;      // of one word; longer ones end in a hash
constexpr uint64_t kMostRuns = 4096;  // of an array, that go into the hash one by one

uint64_t mix(uint64_t hash, uint64_t v) {
  hash = (hash ^ v) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

std::string signed_text(int64_t v) {
  std::string out(v < 0 ? "" : "+");
  return out += std::to_string(v);
}

// "me", "me+1", "me-1".
std::string from_me(int64_t distance) {
  std::string out("me");
  return distance == 0 ? out : out += signed_text(distance);
}

// Wrapping: a damaged trace may hold any number.
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// The number in (-size/2, size/2] that is `v` modulo `size`.
int64_t nearest(int64_t v, int64_t size) {
  if (size <= 0) return v;
  v %= size;
  if (v < 0) v += size;
  return v > size / 2 ? v - size : v;
}

std::optional<std::vector<int64_t>> short_list(const Value* value) {
  if (value == nullptr || !value->at_entry().is_array() || value->at_entry().size() > 16)
    return std::nullopt;
  std::vector<int64_t> out;
  value->at_entry().for_each([&](const Value& v) { out.push_back(v.integer_or(0)); });
  return out;
}

// Steps from one rank to another in a grid in row-major order; nothing when the grid has other
// ranks.
std::optional<std::string> grid_steps(const Grid& grid, int64_t from, int64_t to, uint64_t size) {
  int64_t all = 1;
  for (const int64_t d : grid.dims)
    if (d <= 0 || __builtin_mul_overflow(all, d, &all)) return std::nullopt;
  if (static_cast<uint64_t>(all) != size || from < 0 || to < 0 || from >= all || to >= all)
    return std::nullopt;
  std::string text;
  for (size_t i = grid.dims.size(); i-- > 0;) {
    const int64_t d = grid.dims[i];
    int64_t step = to % d - from % d;
    if (i < grid.periodic.size() && grid.periodic[i] != 0) step = nearest(step, d);
    const std::string part = step == 0 ? "0" : signed_text(step);
    text = text.empty() ? part : part + "," + text;
    from /= d;
    to /= d;
  }
  return "grid(" + text + ")";
}

bool is_left_out(ParamKind kind) {
  switch (kind) {
    case ParamKind::kStatus:
    case ParamKind::kRequest:
    case ParamKind::kPointer:
    case ParamKind::kFunction:
    case ParamKind::kErrhandler:
    case ParamKind::kSession:
    case ParamKind::kToolHandle:
    case ParamKind::kKeyval:
    case ParamKind::kStream:
    case ParamKind::kMessage: return true;
    default: return false;
  }
}

// Names that differ from run to run: files, ports, what a job was started with.
bool is_name_of_run(std::string_view name) {
  return name == "filename" || name == "port_name" || name == "argv" || name == "argc" ||
         name == "service_name" || name == "command";
}

// The number of a handle in Fortran: an index in a table of the MPI library, where the objects of a
// recorder stand as well.
bool is_fortran_handle(const mpi::CallInfo& info, size_t param) {
  return info.name.ends_with("_f2c") && info.params[param].kind == ParamKind::kInt;
}

}  // namespace

Grids grids_of(RankReader& reader, const std::vector<Trace::Occurrence>& calls) {
  Grids out;
  std::vector<DefinitionId> doubtful;
  for (const Trace::Occurrence& seen : calls) {
    const mpi::CallInfo* info = mpi::find_call(reader.trace().call_of(seen.signature));
    if (info == nullptr || info->group != mpi::CallGroup::kTopo) continue;
    const Signature& call = reader.signature(seen.signature);
    const Value* comm = call.find(info->id == mpi::kMPI_Cart_sub ? "newcomm" : "comm_cart");
    if (comm == nullptr || !comm->at_exit().is_object()) continue;
    const auto dims = short_list(call.find("dims"));
    const auto periods = short_list(call.find("periods"));
    const DefinitionId id = comm->at_exit().id;
    if (!dims || !periods) {
      doubtful.push_back(id);
      continue;
    }
    Grid grid{*dims, {}};
    for (const int64_t p : *periods) grid.periodic.push_back(p != 0 ? 1 : 0);
    const auto [at, is_new] = out.emplace(id, grid);
    if (!is_new && !(at->second == grid)) doubtful.push_back(id);
  }
  for (const DefinitionId id : doubtful) out.erase(id);
  return out;
}

Communicator WordMaker::context_of(const Signature& call) const {
  const auto comm = reader_.trace().communicator(call.context, reader_.rank());
  return comm ? *comm : reader_.trace().world(reader_.rank());
}

std::string WordMaker::partner(const Signature& call, const Value& rank) const {
  if (!rank.is_integer()) return rank.is_constant() ? std::string(rank.name()) : "none";
  const Communicator comm = context_of(call);
  if (comm.is_inter || comm.me < 0)
    return std::string("remote ").append(std::to_string(rank.number));
  const auto grid = grids_.find(comm.definition);
  if (grid != grids_.end())
    if (auto steps = grid_steps(grid->second, comm.me, rank.number, comm.size())) return *steps;
  int64_t distance = minus(rank.number, comm.me);
  if (has_same_ranks()) return from_me(distance);
  const auto size = static_cast<int64_t>(comm.size());
  distance = nearest(distance, size);
  const auto ranks = reader_.trace().rank_count();
  const auto is_half_of = [&](int64_t all) {
    return distance != 0 && all == 2 * std::abs(distance);
  };
  const bool is_of_all = comm.size() == static_cast<uint64_t>(ranks);
  if (is_half_of(size) || (is_of_all && is_half_of(static_cast<int64_t>(compared_ranks_))))
    return "me+/-" + std::to_string(std::abs(distance));
  return from_me(distance);
}

// With equal numbers of ranks a number is a number. Otherwise that holds for one that the other
// rank has as well, and one that follows the rank says so.
std::string WordMaker::number(const Signature& call, size_t param, const Value& value) {
  if (has_same_ranks() || other_ == nullptr) return std::to_string(value.number);
  const Signature& there = other_->signature(call.id);
  if (param >= there.args.size()) return std::to_string(value.number);
  const Value& theirs = there.args[param].value.at_entry();
  if (!theirs.is_integer() || theirs.number == value.number) return std::to_string(value.number);
  const Communicator here = context_of(call);
  const auto comm = other_->trace().communicator(there.context, other_->rank());
  const int64_t their_me = comm ? comm->me : other_->rank();
  const int64_t distance = minus(value.number, here.me);
  if (distance == minus(theirs.number, their_me)) return from_me(distance);
  return "by rank";
}

std::string WordMaker::array(const mpi::CallInfo& info, const Value& value) const {
  if (!has_same_ranks() && info.group == mpi::CallGroup::kTopo) return "by ranks";
  const uint64_t size = value.size();
  if (size > 0 && value.items.size() == 1 && value.items[0].step == 0 && size > 3)
    return (has_same_ranks() ? std::to_string(size) + " times " : "each ") +
           (value.items[0].is_integer() ? std::to_string(value.items[0].number)
                                        : std::string(value.items[0].name()));
  if (!has_same_ranks() && size > 3) return "by ranks";
  std::string text = "[";
  uint64_t hash = size, runs = 0;
  for (const Value& run : value.items) {
    if (++runs > kMostRuns) break;
    hash = mix(mix(mix(mix(hash, static_cast<uint64_t>(run.number)), run.repeat),
                   static_cast<uint64_t>(run.step)),
               run.id);
    if (text.size() > kMostText) continue;
    text += (text.size() > 1 ? ", " : "");
    text += run.is_integer() ? std::to_string(run.number) : std::string(run.name());
    if (run.repeat > 1) text += " x" + std::to_string(run.repeat);
    if (run.step != 0) text += " step " + std::to_string(run.step);
  }
  if (text.size() <= kMostText) return text + "]";
  return text.substr(0, kMostText) + "... #" + std::to_string(hash % 1000000) + "]";
}

std::string WordMaker::communicator(DefinitionId id) const {
  const auto comm = reader_.trace().communicator(id, reader_.rank());
  if (!comm) return "comm";
  if (!comm->name.empty()) return std::string(comm->name);
  if (comm->is_inter)
    return has_same_ranks() ? "comm of " + std::to_string(comm->size()) + " to " +
                                  std::to_string(comm->remote_size())
                            : "comm to others";
  if (comm->size() == static_cast<uint64_t>(reader_.trace().rank_count())) return "comm of all";
  if (comm->size() == 1) return "comm of one";
  return has_same_ranks() ? "comm of " + std::to_string(comm->size()) : "comm of some";
}

std::string WordMaker::datatype(DefinitionId id) const {
  const auto type = reader_.trace().datatype(id);
  if (!type) return "datatype";
  if (!type->name.empty()) return std::string(type->name);
  std::string kind(mpi::constant_name(type->combiner));
  constexpr std::string_view kPrefix = "MPI_COMBINER_";
  if (kind.starts_with(kPrefix)) kind.erase(0, kPrefix.size());
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return (kind.empty() ? "datatype" : kind) + " of " + std::to_string(type->size_bytes) + " B";
}

std::string WordMaker::object(ParamKind kind, const Value& value) const {
  switch (kind) {
    case ParamKind::kComm: return communicator(value.id);
    case ParamKind::kDatatype: return datatype(value.id);
    case ParamKind::kOp: return "op of the program";
    case ParamKind::kWin:
      return "win on " + communicator(reader_.trace().communicator_of(value.id));
    case ParamKind::kFile:
      return "file on " + communicator(reader_.trace().communicator_of(value.id));
    case ParamKind::kGroup: return "group";
    case ParamKind::kInfo: return "info";
    default: return "object";
  }
}

std::optional<std::string> WordMaker::word(const Signature& call, const mpi::CallInfo& info,
                                           size_t param) {
  const mpi::ParamInfo& about = info.params[param];
  const Value& value = call.args[param].value.at_entry();
  if (about.direction == mpi::Direction::kOut || is_left_out(about.kind) || value.is_null() ||
      is_name_of_run(about.name) || is_fortran_handle(info, param))
    return std::nullopt;
  switch (value.kind) {
    case ValueKind::kConstant: return std::string(value.name());
    case ValueKind::kObject: return object(about.kind, value);
    case ValueKind::kString: return std::string("\"").append(value.text, 0, kMostText).append("\"");
    case ValueKind::kArray:
      if (about.kind == ParamKind::kAddress || about.kind == ParamKind::kString)
        return std::nullopt;  // addresses of the program's own data
      return array(info, value);
    case ValueKind::kBits: {
      std::string text;
      for (const Value& bit : value.items) {
        text += text.empty() ? "" : "|";
        text += bit.name();
      }
      return value.number == 0 ? text : text + "|" + std::to_string(value.number);
    }
    case ValueKind::kInteger:
      if (about.kind == ParamKind::kRank && info.root_param != static_cast<int>(param))
        return partner(call, value);
      if (!has_same_ranks() && info.group == mpi::CallGroup::kTopo &&
          value.number == reader_.trace().rank_count())
        return "size";
      return number(call, param, value);
    default: return std::nullopt;
  }
}

Words WordMaker::words(SignatureId id) {
  const Signature& call = reader_.signature(id);
  const mpi::CallInfo* info = mpi::find_call(call.call);
  Words out;
  if (info != nullptr) {
    const size_t params = std::min(info->params.size(), call.args.size());
    for (size_t i = 0; i < params; ++i)
      if (auto text = word(call, *info, i))
        out.push_back(std::string(info->params[i].name) + "=" + *text);
  }
  if (call.failed()) out.push_back("error=" + std::string(call.error_class.name()));
  return out;
}

}  // namespace refrain::analysis::diff
