// csv: one row a call, as RFC 4180 has it. Columns are those of a call, and one for each name of a
// parameter that occurs; a call leaves the columns empty that it has no parameter for.

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "convert/job.h"
#include "convert/output_files.h"
#include "convert/parameter_text.h"
#include "refrain/calls.h"

namespace refrain::convert {
namespace {

constexpr std::string_view kFixed =
    "rank,thread,seq,begin_ns,end_ns,call,site,return,error_class,matched";

// A field that holds a quote, a comma or the end of a line stands in quotes.
void append_field(std::string& out, std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

class CsvWriter {
 public:
  CsvWriter(Job& job, BufferedFile file) : job_(job), file_(std::move(file)) {}

  Status run() {
    find_columns();
    file_.buffer() += kFixed;
    for (const std::string& name : names_) {
      file_.buffer() += ",arg_";
      append_field(file_.buffer(), name);
    }
    file_.buffer() += "\r\n";
    for (const Rank rank : job_.ranks)
      if (const Status done = write_rank(rank); !done.ok()) return done;
    job_.out.bytes = file_.size();
    job_.out.files = {job_.options.output};
    return file_.commit();
  }

 private:
  // Columns are in the order in which signatures first have them.
  void find_columns() {
    std::vector<bool> seen(job_.trace.signature_count());
    for (const Rank rank : job_.ranks) {
      RankReader reader(job_.trace, rank);
      for (const Trace::Occurrence& one : job_.trace.occurrences(*job_.trace.group_of(rank))) {
        if (seen[one.signature]) continue;
        seen[one.signature] = true;
        for (const Argument& argument : reader.signature(one.signature).args) {
          add_column(std::string(argument.name));
          if (argument.value.kind == ValueKind::kChanged)
            add_column(std::string(argument.name) + "_in");
        }
      }
    }
  }
  void add_column(const std::string& name) {
    if (columns_.try_emplace(name, names_.size()).second) names_.push_back(name);
  }

  Status write_rank(Rank rank) {
    RankReader reader(job_.trace, rank, Times::kRead);
    tails_.clear();
    for (const Location& location : job_.trace.locations(rank)) {
      Result<Cursor> calls = reader.cursor(location.thread);
      if (!calls.ok()) return calls.error();
      while (const Call* call = calls->next()) {
        job_.tick();
        if (job_.options.has_window &&
            !(call->has_time && job_.is_in_window(call->begin_ns, call->end_ns)))
          continue;
        write_call(*call);
        if (const Status done = file_.flush_if_full(); !done.ok()) return done;
      }
      if (!calls->time_status().ok()) return calls->time_status();
    }
    return base::Done{};
  }

  void write_call(const Call& call) {
    ++job_.out.calls;
    std::string& out = file_.buffer();
    fmt::format_to(std::back_inserter(out), "{},{},{},", call.rank, call.thread, call.seq);
    if (call.has_time)
      fmt::format_to(std::back_inserter(out), "{},{}", call.begin_ns, call.end_ns);
    else
      out += ',';
    std::string& tail = tails_[call.signature->id];
    if (tail.empty()) tail = render(*call.signature);
    out += tail;
    if (tail.size() > kMostCached) tail.clear();
  }

  std::string render(const Signature& call) {
    std::string out = ",";
    append_field(out, call.name);
    out += ',';
    append_field(out, job_.sites.name(call.site));
    const auto add = [&](const Value& value) {
      out += ',';
      append_field(out, plain_text(job_, value));
    };
    add(call.result);
    add(call.error_class);
    add(call.matched);
    std::vector<const Value*> fields(names_.size());
    for (const Argument& argument : call.args) {
      fields[columns_[std::string(argument.name)]] = &argument.value.at_exit();
      if (argument.value.kind == ValueKind::kChanged)
        fields[columns_[std::string(argument.name) + "_in"]] = &argument.value.at_entry();
    }
    for (const Value* field : fields) {
      if (field == nullptr)
        out += ',';
      else
        add(*field);
    }
    return out + "\r\n";
  }

  static constexpr size_t kMostCached = 64 * 1024;
  Job& job_;
  BufferedFile file_;
  std::vector<std::string> names_;
  std::map<std::string, size_t> columns_;
  std::unordered_map<SignatureId, std::string> tails_;
};

}  // namespace

Status write_csv(Job& job) {
  if (job.out.times == TimesFrom::kBuilt) job.out.times = TimesFrom::kNone;
  auto file = BufferedFile::create(job.options.output, "the CSV file");
  if (!file.ok()) return file.error();
  return CsvWriter(job, std::move(*file)).run();
}

}  // namespace refrain::convert
