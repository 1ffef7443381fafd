#include "proxy/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "proxy/literals.h"
#include "reader/internal.h"

namespace refrain::proxy {
namespace {

using format::DefinitionKind;
using format::Field;
using format::FieldTag;
using format::RankExpr;
using mpi::Direction;
using mpi::ParamKind;

std::string_view pool_of(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::kComm: return "comms";
    case DefinitionKind::kDatatype: return "types";
    case DefinitionKind::kGroup: return "groups";
    case DefinitionKind::kWin: return "windows";
    case DefinitionKind::kFile: return "files";
    case DefinitionKind::kOp: return "ops";
    case DefinitionKind::kErrhandler: return "errhandlers";
    case DefinitionKind::kInfo: return "infos";
    case DefinitionKind::kMessage: return "messages";
    case DefinitionKind::kKeyval: return "keyvals";
    case DefinitionKind::kSession: return "sessions";
    default: return {};
  }
}
// How a call gets the address of a handle that it makes or frees: "&types[2]"; those that the
// header keeps more of than a handle are "out(comms[2])", "freed(groups[2])".
std::string_view address_of(std::string_view handle, bool is_freed) {
  const auto is_in = [&](std::string_view pool) { return handle.starts_with(pool); };
  if (is_in("groups[") || is_in("errhandlers[")) return is_freed ? "freed(" : "out(";
  return is_in("comms[") || is_in("windows[") || is_in("files[") ? "out(" : "&";
}
void make_address(Argument& handle, std::string_view name, bool is_freed) {
  const std::string before(address_of(name, is_freed));
  const std::string behind(before == "&" ? "" : ")");
  if (!handle.is_number) {
    handle.text = before + std::string(name) + behind;
    return;
  }
  handle.before = before + handle.before;
  handle.behind += behind;
}
std::string_view handle_type(ParamKind kind) {
  switch (kind) {
    case ParamKind::kComm: return "MPI_Comm";
    case ParamKind::kDatatype: return "MPI_Datatype";
    case ParamKind::kGroup: return "MPI_Group";
    case ParamKind::kInfo: return "MPI_Info";
    default: return {};
  }
}
// What stands for a handle that means nothing here.
std::string_view null_handle(ParamKind kind) {
  switch (kind) {
    case ParamKind::kComm: return "MPI_COMM_NULL";
    case ParamKind::kDatatype: return "MPI_BYTE";
    case ParamKind::kGroup: return "MPI_GROUP_NULL";
    case ParamKind::kWin: return "MPI_WIN_NULL";
    case ParamKind::kFile: return "MPI_FILE_NULL";
    case ParamKind::kOp: return "MPI_SUM";
    case ParamKind::kErrhandler: return "MPI_ERRORS_RETURN";
    case ParamKind::kInfo: return "MPI_INFO_NULL";
    case ParamKind::kMessage: return "MPI_MESSAGE_NULL";
    case ParamKind::kSession: return "MPI_SESSION_NULL";
    default: return "0";
  }
}
}  // namespace

bool Arguments::is_constant(const Field& field, std::string_view name) {
  return field.tag == FieldTag::kConst &&
         mpi::constant_name(static_cast<uint32_t>(field.number)) == name;
}

int Arguments::find(const Site& site, std::string_view name) const {
  const auto params = site.call->info->params;
  for (size_t i = 0; i < params.size() && i < site.call->fields.parameters.size(); ++i)
    if (params[i].name == name) return static_cast<int>(i);
  return -1;
}

void Arguments::note(std::set<std::string>& where, const std::string& text) {
  const size_t at = text.find('[');
  if (at == std::string::npos || text.back() != ']') return;
  where.insert(text);
  int64_t& size = pools_.size[text.substr(0, at)];
  int64_t number = 0;
  for (size_t i = at + 1; i + 1 < text.size(); ++i) number = number * 10 + (text[i] - '0');
  size = std::max(size, number + 1);
}

std::string Arguments::object_name(int64_t definition) {
  const format::TraceData& data = reader::data_of(symbolic_.trace());
  if (definition < 0 || static_cast<size_t>(definition) >= data.definitions.size()) return {};
  const int64_t number = symbolic_.object_number(definition);
  if (number < 0) return symbolic_.trace().object_name(static_cast<DefinitionId>(definition));
  const std::string_view pool = pool_of(data.definitions[static_cast<size_t>(definition)].kind);
  if (pool.empty() || number > 1'000'000) {
    fail("an object of a kind that a proxy does not have");
    return {};
  }
  return fmt::format("{}[{}]", pool, number);
}

