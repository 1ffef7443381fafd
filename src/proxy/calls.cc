#include "proxy/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "events/payload.h"
#include "events/refusals.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"
#include "proxy/literals.h"
#include "proxy/refused.h"

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;

// Calls that made the requests which a parameter has.
std::vector<SignatureId> makers_of(const Field& field) {
  if (field.tag == FieldTag::kRequest) return {static_cast<SignatureId>(field.number)};
  if (field.tag == FieldTag::kChanged && field.children.size() == 2)
    return makers_of(field.children[1]);
  std::vector<SignatureId> out;
  if (field.tag == FieldTag::kArray)
    for (const Field& child : field.children)
      for (const SignatureId one : makers_of(child)) out.push_back(one);
  return out;
}

// A receive that failed has taken its message all the same: left out, its sender would wait.
bool took_too_much(const Signature& call) { return call.error_class.name() == "MPI_ERR_TRUNCATE"; }
// Of a datatype to free, "&types[2]": MPI may have given it out several times, for as many frees.
void keep_handle(Argument& type) {
  std::string& head = type.is_number ? type.before : type.text;
  if (!head.starts_with("&")) return;
  head = "released(" + head.substr(1);
  (type.is_number ? type.behind : type.text) += ")";
}
bool is_plain(const Signature& call, CallId id) { return mpi::meaning_of(call.call).plain == id; }

}  // namespace

Calls::Calls(const Trace& trace, const Options& options, Symbolic& symbolic, Tables& tables,
             Pools& pools)
    : trace_(trace),
      options_(options),
      symbolic_(symbolic),
      tables_(tables),
      pools_(pools),
      arguments_(symbolic, tables, pools) {
  for (GroupId group = 0; group < trace.group_count(); ++group)
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      has_dynamic_windows_ = has_dynamic_windows_ || call == mpi::kMPI_Win_create_dynamic;
      gives_types_again_ = gives_types_again_ || call == mpi::kMPI_Type_get_contents ||
                           call == mpi::kMPI_Type_get_contents_c;
      adds_errors_ =
          adds_errors_ || call == mpi::kMPI_Add_error_class || call == mpi::kMPI_Add_error_code;
      if (call != mpi::kMPI_Open_port) continue;
      RankReader reader(trace, trace.group_rank(group, 0));
      const Signature& opened = reader.signature(seen.signature);
      if (const Value* port = opened.find("port_name"); port != nullptr && !opened.failed())
        ports_.try_emplace(port->text, static_cast<int>(ports_.size()));
    }
}

bool has_flag(const Signature& call) {
  const Value* flag = call.find("flag");
  return flag == nullptr || flag->integer_or(1) != 0;
}

bool takes_any(Symbolic& symbolic, const Kind& kind, SignatureId signature) {
  const SymbolicCall& call = symbolic.call(signature, kind.position(kind.first_rank()));
  if (call.info == nullptr || call.meaning->how != mpi::How::kNonblocking ||
      !call.meaning->does_any(mpi::kDoesReceive))
    return false;
  for (const Field& f : call.fields.parameters)
    if (Arguments::is_constant(f, "MPI_ANY_SOURCE") || Arguments::is_constant(f, "MPI_ANY_TAG"))
      return true;
  return false;
}

const Signature& Calls::decoded(const Kind& kind, SignatureId signature) {
  auto& reader = readers_[kind.first_rank()];
  if (reader == nullptr) reader = std::make_unique<RankReader>(trace_, kind.first_rank());
  return reader->signature(signature);
}

