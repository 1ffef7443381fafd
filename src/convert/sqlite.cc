// sqlite: a database that says in SQL what the verbs say. docs/convert.md lists the tables.

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "analysis/waits/wait_states.h"
#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/parameter_text.h"
#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "reader/symbols.h"
#include "refrain/calls.h"
#include "text/escape.h"
#include "text/path_names.h"

namespace refrain::convert {
namespace {

namespace waits = analysis::waits;

constexpr const char* kTables = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32768;
BEGIN;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE losses(reason TEXT, calls INTEGER, rank INTEGER, detail TEXT);
CREATE TABLE ranks(rank INTEGER PRIMARY KEY, host TEXT, calls INTEGER, in_mpi_ns INTEGER,
  outside_ns INTEGER, bytes INTEGER);
CREATE TABLE signatures(rank INTEGER, signature INTEGER, call TEXT, site TEXT, call_path TEXT,
  args TEXT, "return" TEXT, error_class TEXT, matched TEXT, calls INTEGER,
  PRIMARY KEY(rank, signature)) WITHOUT ROWID;
CREATE TABLE calls(rank INTEGER, thread INTEGER, seq INTEGER, signature INTEGER, begin_ns INTEGER,
  end_ns INTEGER, PRIMARY KEY(rank, thread, seq)) WITHOUT ROWID;
CREATE TABLE profile(call TEXT, site TEXT, calls INTEGER, failed INTEGER, time_ns INTEGER,
  min_ns INTEGER, max_ns INTEGER, bytes INTEGER, messages INTEGER);
CREATE TABLE matrix(kind TEXT, source INTEGER, dest INTEGER, messages INTEGER, bytes INTEGER,
  PRIMARY KEY(kind, source, dest)) WITHOUT ROWID;
CREATE TABLE waits(pattern TEXT, rank INTEGER, call TEXT, call_path TEXT, ns INTEGER,
  count INTEGER);
CREATE VIEW call_list AS SELECT c.rank, c.thread, c.seq, s.call, s.args, c.begin_ns, c.end_ns,
  s.site, s."return" FROM calls c JOIN signatures s USING(rank, signature);
)";
constexpr const char* kIndices = R"(
CREATE INDEX calls_by_signature ON calls(rank, signature);
CREATE INDEX calls_by_begin ON calls(begin_ns);
CREATE INDEX signatures_by_call ON signatures(call);
CREATE INDEX profile_by_call ON profile(call);
CREATE INDEX matrix_by_dest ON matrix(dest);
CREATE INDEX waits_by_pattern ON waits(pattern, rank);
COMMIT;
)";

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// INSERT of one row after the other. The first thing that fails stays as SQLite's error.
class Inserter {
 public:
  Inserter(sqlite3* db, const std::string& table, int columns) {
    std::string sql = "INSERT INTO " + table + " VALUES(?";
    for (int i = 1; i < columns; ++i) sql += ",?";
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v2(db, (sql + ")").c_str(), -1, &made, nullptr);
    statement_.reset(made);
  }
  template <class... Values>
  bool add(const Values&... values) {
    if (statement_ == nullptr) return false;
    int i = 0;
    (bind(++i, values), ...);
    const bool good = sqlite3_step(statement_.get()) == SQLITE_DONE;
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
    return good;
  }

