// The timeline: rows, the grammars that say what each did, and when.

#include <algorithm>
#include <map>
#include <string>

#include "format/trace_data.h"
#include "reader/internal.h"
#include "report/page/rank_answers.h"
#include "report/page/section.h"
#include "report/page/templates.h"
#include "report/profile/profile_rows.h"
#include "report/waits/waits_rows.h"
#include "text/numbers.h"
#include "text/path_names.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<int64_t>;

namespace {

int64_t whole(double v) {
  return static_cast<int64_t>(std::min<uint64_t>(text::rounded(v), INT64_MAX));
}

void put_own_work(const analysis::Timeline& t, Columns& out) {
  Numbers row, begin, length;
  for (size_t i = 0; i < t.rows.size(); ++i)
    for (const analysis::TimelineRow::Span& span : t.rows[i].own_work) {
      row.push_back(static_cast<int64_t>(i));
      begin.push_back(static_cast<int64_t>(span.begin_ns));
      length.push_back(static_cast<int64_t>(span.end_ns) - static_cast<int64_t>(span.begin_ns));
    }
  out.put("own.row", std::move(row));
  out.put("own.begin", std::move(begin));
  out.put("own.length", std::move(length));
}

void put_rows(const analysis::Timeline& t, Columns& out) {
  Numbers rank, thread, group, grammar, calls, begin, end, anchors, seq, from, length;
  for (const analysis::TimelineRow& row : t.rows) {
    rank.push_back(row.rank);
    thread.push_back(row.thread);
    group.push_back(row.group);
    grammar.push_back(row.grammar);
    calls.push_back(static_cast<int64_t>(row.calls));
    begin.push_back(static_cast<int64_t>(row.begin_ns));
    end.push_back(static_cast<int64_t>(row.end_ns));
    anchors.push_back(static_cast<int64_t>(row.anchors.size()));
    for (const analysis::Anchor& a : row.anchors) {
      seq.push_back(static_cast<int64_t>(a.seq));
      from.push_back(static_cast<int64_t>(a.begin_ns));
      length.push_back(static_cast<int64_t>(a.end_ns) - static_cast<int64_t>(a.begin_ns));
    }
  }
  put_own_work(t, out);
  out.put("row.rank", std::move(rank));
  out.put("row.thread", std::move(thread));
  out.put("row.group", std::move(group));
  out.put("row.grammar", std::move(grammar));
  out.put("row.calls", std::move(calls));
  out.put("row.begin", std::move(begin));
  out.put("row.end", std::move(end));
  out.put("row.anchors", std::move(anchors));
  out.put("anchor.seq", std::move(seq));
  out.put("anchor.begin", std::move(from));
  out.put("anchor.length", std::move(length));
  if (t.bins == 0) return;
  out.put_bytes("table.share", std::string(t.share.begin(), t.share.end()));
  std::string classes;
  for (const events::CallClass c : t.classes) classes += static_cast<char>(c);
  out.put_bytes("table.class", std::move(classes));
}

// Grammars too large for the page have no rules there; the number of those.
uint64_t put_grammars(const PageView& view, Columns& out) {
  const auto& grammars = reader::data_of(view.trace).grammars;
  const std::vector<bool>& is_here = view.answers.kept_grammars;
  const auto missing = static_cast<uint64_t>(std::count(is_here.begin(), is_here.end(), false));
  Numbers rules, ends, symbols, counts;
  for (size_t i = 0; i < grammars.size(); ++i) {
    const grammar::Grammar& g = grammars[i];
    rules.push_back(is_here[i] ? static_cast<int64_t>(g.rule_count()) : 0);
    if (!is_here[i]) continue;
    for (size_t r = 0; r < g.rule_count(); ++r) ends.push_back(g.rule_end[r]);
    for (const grammar::Symbol& s : g.symbols) {
      symbols.push_back(int64_t{s.id} * 2 + (s.is_rule ? 1 : 0));
      counts.push_back(static_cast<int64_t>(s.count));
    }
  }
  out.put("grammar.rules", std::move(rules));
  out.put("grammar.rule_end", std::move(ends));
  out.put("grammar.symbol", std::move(symbols));
  out.put("grammar.count", std::move(counts));
  return missing;
}

// Names by number, each once.
class Names {
 public:
  int64_t number(const std::string& name) {
    const auto [known, is_new] = known_.try_emplace(name, list_.size());
    if (is_new) list_.push_back(name);
    return static_cast<int64_t>(known->second);
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, size_t> known_;
  std::vector<std::string> list_;
};

void put_signatures(const PageView& view, PageData& out) {
  Numbers call, kind, count, mean, least, most;
  Names functions;
  for (SignatureId id = 0; id < view.trace.signature_count(); ++id) {
    const CallId function = view.trace.call_of(id);
    const Durations d = view.trace.durations(id);
    call.push_back(functions.number(call_name(function)));
    kind.push_back(static_cast<int64_t>(events::class_of(function)));
    count.push_back(static_cast<int64_t>(d.count));
    mean.push_back(d.count == 0 ? 0 : whole(d.sum_ns / static_cast<double>(d.count)));
    least.push_back(static_cast<int64_t>(d.min_ns));
    most.push_back(static_cast<int64_t>(d.max_ns));
  }
  out.columns.put("signature.call", std::move(call));
  out.columns.put("signature.class", std::move(kind));
  out.columns.put("signature.count", std::move(count));
  out.columns.put("signature.mean", std::move(mean));
  out.columns.put("signature.min", std::move(least));
  out.columns.put("signature.max", std::move(most));
  out.json["timeline"]["functions"] = functions.list();
}

// What the ranks of each group have in common. Sites are those of its first rank.
void put_groups(const PageView& view, PageData& out) {
  const Trace& trace = view.trace;
  text::PathNames names(trace, view.symbols);
  Names sites, paths;
  Numbers sizes, signatures, site_of, path_of;
  Json groups = Json::array();
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const format::Group& group = reader::data_of(trace).groups[g];
    groups.push_back({{"ranks", text::rank_list_text(group.ranks, 12)},
                      {"size", group.ranks.size()},
                      {"first", group.ranks.empty() ? -1 : group.ranks.at(0)},
                      {"members", runs_json(group.ranks)},
                      {"detailed", view.answers.detailed_ranks[g]},
                      {"details", view.answers.details[g]}});
    sizes.push_back(static_cast<int64_t>(group.signatures.size()));
    if (group.ranks.empty()) continue;
    RankReader first(trace, trace.group_rank(g, 0));
    for (const uint32_t id : group.signatures) {
      const DefinitionId path = first.signature(id).site;
      signatures.push_back(id);
      const std::vector<text::PathStep>& steps = names.steps(path);
      site_of.push_back(sites.number(steps.back().site));
      path_of.push_back(paths.number(names.text(path)));
    }
  }
  out.columns.put("group.signatures", std::move(sizes));
  out.columns.put("terminal.signature", std::move(signatures));
  out.columns.put("terminal.site", std::move(site_of));
  out.columns.put("terminal.path", std::move(path_of));
  Json& json = out.json["timeline"];
  json["groups"] = std::move(groups);
  json["sites"] = sites.list();
  json["paths"] = paths.list();
}

void put_timeline(const PageView& view, PageData& out) {
  const analysis::Timeline& t = view.answers.timeline;
  Json classes = Json::array();
  for (int c = 0; c < events::kCallClasses; ++c)
    classes.push_back(name_of(static_cast<events::CallClass>(c)));
  size_t anchors = 0;
  uint64_t timed = 0;
  for (const analysis::TimelineRow& row : t.rows) {
    anchors += row.anchors.size();
    timed += row.timed_calls;
  }
  out.json["timeline"] = {{"has_times", t.has_times},       {"is_whole", t.is_whole},
                          {"begin_ns", t.begin_ns},         {"end_ns", t.end_ns},
                          {"least_ns", t.least_ns},         {"bins", t.bins},
                          {"timed_calls", timed},           {"anchors", anchors},
                          {"damaged_rows", t.damaged_rows}, {"classes", std::move(classes)}};
  put_rows(t, out.columns);
  out.json["timeline"]["missing_grammars"] = put_grammars(view, out.columns);
  put_signatures(view, out);
  put_groups(view, out);
}

class TimelineSection : public PageSection {
 public:
  void ask(const PageQuestion& page) override {
    page.say("ranks");
    ask_ranks(page);
    page.say("timeline");
    analysis::TimelineOptions how;
    how.progress = page.options.timeline_progress;
    page.answers.timeline = analysis::timeline(page.trace, how);
  }
  void write(const PageView& view, PageData& out) const override { put_timeline(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> timeline_section() { return std::make_unique<TimelineSection>(); }

}  // namespace refrain::report