Statement Calls::statement(const Kind& kind, SignatureId signature,
                           const std::map<SignatureId, int>& requests, const std::string& taken) {
  const Signature& call = decoded(kind, signature);
  const std::string name(call.name);
  Statement out;
  const auto left_out = [&](const std::string& why) {
    out.comment = "left out: " + in_comment(name) + ", " + why;
    leave_out(kind, signature, "calls left out: ", why);
    return out;
  };
  if (options_.skip.contains(name)) return left_out("by --skip");
  if (skipped_ != nullptr && skipped_->contains(kind, signature))
    return left_out("as --skip leaves out the other end of its messages");
  if (is_mark(call.call)) return left_out("a mark of the program");
  if (const std::string why = asks_only(call.call); !why.empty()) return left_out(why);
  if (events::is_about_mpis_own(call))
    return left_out("it is about a communicator that MPI made for its own use");
  const bool is_discarded = took_too_much(call) && is_plain(call, mpi::kMPI_Recv);
  if (took_too_much(call) &&
      (is_plain(call, mpi::kMPI_Mrecv) || is_plain(call, mpi::kMPI_Sendrecv))) {
    problems_.try_emplace(name, "it took a message that was too long, and the trace has no length");
    return out;
  }
  if (call.failed() && !is_discarded) return left_out("it failed");
  if (const std::string why = refused(call.call); !why.empty()) {
    problems_.try_emplace(name, why);
    return out;
  }
  const Site site{&kind, signature, &symbolic_.call(signature, kind.position(kind.first_rank())),
                  &requests};
  if (site.call->info == nullptr ||
      site.call->fields.parameters.size() != site.call->info->params.size()) {
    problems_.try_emplace(name, "it has other parameters than this version knows");
    return out;
  }
  if (has_nothing_left(site, call)) return left_out("as --skip leaves out what it is about");
  out = is_discarded ? discarded(site) : made(site, call, taken);
  if (call.call == mpi::kMPI_Type_free && gives_types_again_) keep_handle(out.arguments[0]);
  hand_over(site, call, out);
  take_turns(site, call, out);
  if (const std::string why = arguments_.take_problem(); !why.empty())
    problems_.try_emplace(name, why);
  return out;
}

// A call that starts, frees, cancels or ends requests, when all of those are left out. Calls that
// wait for all of several requests may be given null handles.
bool Calls::has_nothing_left(const Site& site, const Signature& decoded) {
  if (skipped_ == nullptr || skipped_->all.empty()) return false;
  const int at =
      std::max(arguments_.find(site, "request"), arguments_.find(site, "array_of_requests"));
  if (at < 0) return false;
  const Field& f = arguments_.field(site, static_cast<size_t>(at));
  if (f.tag == FieldTag::kNewRequest) return false;
  const std::vector<SignatureId> makers = makers_of(f);
  size_t gone = 0;
  for (const SignatureId maker : makers) gone += skipped_->contains(*site.kind, maker) ? 1 : 0;
  if (gone == 0) return false;
  if (gone == makers.size()) return true;
  const CallId id = site.call->info->id;
  const bool is_all = id == mpi::kMPI_Waitall || id == mpi::kMPI_Testall;
  if (!is_all)
    problems_.try_emplace(std::string(decoded.name),
                          "--skip leaves out some of its requests, and not the others");
  return false;
}

void Calls::leave_out(const Kind& kind, SignatureId signature, const std::string& what,
                      const std::string& why) {
  ++not_held_["kinds of " + what + why];
  left_out_[{kind.number, signature}] = why;
}

std::vector<LeftOutCalls> Calls::left_out() const {
  std::map<std::pair<std::string, std::string>, uint64_t> sums;
  for (GroupId g = 0; g < trace_.group_count(); ++g)
    for (const Trace::Occurrence& seen : trace_.occurrences(g)) {
      const auto why = left_out_.find({g, seen.signature});
      if (why == left_out_.end()) continue;
      uint64_t& sum = sums[{mpi::call_name(trace_.call_of(seen.signature)), why->second}];
      sum = events::add(sum, events::multiply(seen.calls, trace_.group_size(g)));
    }
  std::vector<LeftOutCalls> out;
  for (const auto& [what, calls] : sums) out.push_back({what.first, what.second, calls});
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.calls > b.calls; });
  return out;
}

// A receive that failed, as its message was too long: the message is taken, past a recorder.
Statement Calls::discarded(const Site& site) {
  const std::string name(site.call->info->name);
  Statement out;
  for (size_t i = 0; i < site.call->info->params.size(); ++i)
    out.arguments.push_back(arguments_.plain(site, i));
  force_message(site, out);
  std::vector<Argument> words;
  for (const std::string_view parameter : {"source", "tag", "comm"})
    words.push_back(
        std::move(out.arguments[static_cast<size_t>(arguments_.find(site, parameter))]));
  out.function = "discard_message", out.arguments = std::move(words);
  out.comment = "left out: " + name + ", its message was too long, and is taken";
  leave_out(*site.kind, site.signature,
            "calls left out: ", "receives whose message was too long, and is taken");
  return out;
}