 private:
  void bind(int i, int64_t v) { sqlite3_bind_int64(statement_.get(), i, v); }
  void bind(int i, uint64_t v) { bind(i, static_cast<int64_t>(std::min<uint64_t>(v, INT64_MAX))); }
  void bind(int i, uint32_t v) { bind(i, static_cast<int64_t>(v)); }
  void bind(int i, double v) { sqlite3_bind_double(statement_.get(), i, v); }
  void bind(int, std::nullptr_t) {}
  void bind(int i, std::string_view text) {
    if (text.data() == nullptr) return;  // NULL
    sqlite3_bind_text64(statement_.get(), i, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
  }
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

std::string_view or_null(const std::string& text) {
  return text.empty() ? std::string_view() : std::string_view(text);
}

class SqliteWriter {
 public:
  SqliteWriter(Job& job, OutputFolder folder) : job_(job), folder_(std::move(folder)) {}

  Status run() {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open((folder_.path() + "/trace.db").c_str(), &opened);
    db_.reset(opened);
    if (status != SQLITE_OK || !execute(kTables)) return failed();
    if (!add_meta() || !add_ranks()) return failed();
    for (const Rank rank : job_.ranks) {
      const Status done = add_rank(rank);
      if (!done.ok()) return done;
    }
    if (!add_profile() || !add_matrix() || !add_waits() || !execute(kIndices)) return failed();
    db_.reset();
    job_.out.bytes = folder_.bytes();
    job_.out.files = {job_.options.output};
    return folder_.commit_file("trace.db");
  }

 private:
  bool execute(const char* sql) {
    return sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  Status failed() {
    return base::fail(std::string("cannot write the SQLite database (") +
                          (db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_.get())) + ")",
                      job_.options.output);
  }

  bool add_meta() {
    Inserter meta(db_.get(), "meta", 2), losses(db_.get(), "losses", 4);
    const RunInfo& info = job_.trace.info();
    bool good = meta.add("ranks", info.rank_count) && meta.add("duration_ns", info.duration_ns) &&
                meta.add("complete", uint64_t{info.complete});
    for (const auto& [key, value] : info.text)
      good = good && meta.add(key, std::string_view(text::printable(value)));
    if (job_.options.has_window)
      good = good && meta.add("window_from_ns", job_.options.from_ns) &&
             meta.add("window_to_ns", job_.options.to_ns);
    for (const Loss& loss : info.losses)
      good = good && losses.add(loss.reason, loss.calls, loss.rank,
                                std::string_view(text::printable(loss.detail)));
    return good;
  }

  bool add_ranks() {
    profile_ = analysis::profile(job_.trace);
    Inserter ranks(db_.get(), "ranks", 6);
    const format::Meta& meta = reader::data_of(job_.trace).meta;
    std::vector<std::string> names;
    for (const std::string& host : meta.hosts) names.push_back(text::printable(host));
    bool good = true;
    for (const analysis::RankRow& row : profile_.ranks) {
      if (job_.position(row.rank) < 0) continue;
      const auto host = static_cast<size_t>(meta.host_of_rank.at(static_cast<uint64_t>(row.rank)));
      good = good && ranks.add(row.rank,
                               host < meta.hosts.size() ? std::string_view(names[host])
                                                        : std::string_view(),
                               row.calls, row.in_mpi_ns, row.outside_ns, row.bytes);
    }
    return good;
  }

  Status add_rank(Rank rank) {
    RankReader reader(job_.trace, rank, Times::kRead);
    Inserter signatures(db_.get(), "signatures", 10), calls(db_.get(), "calls", 6);
    for (const Trace::Occurrence& seen : job_.trace.occurrences(*job_.trace.group_of(rank))) {
      const Signature& s = reader.signature(seen.signature);
      const bool good = signatures.add(
          rank, seen.signature, s.name, or_null(job_.sites.name(s.site)), or_null(path(s.site)),
          std::string_view(arguments_json(job_, s)), or_null(plain_text(job_, s.result)),
          or_null(plain_text(job_, s.error_class)), or_null(plain_text(job_, s.matched)),
          seen.calls);
      if (!good) return failed();
    }
    for (const Location& location : job_.trace.locations(rank)) {
      Result<Cursor> cursor = reader.cursor(location.thread);
      if (!cursor.ok()) return cursor.error();
      while (const Call* call = cursor->next()) {
        job_.tick();
        if (job_.options.has_window &&
            !(call->has_time && job_.is_in_window(call->begin_ns, call->end_ns)))
          continue;
        ++job_.out.calls;
        const bool good =
            call->has_time
                ? calls.add(rank, call->thread, call->seq, call->signature->id, call->begin_ns,
                            call->end_ns)
                : calls.add(rank, call->thread, call->seq, call->signature->id, nullptr, nullptr);
        if (!good) return failed();
      }
      if (!cursor->time_status().ok()) return cursor->time_status();
    }
    return base::Done{};
  }

  bool add_profile() {
    Inserter rows(db_.get(), "profile", 9);
    bool good = true;
    for (const analysis::SiteRow& row : profile_.sites) {
      const analysis::CallTotals& t = row.totals;
      good = good && rows.add(function(row.call), or_null(job_.sites.name(row.site)), t.calls,
                              t.failed, t.time_ns, t.min_ns, t.max_ns, t.bytes, t.messages);
    }
    return good;
  }

  bool add_matrix() {
    Inserter rows(db_.get(), "matrix", 5);
    bool good = true;
    const auto add = [&](analysis::MatrixKind kind, std::string_view name) {
      for (const analysis::MatrixEntry& e : analysis::matrix(job_.trace, kind).entries)
        good = good && rows.add(name, e.source, e.dest, e.messages, e.bytes);
    };
    add(analysis::MatrixKind::kP2p, "p2p");
    add(analysis::MatrixKind::kRma, "rma");
    return good;
  }

  // Needs times: without them the table stays empty.
  bool add_waits() {
    if (!job_.trace.has_times()) return true;
    events::TraceCalls calls(job_.trace);
    const auto result = waits::wait_states(job_.trace, calls, {});
    if (!result.ok()) {
      job_.not_held("wait states: " + result.error().message);
      return true;
    }
    Inserter rows(db_.get(), "waits", 6);
    bool good = true;
    for (const waits::Severity& s : result->severities)
      good = good && rows.add(waits::name_of(s.pattern), s.rank, function(s.call),
                              or_null(path(s.path)), s.ns, s.count);
    return good;
  }

  static std::string_view function(CallId id) {
    const mpi::CallInfo* info = mpi::find_call(id);
    return info == nullptr ? std::string_view() : info->name;
  }
  // "main heat.c:120 > exchange heat.c:41"
  const std::string& path(DefinitionId id) {
    const auto [known, is_new] = paths_.try_emplace(id);
    if (is_new && id != kNoDefinition) known->second = names_.text(id);
    return known->second;
  }

  Job& job_;
  OutputFolder folder_;
  std::unique_ptr<sqlite3, Close> db_;
  analysis::Profile profile_;
  reader::Symbols symbols_;
  text::PathNames names_{job_.trace, symbols_};
  std::unordered_map<DefinitionId, std::string> paths_;
};

}  // namespace

Status write_sqlite(Job& job) {
  if (job.out.times == TimesFrom::kBuilt) job.out.times = TimesFrom::kNone;
  auto folder = OutputFolder::create(job.options.output, "the SQLite database");
  if (!folder.ok()) return folder.error();
  return SqliteWriter(job, std::move(*folder)).run();
}

}  // namespace refrain::convert
