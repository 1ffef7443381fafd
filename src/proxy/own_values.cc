// Parameters that are others in each run: paths, ports, memory of windows, statuses, and what the
// machine decides.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "proxy/calls.h"
#include "proxy/literals.h"

namespace refrain::proxy {

namespace {

using format::Field;
using format::FieldTag;

// Texts of info objects that any MPI takes whole have fewer characters than this: the standard asks
// for a limit of 32 for keys; MPIs take 256 and more for values.
struct InfoText {
  std::string_view parameter, limit;
  size_t least;
};
constexpr InfoText kInfoTexts[] = {{"key", "MPI_MAX_INFO_KEY", 32},
                                   {"value", "MPI_MAX_INFO_VAL", 256}};

// Of each rank of the world, in a communicator: its first member, this rank's place, how many there
// are.
struct Members {
  explicit Members(size_t ranks) : first(ranks), me(ranks), count(ranks) {}
  std::vector<int64_t> first, me, count;
};

using Numbers = std::vector<int64_t>;
// Beyond so many neighbours of a rank the list of tables is too long.
constexpr size_t kMostNeighbours = 64;

// Of each rank of the world: its neighbours in a graph, in the order that it was told.
struct Neighbours {
  explicit Neighbours(size_t ranks) : sources(ranks), targets(ranks) {}
  void set(Rank rank, const events::Neighbours& said) {
    const auto at = static_cast<size_t>(rank);
    sources[at].assign(said.sources.begin(), said.sources.end());
    targets[at].assign(said.targets.begin(), said.targets.end());
  }
  std::vector<Numbers> sources, targets;
};

// The arguments for the sources and the targets of the rank that runs.
std::string texts_of(const Neighbours& told, Tables& tables) {
  std::string lists;
  for (const auto* of_ranks : {&told.sources, &told.targets}) {
    size_t most_here = 0;
    for (const Numbers& one : *of_ranks) most_here = std::max(most_here, one.size());
    Numbers column(of_ranks->size());
    const auto add = [&](auto&& value_of) {
      std::transform(of_ranks->begin(), of_ranks->end(), column.begin(), value_of);
      return tables.add(column, "") + "[rank]";
    };
    lists += ", {" + add([](const Numbers& one) { return static_cast<int64_t>(one.size()); });
    for (size_t i = 0; i < most_here; ++i)
      lists += ", " + add([i](const Numbers& one) { return i < one.size() ? one[i] : 0; });
    lists += "}";
  }
  return lists;
}

}  // namespace

// Paths are none of the recorded ones.
void Calls::replace_texts(const Site& site, const Signature& decoded, Statement& out) {
  for (const InfoText& one : kInfoTexts) {
    const int at = arguments_.find(site, one.parameter);
    if (at < 0 || site.call->info->params[static_cast<size_t>(at)].direction != mpi::Direction::kIn)
      continue;
    const Field& f = arguments_.field(site, static_cast<size_t>(at));
    if (f.tag == FieldTag::kString && f.text.size() >= one.least)
      out.arguments[static_cast<size_t>(at)] =
          fmt::format("fitting({}, {}).c_str()", quoted(f.text), one.limit);
  }
  const int name = arguments_.find(site, "filename");
  if (name < 0) return;
  const Field& f = arguments_.field(site, static_cast<size_t>(name));
  const auto known =
      pools_.files.try_emplace(std::string(f.text), static_cast<int>(pools_.files.size()));
  const Value* mode = decoded.find("amode");
  bool makes = false;  // else it is there, for a call that opens or removes it
  if (mode != nullptr) {
    makes = mode->name() == "MPI_MODE_CREATE";
    for (const Value& bit : mode->items) makes = makes || bit.name() == "MPI_MODE_CREATE";
  }
  const auto length = options_.file_bytes.find(known.first->first);
  const bool has_length = length != options_.file_bytes.end() && length->second > 0;
  out.arguments[static_cast<size_t>(name)] =
      fmt::format("scratch({}, {}{})", known.first->second, makes ? "false" : "true",
                  has_length ? fmt::format(", {}", length->second) : "");
}

// MPI_Comm_split_type asks the machine which ranks belong together, and another one may say
// otherwise: the communicator has the recorded ranks then.
void Calls::keep_members(const Site& site, Statement& out) {
  if (site.call->info->id != mpi::kMPI_Comm_split_type) return;
  const auto at = static_cast<size_t>(arguments_.find(site, "newcomm"));
  const Field& f = arguments_.field(site, at);
  const std::string parent = arguments_.text(site, out.arguments[0]);
  const std::string place = arguments_.text(site, out.arguments[at]);  // "out(comms[0])"
  if (f.tag != FieldTag::kObject || !place.starts_with("out(comms")) {
    out.behind.push_back(fmt::format("with_recorded_ranks({}, nullptr, 0, 0, 0);", parent));
    return;
  }
  const auto ranks = static_cast<int64_t>(trace_.rank_count());
  Members members(static_cast<size_t>(ranks));
  std::vector<Rank> all;
  int64_t block = 1;
  site.kind->for_each_rank([&](Rank rank) {
    const int64_t definition =
        symbolic_.value(site.signature, static_cast<uint32_t>(f.number), site.kind->position(rank));
    const auto comm = trace_.communicator(static_cast<DefinitionId>(definition), rank);
    if (!comm) return;
    const auto i = static_cast<size_t>(rank);
    members.first[i] = comm->member(0), members.me[i] = comm->me;
    members.count[i] = static_cast<int64_t>(comm->size());
    block = std::max(block, members.count[i]);
    all.push_back(rank);
  });
  const bool is_in_blocks = std::all_of(all.begin(), all.end(), [&](Rank rank) {
    const auto i = static_cast<size_t>(rank);
    const int64_t first = rank / block * block;
    return members.first[i] == first && members.me[i] == rank - first &&
           members.count[i] == std::min(block, ranks - first);
  });
  const std::string which = "&" + place.substr(4, place.size() - 5);
  if (is_in_blocks) {
    out.behind.push_back(fmt::format("in_recorded_blocks({}, {}, {});", parent, which, block));
    return;
  }
  // No number of ranks is needed for this: on another one MPI's answer stands.
  std::string numbers;
  for (const auto* table : {&members.first, &members.me, &members.count})
    numbers += ", " + tables_.add(*table, "") + "[rank]";
  out.behind.push_back(fmt::format("with_recorded_ranks({}, {}{});", parent, which, numbers));
}

// The order of neighbours in a distributed graph is MPI's, and may be another one each time; counts
// of neighbourhood collectives are in the order that the program was told.
void Calls::keep_neighbours(const Site& site, Statement& out) {
  if (site.call->info->id != mpi::kMPI_Dist_graph_create) return;
  const auto at = static_cast<size_t>(arguments_.find(site, "comm_dist_graph"));
  const Field& f = arguments_.field(site, at);
  const std::string place = arguments_.text(site, out.arguments[at]);  // "out(comms[0])"
  if (f.tag != FieldTag::kObject || !place.starts_with("out(comms")) return;
  const int64_t graph =
      symbolic_.object_number(symbolic_.value(site.signature, static_cast<uint32_t>(f.number),
                                              site.kind->position(site.kind->first_rank())));
  if (told_.empty())
    for (Rank rank = 0; rank < static_cast<Rank>(trace_.rank_count()); ++rank)
      told_.emplace_back(trace_, rank);
  Neighbours told(told_.size());
  // What follows is the same for all kinds of ranks: all members of the graph do this together.
  bool is_known = false, has_several = false;
  size_t most = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(told_.size()); ++rank) {
    const events::ToldNeighbours& one = told_[static_cast<size_t>(rank)];
    const events::Neighbours* first = nullptr;
    for (const DefinitionId name : one.graphs()) {
      if (symbolic_.object_number(name) != graph) continue;
      const events::Neighbours* const said = one.of_all(name);
      has_several = has_several || said == nullptr || (first != nullptr && *first != *said);
      is_known = true;
      first = said;
      if (said != nullptr) told.set(rank, *said);
      most = std::max(most, one.most(name));
    }
  }
  if (!is_known) return;
  if (most > kMostNeighbours) {
    ++not_held_["kinds of graphs with many neighbours, whose order is MPI's"];
    return;
  }
  // The variable has had several graphs: those that this call made.
  if (has_several) {
    told = Neighbours(told_.size());
    site.kind->for_each_rank([&](Rank rank) {
      const auto name = static_cast<DefinitionId>(symbolic_.value(
          site.signature, static_cast<uint32_t>(f.number), site.kind->position(rank)));
      const auto* const said = told_[static_cast<size_t>(rank)].of_signature(name, site.signature);
      if (said != nullptr) told.set(rank, *said);
    });
  }
  out.behind.push_back(
      fmt::format("with_recorded_neighbours({}, {}{});", arguments_.text(site, out.arguments[0]),
                  "&" + place.substr(4, place.size() - 5), texts_of(told, tables_)));
}