Statement Calls::made(const Site& site, const Signature& decoded, const std::string& taken) {
  Statement out;
  out.function = site.call->info->name;
  const CallId id = site.call->info->id;
  const bool is_init =
      !has_sessions_first_ && (id == mpi::kMPI_Init || id == mpi::kMPI_Init_thread);
  const bool has_words = id == mpi::kMPI_Info_create_env;
  for (size_t i = 0; i < site.call->info->params.size(); ++i)
    out.arguments.push_back(is_init && i < 2 ? Argument(i == 0 ? "&argc" : "&argv")
                            : has_words && i == 1
                                ? Argument("words(" + arguments_.text(site, out.arguments[0]) + ")")
                                : arguments_.plain(site, i));
  const mpi::CallMeaning& meaning = *site.call->meaning;
  // Threads of the program may have taken turns, of which a trace does not tell.
  if (id == mpi::kMPI_Init_thread && has_threads_) out.arguments[2] = "MPI_THREAD_MULTIPLE";
  if (id == mpi::kMPI_Finalize) {
    if (!has_sessions_first_) out.before.emplace_back("finish();");
  } else if (id == mpi::kMPI_Alloc_mem) {
    out.arguments[2] = "allocated()";
  } else if (id == mpi::kMPI_Free_mem) {
    out.arguments[0] = "freed()";
  } else if (id == mpi::kMPI_File_open) {
    std::string file = arguments_.text(site, out.arguments[4]);  // "out(files[0])"
    if (file.starts_with("out(files")) {
      file = file.substr(4, file.size() - 5);
      out.behind.push_back(
          fmt::format("stand({}, {});", file, arguments_.text(site, out.arguments[0])));
    }
  } else if (id == mpi::kMPI_Win_test && has_flag(decoded)) {
    out.before.push_back("end_exposure(" + arguments_.text(site, out.arguments[0]) + ");");
    out.function.clear();
  } else if (id == mpi::kMPI_Win_test) {  // it could succeed, and then the epoch would be over
    out.comment = "left out: a test of a window that found nothing";
    leave_out(*site.kind, site.signature, "", "tests of windows that found nothing");
    out.function.clear();
  } else if (id == mpi::kMPI_Parrived) {
    const std::string part = arguments_.text(site, out.arguments[1]);
    if (has_flag(decoded))
      out.before.push_back(
          fmt::format("await_part({}, {});", arguments_.text(site, out.arguments[0]), part));
    else
      out.arguments[0] = fmt::format("never_parts.get({})", part);
  } else if (force_probe(site, decoded, out) || force_completion(site, decoded, out)) {
    return out;
  } else if (id == mpi::kMPI_Win_attach || id == mpi::kMPI_Win_detach) {
    place_memory(site, decoded, taken, out);
  } else if (!taken.empty()) {
    force_taken(site, taken, out);
  } else if (meaning.does_any(mpi::kDoesReceive | mpi::kDoesProbe) &&
             meaning.how == mpi::How::kWaits) {
    force_message(site, out);
  }
  replace_texts(site, decoded, out);
  keep_members(site, out);
  keep_neighbours(site, out);
  number_errors(site, decoded, out);
  name_ports(site, decoded, out);
  replace_status(site, decoded, out);
  if (id == mpi::kMPI_Grequest_start) out.arguments[0] = "generalized_status";
  const int target = has_dynamic_windows_ ? arguments_.find(site, "target_disp") : -1;
  if (target >= 0) {
    const int window = arguments_.find(site, "win");
    Argument& at = out.arguments[static_cast<size_t>(target)];
    const std::string begin = fmt::format(
        "in_window({}, ", arguments_.text(site, out.arguments[static_cast<size_t>(window)]));
    at.before = begin + at.before, at.behind += ")";
    if (!at.is_number) at.text = begin + at.text + ")";
  }
  return out;
}

// A receive that waits: its status, or what stands in the place of one, says what it took.
void Calls::force_message(const Site& site, Statement& out) {
  const int status = arguments_.find(site, "status");
  if (status < 0) return;
  const Field& f = arguments_.field(site, static_cast<size_t>(status));
  const auto put = [&](std::string_view parameter, std::string_view any, size_t child) {
    const int at = arguments_.find(site, parameter);
    if (at < 0 || !Arguments::is_constant(arguments_.field(site, static_cast<size_t>(at)), any))
      return;
    if (child < f.children.size() && f.tag != FieldTag::kStatusEmpty)
      out.arguments[static_cast<size_t>(at)] = arguments_.number(site, f.children[child]);
  };
  put("source", "MPI_ANY_SOURCE", 0);
  put("tag", "MPI_ANY_TAG", 1);
  put("recvtag", "MPI_ANY_TAG", 1);
}

