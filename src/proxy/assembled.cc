// The whole text around the functions: variables, tables, which ranks do what, main.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mpi/call_ids.h"
#include "proxy/literals.h"
#include "proxy/program.h"

namespace refrain::proxy {
namespace {

// Statements that stand one after the other are not faster for being optimised, and where there
// are thousands, three quarters of the compiler's time goes there.
std::string without_optimisation(const std::string& functions) {
  constexpr ptrdiff_t kMany = 1000;
  if (std::count(functions.begin(), functions.end(), '\n') < kMany) return {};
  return "// The compiler takes several times as long if it optimises what follows, which would be "
         "no faster.\n"
         "#ifdef __clang__\n#pragma clang optimize off\n#else\n"
         "#pragma GCC optimize(\"O0\")\n#endif\n\n";
}

}  // namespace

std::vector<int64_t> Program::kind_of_rank() const {
  std::vector<int64_t> out(static_cast<size_t>(trace_.rank_count()));
  for (const Family& family : families_)
    for (const Kind& kind : family.kinds)
      kind.for_each_rank([&](Rank r) { out[static_cast<size_t>(r)] = kind.number; });
  return out;
}

// Which kind this rank is, where the first and the last rank may differ from the others.
std::optional<std::string> Program::simple_kinds() const {
  std::vector<const Kind*> all;
  for (const Family& family : families_)
    for (const Kind& kind : family.kinds)
      if (kind.thread == 0) all.push_back(&kind);
  if (all.size() == 1) return "";
  const int64_t last = trace_.rank_count() - 1;
  const Kind *first_kind = nullptr, *last_kind = nullptr, *rest = nullptr;
  bool is_simple = all.size() <= 3;
  for (const Kind* kind : all) {
    const bool is_one = kind->ranks() == 1;
    if (is_one && kind->first_rank() == 0 && first_kind == nullptr)
      first_kind = kind;
    else if (is_one && kind->first_rank() == last && last > 1 && last_kind == nullptr)
      last_kind = kind;
    else if (rest == nullptr)
      rest = kind;
    else
      is_simple = false;
  }
  if (!is_simple || rest == nullptr) return std::nullopt;
  std::string out;
  if (first_kind != nullptr) out += fmt::format("rank == 0 ? {} : ", first_kind->number);
  if (last_kind != nullptr) out += fmt::format("rank == size - 1 ? {} : ", last_kind->number);
  return out + fmt::format("{}", rest->number);
}

std::string Program::kinds_text() {
  // On a grid of several axes the first rank is that of a corner.
  const std::optional<std::string> simple = simple_kinds();
  if (simple && (simple->empty() || !grid_ || grid_->sides().size() < 2)) return *simple;
  const std::vector<int64_t> by_rank = kind_of_rank();
  if (grid_)
    if (const auto places = grid_->kinds(by_rank)) return *places;
  if (simple) return *simple;
  tables_.set_call("which ranks do what");
  const std::string table = tables_.add(by_rank, "a list of ranks");
  tables_.set_call({});
  return table + "[rank]";
}

std::string Program::variables() const {
  struct Type {
    std::string_view pool, type;
  };
  constexpr Type kTypes[] = {
      {"comms", "Comm"},         {"windows", "Window"},         {"files", "File"},
      {"types", "MPI_Datatype"}, {"groups", "Group"},           {"ops", "MPI_Op"},
      {"infos", "MPI_Info"},     {"errhandlers", "Errhandler"}, {"messages", "MPI_Message"},
      {"keyvals", "int"},        {"sessions", "MPI_Session"}};
  std::string out;
  for (const Type& one : kTypes)
    if (const auto size = pools_.size.find(std::string(one.pool)); size != pools_.size.end())
      out += fmt::format("{} {}[{}];\n", one.type, one.pool, size->second);
  if (requests_->count() > 0) out += fmt::format("MPI_Request request[{}];\n", requests_->count());
  for (const std::string& signal : threads_.signals()) out += "Signal " + signal + ";\n";
  return out;
}

// Who begins with what: threads before the one that waits for them.
std::string Program::starts_text() const {
  std::string out;
  size_t of_ranks = 0;
  for (const Family& family : families_) of_ranks += family.thread() == 0 ? 1 : 0;
  for (size_t i = 0; i < families_.size(); ++i) {
    const size_t f = (i + of_ranks) % families_.size();  // those of the first threads last
    const Family& family = families_[f];
    uint64_t ranks = 0;
    std::string numbers;
    for (const Kind& kind : family.kinds) {
      ranks += kind.ranks();
      numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", kind.number);
    }
    out += ranks < static_cast<uint64_t>(trace_.rank_count())
               ? fmt::format("  if (is_kind({{{}}})) ", numbers)
               : "  ";
    const std::string& name = rule_names_[f][0];
    out += family.thread() > 0 ? fmt::format("start_thread({});\n", name) : name + "();\n";
  }
  return out;
}

std::string Program::assembled(const std::string& opening, Outcome& out) {
  std::string functions;
  for (const Function& f : functions_)
    functions += fmt::format("\nvoid {}() {{\n{}}}\n", f.name, f.text);
  const std::string starts = starts_text();
  // What ranks do may be written without their kinds.
  const bool has_kinds = (functions + starts).find("is_kind(") != std::string::npos;
  const std::string kinds = has_kinds ? kinds_text() : "";
  std::string shares;
  double most = 0, least = 1;
  for (const double s : texts_.share) most = std::max(most, s), least = std::min(least, s);
  if (most > 1.02 || least < 0.98) {
    std::vector<int64_t> by_rank;
    for (const double s : texts_.share)
      by_rank.push_back(static_cast<int64_t>(std::lround(s * 1000)));
    tables_.set_call("work of each rank, in thousandths");
    shares = fmt::format("  if (size == {}) work_share = {}[rank] / 1000.0;\n", trace_.rank_count(),
                         tables_.add(by_rank, ""));
    tables_.set_call({});
  }
  std::string text =
      "// Makes the calls of a recorded program again. Made by `refrain proxy`; yours to change.\n";
  text += "#include \"refrain_proxy.h\"\n\n" + without_optimisation(functions) +
          "using namespace proxy;\n\nnamespace {\n\n";
  text += variables();
  if (grid_ && (functions + kinds).find("grid.") != std::string::npos) text += grid_->definition();
  for (const std::string& table : tables_.texts()) text += table + "\n";
  for (const std::string& taken : texts_.taken) text += taken + "\n";
  text += functions + "\n}  // namespace\n\nint main(int argc, char** argv) {\n";
  text += "  read_options(argc, argv);\n";
  if (!has_main_loop_) text += "  no_main_loop();\n";
  if (requests_->count() > 0)
    text += "  std::fill(std::begin(request), std::end(request), MPI_REQUEST_NULL);\n";
  text += has_sessions_first_ ? "  hold_session();\n" : opening;
  std::string needs;
  constexpr size_t kMostNeeds = 12;
  for (size_t i = 0; i < tables_.needs().size() && i < kMostNeeds; ++i)
    needs += (needs.empty() ? "" : ", ") + quoted(tables_.needs()[i]);
  if (calls_.has_ports()) text += "  agree_on_ports();\n";
  text += wrapped(fmt::format("check_ranks({}, {{{}}});", trace_.rank_count(), needs), 2) + shares;
  if (!kinds.empty()) text += "  kind = " + kinds + ";\n";
  text += starts;
  if (has_sessions_first_)
    text += "  finish();\n";
  else if (!has_end())
    text += "  end_unseen();  // the trace has no MPI_Finalize\n";
  text += "}\n";
  out.tables = tables_.texts().size() + texts_.taken.size();
  out.needs = tables_.needs();
  return text;
}

// Whether all ranks call MPI_Finalize, as far as the trace shows: a program that takes it from a
// handle of the MPI library calls it past the recorder.
bool Program::has_end() const {
  for (const Family& family : families_) {
    if (family.thread() != 0) continue;
    for (const Kind& kind : family.kinds) {
      const std::vector<uint32_t> terminals = kind.terminals();
      if (std::none_of(terminals.begin(), terminals.end(), [&](uint32_t t) {
            return trace_.call_of(kind.signature(t)) == mpi::kMPI_Finalize;
          }))
        return false;
    }
  }
  return true;
}

// Whether all ranks run through a main loop equally often: one number can stand for all.
bool Program::has_one_main_loop() const {
  uint64_t times = 0;
  for (const Family& family : families_) {
    const size_t loop = main_loop_of(family.grammar());
    if (loop == SIZE_MAX) return false;
    for (const Kind& kind : family.kinds) {
      const uint64_t own = kind.grammar->symbols[loop].count;
      if (times != 0 && own != times) return false;
      times = own;
    }
  }
  return true;
}

}  // namespace refrain::proxy
