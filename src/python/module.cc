// refrain._refrain: the native part of the Python package, which is in python/refrain/.
//
// Only what has to be fast or has to know the file: the package makes tables of it.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "analysis/posix.h"
#include "analysis/profile/profile.h"
#include "analysis/waits/wait_states.h"
#include "format/trace_data.h"
#include "python/arrays.h"
#include "python/calls.h"
#include "python/errors.h"
#include "python/rank.h"
#include "reader/internal.h"
#include "refrain/trace.h"
#include "report/behaviour/iterations_report.h"
#include "report/diff/diff_report.h"
#include "report/profile/posix_report.h"
#include "report/profile/profile_report.h"
#include "report/profile/profile_rows.h"
#include "report/trace/gaps_text.h"
#include "report/trace/info_text.h"
#include "report/waits/waits_report.h"

namespace refrain::python {
namespace {

namespace py = pybind11;

void check_rank(const Trace& trace, int64_t rank) {
  if (rank >= 0 && rank < static_cast<int64_t>(trace.rank_count())) return;
  throw RefrainError(base::usage("there is no rank " + std::to_string(rank) + ", only 0 to " +
                                     std::to_string(trace.rank_count() - 1),
                                 trace.name()));
}

// Names of files are bytes.
std::shared_ptr<Opened> open_trace(const py::bytes& name) {
  const std::string path = name;
  const py::gil_scoped_release unlocked;
  return std::make_shared<Opened>(unwrap(Trace::open(path)));
}

py::list locations(const Trace& trace, int64_t rank) {
  check_rank(trace, rank);
  py::list out;
  for (const Location& l : trace.locations(static_cast<Rank>(rank)))
    out.append(py::make_tuple(l.thread, l.calls));
  return out;
}

py::object calls(std::shared_ptr<Opened> opened, int64_t rank, uint32_t thread,
                 const analysis::CallRange& range) {
  const Trace& trace = opened->trace;
  check_rank(trace, rank);
  if ((range.from_ns > 0 || range.to_ns != UINT64_MAX) && !trace.has_times())
    throw RefrainError(base::unsupported("the trace has no times of single calls", trace.name()));
  const Times times = trace.has_times() ? Times::kRead : Times::kSkip;
  return iterate(std::make_shared<RankView>(std::move(opened), static_cast<Rank>(rank), times),
                 thread, range);
}

// The signatures that a rank's grammars use.
py::list signatures(std::shared_ptr<Opened> opened, int64_t rank) {
  const Trace& trace = opened->trace;
  check_rank(trace, rank);
  RankView view(opened, static_cast<Rank>(rank), Times::kSkip);
  py::list out;
  const auto group = trace.group_of(static_cast<Rank>(rank));
  if (!group) return out;
  for (const Trace::Occurrence& o : trace.occurrences(*group))
    out.append(py::make_tuple(view.signature(view.reader().signature(o.signature)), o.calls));
  return out;
}

// Rules of a thread's grammar, the start first: (is a rule, number of it or of a signature, times).
using Symbol = std::tuple<bool, uint32_t, uint64_t>;
std::vector<std::vector<Symbol>> grammar(const Trace& trace, int64_t rank, uint32_t thread) {
  check_rank(trace, rank);
  const auto group = trace.group_of(static_cast<Rank>(rank));
  for (const Location& l : trace.locations(static_cast<Rank>(rank))) {
    if (l.thread != thread || !group) continue;
    const grammar::Grammar& g = reader::data_of(trace).grammars[l.grammar];
    const std::vector<uint32_t>& terminals = reader::data_of(trace).groups[*group].signatures;
    std::vector<std::vector<Symbol>> rules(g.rule_count());
    for (size_t r = 0; r < rules.size(); ++r)
      for (uint32_t i = g.rule_begin(r); i < g.rule_end[r]; ++i) {
        const grammar::Symbol& s = g.symbols[i];
        rules[r].emplace_back(s.is_rule, s.is_rule ? s.id : terminals[s.id], s.count);
      }
    return rules;
  }
  throw RefrainError(base::usage(
      "rank " + std::to_string(rank) + " has no thread " + std::to_string(thread), trace.name()));
}

std::string profile_json(const Trace& trace, uint64_t from_ns, uint64_t to_ns) {
  const py::gil_scoped_release unlocked;
  const analysis::Profile profile = unwrap(analysis::profile(trace, {from_ns, to_ns}));
  reader::Symbols symbols;
  return report::profile_json({trace, profile, symbols});
}

std::string posix_json(const Trace& trace) {
  if (!analysis::has_posix(trace))
    throw RefrainError(base::unsupported("there are no POSIX calls: record with --posix on",
                                         std::string(trace.name())));
  return report::posix_json(trace, analysis::posix_profile(trace));
}

// `pattern`: single waits of that kind as well, the `most` longest; empty: none.
std::string waits_json(const Trace& trace, uint64_t from_ns, uint64_t to_ns,
                       const std::string& pattern, std::optional<int64_t> rank, uint64_t most) {
  namespace waits = analysis::waits;
  if (rank) check_rank(trace, *rank);
  const py::gil_scoped_release unlocked;
  waits::Options how;
  how.window = {from_ns, to_ns};
  if (!pattern.empty()) {
    how.explain = waits::pattern_named(pattern);
    if (!how.explain) throw RefrainError(base::usage("there is no pattern '" + pattern + "'"));
    how.explain_count = most;
    how.explain_rank = rank.value_or(-1);
  }
  if (const Status good = analysis::check_window(trace, how.window); !good.ok())
    throw RefrainError(good.error());
  reader::Symbols symbols;
  const reader::SourcePaths paths(trace, symbols);
  how.paths = &paths;
  events::TraceCalls calls(trace);
  const waits::WaitStates result = unwrap(waits::wait_states(trace, calls, how));
  return report::waits_json({trace, result, symbols, {}, -1, 0, how.window});
}

std::string diff_json(const Opened& before, const Opened& after, bool with_waits) {
  const py::gil_scoped_release unlocked;
  reader::Symbols symbols;
  const analysis::diff::Diff diff =
      analysis::diff::diff(before.trace, after.trace, symbols, {.waits = with_waits});
  return report::diff_json({before.trace, after.trace, diff, symbols, {}, 0});
}

std::string iterations_json(const Trace& trace, const std::string& source, bool behaviours,
                            const std::string& method) {
  const py::gil_scoped_release unlocked;
  analysis::IterationOptions how;
  how.source = source == "marks"   ? analysis::IterationSource::kMarks
               : source == "loops" ? analysis::IterationSource::kLoops
                                   : analysis::IterationSource::kAuto;
  how.with_behaviours = behaviours;
  how.method = unwrap(similarity::parse_method(method));
  reader::Symbols symbols;
  const reader::SourcePaths paths(trace, symbols);
  how.paths = &paths;
  const analysis::Iterations result = unwrap(analysis::find_iterations(trace, how));
  return report::iterations_json({trace, result, symbols, behaviours, 0});
}

void add_signature(py::module_& module) {
  using View = SignatureView;
  py::class_<View, std::shared_ptr<View>>(
      module, "Signature", "An MPI function with all parameters, as a rank passed them.")
      .def_property_readonly("id", &View::id)
      .def_property_readonly("name", &View::name)
      .def_property_readonly("args", &View::args)
      .def_property_readonly("site", &View::site)
      .def_property_readonly("call_path", &View::call_path)
      .def_property_readonly("bytes", &View::bytes)
      .def_property_readonly("peer", &View::peer)
      .def_property_readonly("result", &View::result)
      .def_property_readonly("error", &View::error)
      .def_property_readonly("matched", &View::matched)
      .def_property_readonly("failed", &View::failed)
      .def("__repr__", [](View& view) {
        std::string text = "<Signature " + view.name() + "(";
        const char* separator = "";
        for (const auto& [name, value] : view.args()) {
          text += separator + py::str(name).cast<std::string>() + "=" +
                  py::repr(value).cast<std::string>();
          separator = ", ";
        }
        return text + ")>";
      });
}

// What only asks the trace, as a method of the Python class.
template <class R, class... Args>
auto of_trace(R (*ask)(const Trace&, Args...)) {
  return [ask](const Opened& o, Args... args) { return ask(o.trace, std::move(args)...); };
}

void add_trace(py::module_& module) {
  py::class_<Opened, std::shared_ptr<Opened>>(module, "Trace")
      .def_property_readonly("path", [](const Opened& o) { return py::bytes(o.trace.name()); })
      .def_property_readonly("rank_count", [](const Opened& o) { return o.trace.rank_count(); })
      .def_property_readonly("call_count", [](const Opened& o) { return o.trace.call_count(); })
      .def_property_readonly("has_times", [](const Opened& o) { return o.trace.has_times(); })
      .def("lead_of",
           [](const Opened& o, int64_t rank) {
             check_rank(o.trace, rank);
             return o.trace.lead_of(rank);
           })
      .def("info_json", [](const Opened& o) { return report::info_json(o.trace); })
      .def("locations", of_trace(&locations))
      .def("calls",
           [](std::shared_ptr<Opened> o, int64_t rank, uint32_t thread, uint64_t first,
              uint64_t last, uint64_t from_ns, uint64_t to_ns) {
             return calls(std::move(o), rank, thread, {first, last, from_ns, to_ns});
           })
      .def("signatures", &signatures)
      .def("grammar", of_trace(&grammar))
      .def("profile_json", of_trace(&profile_json))
      .def("posix_json", of_trace(&posix_json))
      .def("gaps_json", of_trace(&report::gaps_json))
      .def("waits_json", of_trace(&waits_json))
      .def("iterations_json", of_trace(&iterations_json))
      .def("matrix", of_trace(&matrix_columns))
      .def("timeline",
           [](const Opened& o, std::optional<int64_t> rank, uint64_t from_ns, uint64_t to_ns) {
             if (rank) check_rank(o.trace, *rank);
             const auto one = rank ? std::optional(static_cast<Rank>(*rank)) : std::nullopt;
             return timeline_columns(o.trace, one, from_ns, to_ns);
           });
}

}  // namespace

PYBIND11_MODULE(_refrain, module) {
  module.doc() = "Native part of refrain.";
  py::register_exception<RefrainError>(module, "Error", PyExc_RuntimeError);
  py::enum_<analysis::MatrixKind>(module, "MatrixKind")
      .value("p2p", analysis::MatrixKind::kP2p)
      .value("rma", analysis::MatrixKind::kRma)
      .value("all", analysis::MatrixKind::kAll);
  add_call_types(module);
  add_signature(module);
  add_trace(module);
  module.def("open", &open_trace);
  module.def("diff_json", &diff_json);
  module.def("call_name", [](uint16_t id) { return report::call_name(id); });
}

}  // namespace refrain::python