void Calls::force_taken(const Site& site, const std::string& taken, Statement& out) {
  const auto put = [&](std::string_view parameter, std::string_view any, std::string_view member) {
    const int at = arguments_.find(site, parameter);
    if (at >= 0 && Arguments::is_constant(arguments_.field(site, static_cast<size_t>(at)), any))
      out.arguments[static_cast<size_t>(at)] = fmt::format("{}.{}", taken, member);
  };
  put("source", "MPI_ANY_SOURCE", "source");
  put("tag", "MPI_ANY_TAG", "tag");
  put("recvtag", "MPI_ANY_TAG", "tag");
  out.before.push_back(taken + ".next();");
}

bool Calls::force_probe(const Site& site, const Signature& decoded, Statement& out) {
  const mpi::CallMeaning& meaning = *site.call->meaning;
  if (!meaning.does_any(mpi::kDoesProbe)) return false;
  const bool polls = meaning.how == mpi::How::kPolls;
  const int tag = arguments_.find(site, "tag");
  if (polls && !has_flag(decoded)) {
    out.arguments[static_cast<size_t>(tag)] = "unused_tag()";
    return true;
  }
  force_message(site, out);
  if (polls) {
    std::string text;
    for (const std::string_view name : {"source", "tag", "comm"}) {
      const int at = arguments_.find(site, name);
      text += (text.empty() ? "" : ", ") +
              arguments_.text(site, out.arguments[static_cast<size_t>(at)]);
    }
    out.before.push_back("await_message(" + text + ");");
  }
  return true;
}

bool Calls::force_completion(const Site& site, const Signature& decoded, Statement& out) {
  const CallId id = site.call->info->id;
  const bool is_single = id == mpi::kMPI_Test || id == mpi::kMPI_Request_get_status;
  const bool is_some = id == mpi::kMPI_Waitsome || id == mpi::kMPI_Testsome;
  const bool is_any = id == mpi::kMPI_Waitany || id == mpi::kMPI_Testany;
  const bool is_all = id == mpi::kMPI_Testall;
  if (!is_single && !is_some && !is_any && !is_all) return false;
  const bool flag = has_flag(decoded);
  if (is_single) {
    const auto numbers = arguments_.request_numbers(site, [&]() -> const Field& {
      const Field& f = arguments_.field(site, 0);
      return f.tag == FieldTag::kChanged && f.children.size() == 2 ? f.children[1] : f;
    }());
    const bool by_value = id == mpi::kMPI_Request_get_status;
    if (!flag)
      out.arguments[0] = by_value ? "*never.get(0)" : "never.get(0)";
    else if (!numbers.empty() && numbers[0] >= 0)
      out.before.push_back(fmt::format("await(request[{}]);", numbers[0]));
    return true;
  }
  const Field& list = arguments_.field(site, 1);
  const std::vector<int> numbers = arguments_.request_numbers(
      site, list.tag == FieldTag::kChanged && list.children.size() == 2 ? list.children[1] : list);
  const std::string all = fmt::format("{{{}}}", fmt::join(numbers, ", "));
  if (is_all && flag) {
    out.before.push_back("await(request, " + all + ");");
    return true;
  }
  std::vector<int64_t> left;
  bool is_open = true;  // some request is active, and had to stay that
  if (is_any && flag) {
    const Value* index = decoded.find("index");
    is_open = index != nullptr && index->is_integer();
    if (is_open) left.push_back(index->number);
  } else if (is_some) {
    const Value* count = decoded.find("outcount");
    is_open = count != nullptr && count->is_integer();
    if (const Value* indices = decoded.find("array_of_indices"))
      indices->for_each([&](const Value& v) {
        if (v.is_integer()) left.push_back(v.number);
      });
  }
  if (!is_open) return true;
  for (const int64_t i : left)
    if (i < 0 || static_cast<size_t>(i) >= numbers.size()) {
      problems_.try_emplace(out.function, "its indices are none of its requests");
      return true;
    }
  if (!numbers.empty()) {
    out.arguments[1] =
        Argument(fmt::format("masked(request, {}, {{{}}})", all, fmt::join(left, ", ")));
    out.arguments[1].is_simple = false;
  }
  return true;
}

}  // namespace refrain::proxy
