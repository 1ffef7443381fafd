// Wait states: severities as columns, and what leads to the calls behind them.

#include <algorithm>
#include <map>

#include "events/untimed_calls.h"
#include "report/page/section.h"
#include "report/profile/profile_rows.h"
#include "report/waits/waits_rows.h"
#include "text/path_names.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<int64_t>;
namespace waits = analysis::waits;

namespace {

constexpr size_t kMostDelays = 200;
constexpr size_t kMostParts = 200;

class Writer {
 public:
  explicit Writer(const PageView& view) : view_(view), names_(view.trace, view.symbols) {}

  void write(PageData& out) {
    const waits::WaitStates& w = *view_.answers.waits;
    Json json;
    json["total_ns"] = w.total_ns;
    json["patterns"] = patterns();
    put_severities(out.columns);
    put_explained(out.columns);
    json["delays"] = Json::array();
    for (size_t i = 0; i < std::min(w.delays.size(), kMostDelays); ++i)
      json["delays"].push_back(delay(w.delays[i]));
    double delays_rest = 0;
    for (size_t i = kMostDelays; i < w.delays.size(); ++i)
      delays_rest += w.delays[i].short_term_ns + w.delays[i].long_term_ns;
    json["delays_rest"] = rest(w.delays.size(), kMostDelays, delays_rest);
    json["critical_ns"] = w.critical_ns;
    json["critical_path"] = Json::array();
    for (size_t i = 0; i < std::min(w.critical_path.size(), kMostParts); ++i) {
      const auto& part = w.critical_path[i];
      json["critical_path"].push_back({{"rank", part.rank},
                                       {"from", place(part.from_path, part.from_call)},
                                       {"to", place(part.to_path, part.to_call)},
                                       {"is_call", part.is_call},
                                       {"ns", part.ns}});
    }
    double parts_rest = 0;
    for (size_t i = kMostParts; i < w.critical_path.size(); ++i)
      parts_rest += static_cast<double>(w.critical_path[i].ns);
    json["critical_path_rest"] = rest(w.critical_path.size(), kMostParts, parts_rest);
    json["counts"] = counts_json(w.counts);
    json["paths"] = paths_;
    json["calls"] = calls_;
    Numbers total, useful, waiting;
    for (const waits::RankTime& r : w.ranks) {
      total.push_back(static_cast<int64_t>(r.total_ns));
      useful.push_back(static_cast<int64_t>(r.useful_ns));
      waiting.push_back(static_cast<int64_t>(r.waiting_ns));
    }
    out.columns.put("waits.rank_total", std::move(total));
    out.columns.put("waits.rank_useful", std::move(useful));
    out.columns.put("waits.rank_waiting", std::move(waiting));
    out.json["waits"] = std::move(json);
  }

 private:
  // What a list lacks that has `most` of `count` rows.
  static Json rest(size_t count, size_t most, double ns) {
    return {{"count", count > most ? count - most : 0}, {"ns", ns}};
  }

  static Json patterns() {
    Json out = Json::array();
    for (int i = 0; i < waits::kPatterns; ++i) {
      const auto pattern = static_cast<waits::Pattern>(i);
      out.push_back({{"name", name_of(pattern)},
                     {"title", title_of(pattern)},
                     {"parent", static_cast<int>(parent_of(pattern))},
                     {"depth", depth_of(pattern)}});
    }
    return out;
  }

  int64_t path(DefinitionId id) {
    const auto [known, is_new] = path_numbers_.try_emplace(id, paths_.size());
    if (is_new) paths_.push_back(names_.text(id));
    return static_cast<int64_t>(known->second);
  }
  int64_t call(CallId id) {
    const auto [known, is_new] = call_numbers_.try_emplace(id, calls_.size());
    if (is_new) calls_.push_back(call_or_edge(id));
    return static_cast<int64_t>(known->second);
  }
  Json place(DefinitionId at, CallId function) {
    return {{"call", call(function)}, {"path", function == 0 ? Json() : Json(path(at))}};
  }
  Json delay(const waits::Delay& d) {
    return {{"pattern", static_cast<int>(d.pattern)},
            {"rank", d.rank},
            {"from", place(d.from_path, d.from_call)},
            {"to", place(d.to_path, d.to_call)},
            {"is_call", d.is_call},
            {"ns", d.short_term_ns + d.long_term_ns}};
  }

  void put_severities(Columns& out) {
    Numbers pattern, at, function, rank, ns, count;
    for (const waits::Severity& s : view_.answers.waits->severities) {
      pattern.push_back(static_cast<int64_t>(s.pattern));
      at.push_back(path(s.path));
      function.push_back(call(s.call));
      rank.push_back(s.rank);
      ns.push_back(static_cast<int64_t>(s.ns));
      count.push_back(static_cast<int64_t>(s.count));
    }
    out.put("waits.pattern", std::move(pattern));
    out.put("waits.path", std::move(at));
    out.put("waits.call", std::move(function));
    out.put("waits.rank", std::move(rank));
    out.put("waits.ns", std::move(ns));
    out.put("waits.count", std::move(count));
  }

