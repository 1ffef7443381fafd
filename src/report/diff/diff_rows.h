// What the formats of `refrain diff` share: names, numbers and the list of findings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/diff/diff_report.h"
#include "report/waits/waits_rows.h"
#include "text/path_names.h"

namespace refrain::report {

struct DiffAmount {
  std::string name;  // "calls"
  double before = 0, after = 0;
  std::string_view unit;  // as in arrow_text()
};

struct DiffFinding {
  std::string kind;     // "calls", "loops", "partners", "time", "waits", "ranks"
  std::string change;   // "changed", "appeared", "vanished"; "slower", "faster" of times
  std::string title;    // "MPI_Isend"; "loop of 100 calls"; "0 -> 1"
  std::string where;    // "heat.c:75 in exchange_edges"; may be empty
  std::string path;     // all of the call path; may be empty
  std::string numbers;  // "calls 6 400 -> 8 000 (+25.0 %), bytes ..."
  std::vector<std::string> details;
  std::vector<DiffAmount> amounts;  // what may be added up over findings of a kind
};

// The findings from number `first` on as one, for where only those before it are shown: how many,
// and what they add up to.
DiffFinding other_findings(const std::vector<DiffFinding>& findings, size_t first);

struct TotalRow {
  std::string name, before, after, change;
};

class DiffRows {
 public:
  explicit DiffRows(const DiffView& view)
      : view_(view), before_(view.before, view.symbols), after_(view.after, view.symbols) {}

  std::string headline();  // "4 ranks: the communication differs"
  // What is good to know beside: other commands, filters, losses, missing waits.
  std::vector<std::string> notes();
  std::vector<TotalRow> totals();
  // By kind, worst first.
  std::vector<DiffFinding> calls();
  std::vector<DiffFinding> loops();
  std::vector<DiffFinding> partners();
  std::vector<DiffFinding> times();  // past the noise
  std::vector<DiffFinding> waits();  // the same
  size_t times_in_noise();           // call paths whose time is not among times()

  // "heat.c:75 in exchange_edges", and the path in full, of the run that tells more.
  std::string place(const analysis::diff::CallChange& call);
  std::string path(const analysis::diff::CallChange& call);
  std::string path_of(const analysis::diff::CallChange& call, bool is_before);

 private:
  const std::vector<text::PathStep>& steps(const analysis::diff::CallChange& call);
  std::vector<std::string> signature_details(const analysis::diff::CallChange& call);
  std::string body(const std::vector<uint32_t>& calls);

  const DiffView& view_;
  text::PathNames before_, after_;
};

// 48, "1 204", "2.5"; bytes and times with their units.
std::string amount_text(double v);
std::string amount_text(double v, std::string_view unit);
// "+24.8 %", "new", "gone", "=".
std::string change_text(double before, double after);
// "6 400 -> 8 000 (+25.0 %)".
std::string arrow_text(double before, double after, std::string_view unit);
// ", messages 1 -> 2 (+100.0 %)" behind others, if it has changed.
void add_number(std::string& out, std::string_view name, double before, double after,
                std::string_view unit);
// What has changed of a call path, as text, and what may be added up.
std::string numbers_of(const analysis::diff::CallChange& c);
std::vector<DiffAmount> amounts_of(const analysis::diff::Amounts& before,
                                   const analysis::diff::Amounts& after);
// "count=48, dest=me+1".
std::string words_text(const analysis::diff::Words& words);
// The words that differ: "count=48 -> count=96".
std::string words_change(const analysis::diff::Words& before, const analysis::diff::Words& after);

}  // namespace refrain::report