// The codes of errors that calls gave are of the recorded run; classes are small numbers, the same
// in all of them.
void Calls::number_errors(const Site& site, const Signature& decoded, Statement& out) {
  constexpr int64_t kMostClasses = 127;
  if (adds_errors_) number_added_errors(site, out);
  if (site.call->info->id != mpi::kMPI_Error_string) return;
  const Value* const code = decoded.find("errorcode");
  if (code == nullptr || code->integer_or(0) <= kMostClasses) return;
  out.arguments[0] = "GivenError(" + arguments_.text(site, out.arguments[0]) + ")";
}

// Classes and codes of errors that the program adds have numbers that MPI chooses.
void Calls::number_added_errors(const Site& site, Statement& out) {
  const CallId id = site.call->info->id;
  const bool adds = id == mpi::kMPI_Add_error_class || id == mpi::kMPI_Add_error_code;
  for (const std::string_view name : {"errorclass", "errorcode"}) {
    const int at = arguments_.find(site, name);
    if (at < 0) continue;
    const auto i = static_cast<size_t>(at);
    const bool is_made = site.call->info->params[i].direction != mpi::Direction::kIn;
    const Field& f = arguments_.field(site, i);
    if (f.tag != FieldTag::kInt || (is_made && !adds)) continue;
    out.arguments[i] = fmt::format("{}({})", is_made ? "made_error" : "own_error",
                                   arguments_.text(site, arguments_.number(site, f)));
  }
}