  void put_explained(Columns& out) {
    Numbers rank, thread, seq, pattern, at, function, wait, partner, partner_seq, begin;
    for (const waits::Explained& e : view_.answers.waits->explained) {
      rank.push_back(e.rank);
      thread.push_back(e.thread);
      seq.push_back(static_cast<int64_t>(e.seq));
      pattern.push_back(static_cast<int64_t>(e.pattern));
      at.push_back(path(e.path));
      function.push_back(call(e.call));
      wait.push_back(static_cast<int64_t>(e.wait_ns));
      begin.push_back(static_cast<int64_t>(e.begin_ns));
      partner.push_back(e.partner);
      partner_seq.push_back(e.partner < 0 ? -1 : static_cast<int64_t>(e.partner_seq));
    }
    out.put("explained.rank", std::move(rank));
    out.put("explained.thread", std::move(thread));
    out.put("explained.seq", std::move(seq));
    out.put("explained.pattern", std::move(pattern));
    out.put("explained.path", std::move(at));
    out.put("explained.call", std::move(function));
    out.put("explained.ns", std::move(wait));
    out.put("explained.begin", std::move(begin));
    out.put("explained.partner", std::move(partner));
    out.put("explained.partner_seq", std::move(partner_seq));
  }

  const PageView& view_;
  text::PathNames names_;
  std::map<DefinitionId, size_t> path_numbers_;
  std::map<CallId, size_t> call_numbers_;
  std::vector<std::string> paths_, calls_;
};

class PageObserver : public analysis::MessageCollector {
 public:
  PageObserver(const Trace& trace, const analysis::MessageListOptions& options, PageAnswers& out,
               analysis::IterationTable* iterations)
      : MessageCollector(*out.open_ends, options),
        trace_(trace),
        out_(out),
        iterations_(iterations),
        has_order_(trace.has_times()) {}
  bool wants(const analysis::SeenMessage& m) override {
    if (has_order_ || !(has_threads(m.sender) || has_threads(m.receiver)))
      return MessageCollector::wants(m);
    ++out_.unordered_messages;
    return false;
  }
  void wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) override {
    out_.wait_table.add(rank, thread, begin_ns, end_ns);
    if (iterations_ != nullptr) iterations_->add_wait(rank, thread, begin_ns, end_ns);
  }

 private:
  bool has_threads(Rank rank) const { return trace_.locations(rank).size() > 1; }

  const Trace& trace_;
  PageAnswers& out_;
  analysis::IterationTable* iterations_;  // nullptr: there are none
  bool has_order_;
};

// Where there are no times: only if there is a message that the page cannot find by itself.
void ask_untimed(const Trace& trace, const PageOptions& options, const waits::Options& how,
                 PageAnswers& out) {
  if (out.open_ends->empty()) return;
  uint64_t calls = 0;
  for (const analysis::TimelineRow& row : out.timeline.rows) calls += row.calls;
  out.has_messages = calls <= options.most_untimed_calls;
  events::UntimedCalls numbered;
  if (out.has_messages)
    out.unknown_receives = waits::observe(trace, numbered, how).unknown_messages;
}

std::optional<analysis::IterationTable> measured_iterations(const PageQuestion& page) {
  const auto& [trace, options, comms, paths, out] = page;
  if (trace.call_count() > options.most_iteration_calls) {
    out.no_iterations = "too many calls for the page; `refrain iterations` shows them";
    return std::nullopt;
  }
  analysis::IterationOptions how;
  how.with_behaviours = true;
  how.method = similarity::default_spec(similarity::Method::kAvgWave);
  how.paths = &paths;
  auto table = analysis::IterationTable::measure(trace, how);
  if (table.ok()) return std::move(*table);
  out.no_iterations = table.error().message;
  return std::nullopt;
}

void ask_waits(const PageQuestion& page) {
  const auto& [trace, options, comms, paths, out] = page;
  for (const analysis::TimelineRow& row : out.timeline.rows)
    if (!out.kept_grammars[row.grammar]) out.open_ends->add_rank(row.rank);
  out.wait_table =
      analysis::WaitTable(out.timeline, options.most_wait_rows, options.most_wait_columns);
  analysis::MessageListOptions wanted;
  wanted.has_waits = trace.has_times();
  std::optional<analysis::IterationTable> iterations = measured_iterations(page);
  PageObserver observer(trace, wanted, out, iterations ? &*iterations : nullptr);
  events::TraceCalls calls(trace);
  waits::Options how;
  how.observer = &observer;
  how.comms = &comms;
  how.paths = &paths;
  how.memory_bytes = options.waits_memory_bytes;
  how.explain = waits::Pattern::kAll;
  how.explain_count = options.most_explained;
  auto result = waits::wait_states(trace, calls, how);
  if (result.ok())
    out.waits = std::move(*result);
  else
    out.no_waits = result.error().message;
  if (out.waits)
    out.unknown_receives = out.waits->counts.unknown_messages;
  else
    ask_untimed(trace, options, how, out);
  out.messages = observer.take();
  if (iterations) out.iterations = iterations->finish();
}

void put_waits(const PageView& view, PageData& out) {
  if (view.answers.waits) {
    Writer(view).write(out);
    return;
  }
  out.json["waits"] = Json();
  out.json["no_waits"] = view.answers.no_waits;
}

class WaitsSection : public PageSection {
 public:
  // One sweep for this section and those of messages and of iterations.
  void ask(const PageQuestion& page) override {
    page.say("waits");
    ask_waits(page);
  }
  void write(const PageView& view, PageData& out) const override { put_waits(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> waits_section() { return std::make_unique<WaitsSection>(); }

}  // namespace refrain::report