Argument Arguments::object(const Site& site, const Field& field) {
  const auto slot = static_cast<uint32_t>(field.number);
  const RankExpr e = symbolic_.expression(site.signature, slot);
  std::set<std::string> names;
  if (e.kind == RankExpr::Kind::kConst) {
    names.insert(object_name(e.a));
  } else {
    site.kind->for_each_rank([&](Rank rank) {
      names.insert(object_name(symbolic_.value(site.signature, slot, site.kind->position(rank))));
    });
  }
  for (const std::string& name : names) note(pools_.used, name);
  if (names.size() == 1) return Argument(*names.begin());
  Argument out;
  const std::string& first = *names.begin();
  const size_t at = first.find('[');
  for (const std::string& name : names)
    if (at == std::string::npos || name.compare(0, at + 1, first, 0, at + 1) != 0)
      return one_of(site, slot, names);
  out.is_number = out.is_object = true;
  out.before = first.substr(0, at == std::string::npos ? 0 : at) + "[";
  out.behind = "]";
  out.signature = site.signature, out.slot = slot, out.expression = e;
  return out;
}

// Objects of some ranks are predefined, and of others not.
Argument Arguments::one_of(const Site& site, uint32_t slot, const std::set<std::string>& names) {
  std::vector<int64_t> which(static_cast<size_t>(symbolic_.trace().rank_count()));
  DefinitionKind kind{};
  site.kind->for_each_rank([&](Rank rank) {
    const int64_t definition = symbolic_.value(site.signature, slot, site.kind->position(rank));
    const auto found = names.find(object_name(definition));
    which[static_cast<size_t>(rank)] = std::distance(names.begin(), found);
    kind = reader::data_of(symbolic_.trace()).definitions[static_cast<size_t>(definition)].kind;
  });
  const std::string_view type = kind == DefinitionKind::kComm       ? "MPI_Comm"
                                : kind == DefinitionKind::kDatatype ? "MPI_Datatype"
                                : kind == DefinitionKind::kGroup    ? "MPI_Group"
                                : kind == DefinitionKind::kOp       ? "MPI_Op"
                                                                    : "";
  if (type.empty()) fail("objects of some ranks are predefined, and of others not");
  return Argument(fmt::format("one_of<{}>({{{}}}, {}[rank])", type, fmt::join(names, ", "),
                              tables_.add(which, "an object by rank")));
}

std::string Arguments::me_text(const Site& site) {
  const format::Context context =
      symbolic_.context(site.signature, site.kind->position(site.kind->first_rank()));
  if (context.definition < 0) return {};
  for (const Field& f : site.call->fields.parameters) {
    if (f.tag != FieldTag::kObject) continue;
    const int64_t definition = symbolic_.value(site.signature, static_cast<uint32_t>(f.number),
                                               site.kind->position(site.kind->first_rank()));
    if (definition != context.definition) continue;
    const std::string name = text(site, object(site, f));
    if (name.starts_with("one_of")) return "At{" + name + "}";
    return name == "MPI_COMM_WORLD" ? "" : name == "MPI_COMM_SELF" ? "alone" : name;
  }
  const std::string name = object_name(context.definition);
  return name == "MPI_COMM_WORLD" ? "" : name == "MPI_COMM_SELF" ? "alone" : name;
}

Argument Arguments::number(const Site& site, const Field& field) {
  if (field.tag == FieldTag::kConst)
    return Argument(std::string(mpi::constant_name(static_cast<uint32_t>(field.number))));
  if (field.tag == FieldTag::kBits) {
    std::string out;
    for (const uint32_t id : field.constants)
      out += std::string(out.empty() ? "" : " | ") + std::string(mpi::constant_name(id));
    if (field.number != 0 || out.empty())
      out += fmt::format("{}{}", out.empty() ? "" : " | ", field.number);
    return Argument(out);
  }
  if (field.tag != FieldTag::kInt) {
    if (field.tag != FieldTag::kNone) fail("an address of its own memory, or bytes, as a number");
    return Argument("0");
  }
  Argument out;
  out.is_number = true;
  out.signature = site.signature;
  out.slot = static_cast<uint32_t>(field.value);
  out.expression = symbolic_.expression(site.signature, out.slot);
  if (out.expression.kind == RankExpr::Kind::kConst) {
    out.text = fmt::format("{}", out.expression.a);
    if (out.expression.a == INT64_MIN) fail("a number at the end of all numbers");
  }
  out.me = me_text(site);
  return out;
}

std::string Arguments::text(const Site& site, const Argument& argument) {
  return argument.is_number
             ? argument.before + tables_.number(*site.kind, argument) + argument.behind
             : argument.text;
}