// A port has another name each time: those that the program opens are found in files.
void Calls::name_ports(const Site& site, const Signature& decoded, Statement& out) {
  const int at = arguments_.find(site, "port_name");
  if (at < 0) return;
  const CallId id = site.call->info->id;
  Argument& name = out.arguments[static_cast<size_t>(at)];
  if (const int service = arguments_.find(site, "service_name"); service >= 0)
    out.arguments[static_cast<size_t>(service)] =
        quoted("proxy of " + std::string(decoded.find("service_name")->text));
  if (id == mpi::kMPI_Lookup_name) {
    name = "port_room()";
    return;
  }
  const Value* recorded = decoded.find("port_name");
  const auto known = recorded == nullptr ? ports_.end() : ports_.find(std::string(recorded->text));
  if (id == mpi::kMPI_Open_port) {
    if (has_sessions_first_) problems_.try_emplace(out.function, "it is called without MPI_Init");
    name = "port_room()";
    if (known != ports_.end()) out.behind.push_back(fmt::format("tell_port({});", known->second));
  } else if (known != ports_.end()) {
    name = Argument(fmt::format("port({})", known->second));
  } else if (id == mpi::kMPI_Comm_accept || id == mpi::kMPI_Comm_connect ||
             id == mpi::kMPI_Close_port) {
    if (recorded != nullptr && !recorded->text.empty())
      problems_.try_emplace(out.function, "no call of the trace opens its port");
    name = "\"\"";
  }
}

// Memory of dynamic windows stands where that of the recorded run stood, moved to a place that is
// empty: who accesses it knows the address (events/buffers/attached.h).
void Calls::place_memory(const Site& site, const Signature& decoded, const std::string& attached,
                         Statement& out) {
  const Value* base = decoded.find("base");
  if (base == nullptr || base->kind == ValueKind::kConstant) return;
  const std::string key = fmt::format("{} {} {} {}", arguments_.text(site, out.arguments[0]),
                                      base->id, base->number, base->offset);
  const int number = attached_.try_emplace(key, static_cast<int>(attached_.size())).first->second;
  if (site.call->info->id == mpi::kMPI_Win_detach)
    out.arguments[1] = Argument(fmt::format("detached({})", number));
  else
    out.arguments[1] = Argument(
        fmt::format("{}.next({}, {})", attached, number, arguments_.text(site, out.arguments[2])));
  out.arguments[1].is_simple = false;
}

// A status that a call looks at is one of the recorded program, and one that it writes is as well.
void Calls::replace_status(const Site& site, const Signature& decoded, Statement& out) {
  const CallId id = site.call->info->id;
  const CallId plain = static_cast<CallId>(id >= 1000 ? id - 1000 : id);
  const bool is_count = plain == mpi::kMPI_Get_count || plain == mpi::kMPI_Get_elements ||
                        plain == mpi::kMPI_Get_elements_x;
  const bool is_set = plain == mpi::kMPI_Status_set_cancelled ||
                      plain == mpi::kMPI_Status_set_elements ||
                      plain == mpi::kMPI_Status_set_elements_x ||
                      (plain >= mpi::kMPI_Status_set_error && plain <= mpi::kMPI_Status_set_tag);
  if (!is_count && !is_set && id != mpi::kMPI_Test_cancelled) return;
  const Field& f = arguments_.field(site, 0);
  std::string source = "MPI_ANY_SOURCE", tag = "MPI_ANY_TAG";
  if (f.tag == FieldTag::kStatus || f.tag == FieldTag::kStatusError) {
    source = arguments_.text(site, arguments_.number(site, f.children[0]));
    tag = arguments_.text(site, arguments_.number(site, f.children[1]));
  }
  std::string type = "MPI_DATATYPE_NULL";
  std::string count = "-1";
  if (is_count) {
    type = arguments_.text(site, out.arguments[1]);
    const int at = arguments_.find(site, "count");
    const Field* const said = at < 0 ? nullptr : &arguments_.field(site, static_cast<size_t>(at));
    if (said != nullptr && said->tag == FieldTag::kInt)
      count = arguments_.text(site, arguments_.number(site, *said));
  }
  const bool is_elements = is_count && plain != mpi::kMPI_Get_count;
  const bool is_cancelled = !is_count && !is_set && has_flag(decoded);
  out.arguments[0] = fmt::format("recorded_status({}, {}, {}, {}, {}, {})", source, tag, type,
                                 count, is_elements, is_cancelled ? 1 : 0);
}

}  // namespace refrain::proxy