int Arguments::new_request(const Site& site) const {
  for (const Field& f : site.call->fields.parameters)
    if (f.tag == FieldTag::kNewRequest) {
      const auto known = site.requests->find(site.signature);
      return known == site.requests->end() ? -1 : known->second;
    }
  return -1;
}

std::vector<int> Arguments::request_numbers(const Site& site, const Field& field) {
  std::vector<int> out;
  const auto add = [&](const Field& one, uint64_t times) {
    int number = -1;
    if (one.tag == FieldTag::kRequest || one.tag == FieldTag::kNewRequest) {
      const SignatureId maker =
          one.tag == FieldTag::kRequest ? SignatureId(one.number) : site.signature;
      const auto known = site.requests->find(maker);
      const bool is_gone = skipped_ != nullptr && skipped_->contains(*site.kind, maker);
      // What a filter left out has ended where the program waits for all.
      const CallId call = site.call->meaning->plain;
      const bool may_lack =
          call == mpi::kMPI_Waitall || call == mpi::kMPI_Wait || call == mpi::kMPI_Startall;
      if (known != site.requests->end())
        number = is_gone ? -1 : known->second;
      else if (!is_gone && !may_lack)
        fail("a request that no call of the trace makes");
    }
    out.insert(out.end(), static_cast<size_t>(times), number);
  };
  if (field.tag == FieldTag::kArray)
    for (const Field& child : field.children) add(at_entry(child), child.repeat);
  else if (field.tag != FieldTag::kNone)
    add(at_entry(field), 1);
  return out;
}

Argument Arguments::requests(const Site& site, const mpi::ParamInfo& info, const Field& field) {
  const std::vector<int> numbers = request_numbers(site, at_entry(field));
  if (!info.is_array) {
    const int n = numbers.empty() ? -1 : numbers[0];
    if (info.direction == Direction::kIn && site.call->info->id != mpi::kMPI_Cancel)
      return n < 0 ? Argument("MPI_REQUEST_NULL") : Argument(fmt::format("request[{}]", n));
    return n < 0 ? Argument("inout(MPI_REQUEST_NULL)") : Argument(fmt::format("&request[{}]", n));
  }
  if (numbers.empty()) return Argument("request");
  bool is_row = numbers[0] >= 0;
  for (size_t i = 1; i < numbers.size(); ++i) is_row = is_row && numbers[i] == numbers[i - 1] + 1;
  if (is_row) return Argument(fmt::format("&request[{}]", numbers[0]));
  // MPI starts no null handle.
  const bool starts = site.call->meaning->plain == mpi::kMPI_Startall;
  Argument out(
      starts ? fmt::format("startable(request, {{{}}})", fmt::join(numbers, ", "))
             : fmt::format("some(request, MPI_REQUEST_NULL, {{{}}})", fmt::join(numbers, ", ")));
  out.is_simple = false;
  return out;
}

Argument Arguments::array(const Site& site, size_t parameter, const mpi::ParamInfo& info,
                          const Field& field) {
  if (!is_handle(info.kind)) return integers(site, parameter, field);
  if (field.tag != FieldTag::kArray) return Argument("nullptr");
  std::vector<std::string> all;
  for (const Field& child : field.children) {
    const Field& one = at_entry(child);
    const std::string name = one.tag == FieldTag::kObject  ? text(site, object(site, one))
                             : one.tag == FieldTag::kConst ? text(site, number(site, one))
                                                           : std::string(null_handle(info.kind));
    if (all.size() + child.repeat > 65536) fail("an array of very many handles");
    for (uint64_t i = 0; i < child.repeat && all.size() < 65536; ++i) all.push_back(name);
  }
  if (handle_type(info.kind).empty()) fail("an array of such handles");
  Argument out(fmt::format("handles<{}>({{{}}})", handle_type(info.kind), fmt::join(all, ", ")));
  out.is_simple = false;
  return out;
}

Argument Arguments::output(const Site& site, const mpi::ParamInfo& info, const Field& field) {
  if (info.kind == ParamKind::kStatus) {
    if (field.tag == FieldTag::kMatched || is_constant(field, "MPI_STATUS_IGNORE"))
      return Argument("MPI_STATUS_IGNORE");
    if (field.tag == FieldTag::kMatchedArray || is_constant(field, "MPI_STATUSES_IGNORE"))
      return Argument("MPI_STATUSES_IGNORE");
    if (!info.is_array) return Argument("status()");
    const int many = std::max(find(site, "count"), find(site, "incount"));
    return Argument(many < 0 ? "statuses(1)" : fmt::format("statuses({})", value_text(site, many)));
  }
  if (info.kind == ParamKind::kRequest) {
    const int made = field.tag == FieldTag::kNewRequest ? new_request(site) : -1;
    return Argument(made < 0 ? "out()" : fmt::format("&request[{}]", made));
  }
  if (is_handle(info.kind) && field.tag == FieldTag::kObject) {
    const Argument which = object(site, field);
    const std::string name = text(site, which);
    if (name.find('[') == std::string::npos) return Argument("out()");
    if (!which.is_number) note(pools_.made, name);
    if (which.is_number)
      site.kind->for_each_rank([&](Rank rank) {
        note(pools_.made,
             object_name(symbolic_.value(site.signature, static_cast<uint32_t>(field.number),
                                         site.kind->position(rank))));
      });
    Argument out = which;
    make_address(out, name, false);
    return out;
  }
  if (is_handle(info.kind) && field.tag == FieldTag::kArray) {
    std::vector<int64_t> numbers;
    for (const Field& child : field.children) {
      const std::string name =
          child.tag == FieldTag::kObject ? text(site, object(site, child)) : "";
      note(pools_.made, name);
      for (uint64_t i = 0; i < child.repeat && numbers.size() < 65536; ++i)
        numbers.push_back(name.starts_with("types[") ? std::stoll(name.substr(6)) : -1);
    }
    if (info.kind != ParamKind::kDatatype) fail("an array of handles that it makes");
    Argument out(fmt::format("given(types, {{{}}})", fmt::join(numbers, ", ")));
    out.is_simple = false;
    return out;
  }
  if (info.kind == ParamKind::kString) return Argument("out(64)");
  if (info.is_array && field.tag == FieldTag::kConst)  // MPI_UNWEIGHTED
    return Argument(std::string(mpi::constant_name(static_cast<uint32_t>(field.number))));
  return Argument(info.is_array && field.number > 1
                      ? fmt::format("out({})", std::min<uint64_t>(field.number, 1 << 24))
                      : "out()");
}

Argument Arguments::plain(const Site& site, size_t parameter) {
  const mpi::ParamInfo& info = site.call->info->params[parameter];
  const Field& whole = field(site, parameter);
  const Field& f = at_entry(whole);
  if (info.kind == ParamKind::kBuffer) return buffer(site, parameter);
  if (info.kind == ParamKind::kRequest && info.direction != Direction::kOut)
    return requests(site, info, whole);
  if (info.direction == Direction::kOut) return output(site, info, whole);
  if (info.is_array) return kept(site, parameter, array(site, parameter, info, f));
  if (is_handle(info.kind)) {
    Argument out = f.tag == FieldTag::kObject  ? object(site, f)
                   : f.tag == FieldTag::kConst ? number(site, f)
                                               : Argument(std::string(null_handle(info.kind)));
    const bool by_pointer =
        info.direction == Direction::kInOut || site.call->info->id == mpi::kMPI_Type_commit;
    if (!by_pointer) return out;
    const std::string name = text(site, out);
    if (name.find('[') == std::string::npos) return Argument("inout(" + name + ")");
    make_address(out, name, true);
    return out;
  }
  switch (info.kind) {
    case ParamKind::kString:
      if (f.tag != FieldTag::kString && f.tag != FieldTag::kNone) fail("an array of texts");
      return Argument(f.tag == FieldTag::kString ? quoted(f.text) : "nullptr");
    case ParamKind::kFunction:
      return Argument(f.tag == FieldTag::kConst
                          ? std::string(mpi::constant_name(static_cast<uint32_t>(f.number)))
                          : "stand_in()");
    case ParamKind::kPointer: return Argument("nullptr");
    case ParamKind::kStatus: return Argument("status()");
    case ParamKind::kToolHandle:
    case ParamKind::kStream: fail("a handle of a kind that a proxy does not have"); return {"0"};
    default: break;
  }
  Argument out = number(site, f);
  out.is_rank = out.is_number && info.kind == ParamKind::kRank;
  // All ranks are shared out.
  if (site.call->info->id == mpi::kMPI_Dims_create && info.name == "nnodes" && out.is_number &&
      out.expression.kind == RankExpr::Kind::kConst &&
      out.expression.a == symbolic_.trace().rank_count())
    return Argument("size");
  if (info.direction == Direction::kInOut) {
    out.before = "inout(" + out.before;
    out.behind += ")";
    if (!out.is_number) out.text = "inout(" + out.text + ")";
    out.is_simple = false;
  }
  return out;
}

std::string Arguments::value_text(const Site& site, int parameter) {
  if (parameter < 0) return "1";
  return text(site, plain(site, static_cast<size_t>(parameter)));
}

}  // namespace refrain::proxy
