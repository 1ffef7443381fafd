// Messages: those that the page cannot find by counting, and those that were waited for longest.

#include <map>
#include <utility>

#include "report/page/section.h"

namespace refrain::report {

using Numbers = std::vector<int64_t>;
using analysis::ListedMessage;
using analysis::SeenCall;

namespace {

class Rows {
 public:
  explicit Rows(const analysis::Timeline& timeline) {
    for (size_t i = 0; i < timeline.rows.size(); ++i)
      rows_[{timeline.rows[i].rank, timeline.rows[i].thread}] = static_cast<int64_t>(i);
  }
  int64_t of(const SeenCall& call) const {
    const auto known = rows_.find({call.rank, call.thread});
    return known == rows_.end() ? -1 : known->second;
  }

 private:
  std::map<std::pair<Rank, uint32_t>, int64_t> rows_;
};

// How far each number of a row is from the one before it: what repeats is small.
class Steps {
 public:
  int64_t next(int64_t row, int64_t number) { return number - std::exchange(before_[row], number); }

 private:
  std::map<int64_t, int64_t> before_;
};

int64_t number(const SeenCall& call) { return static_cast<int64_t>(call.seq); }

void put_listed(const std::vector<ListedMessage>& listed, const Rows& rows, Columns& out) {
  Numbers to, to_seq, from, from_seq, done, done_seq;
  Steps sent, posted;
  for (const ListedMessage& m : listed) {
    const int64_t sender = rows.of(m.sent), receiver = rows.of(m.posted);
    to.push_back(receiver);
    to_seq.push_back(posted.next(receiver, number(m.posted)));
    from.push_back(sender);
    from_seq.push_back(sent.next(sender, number(m.sent)));
    done.push_back(rows.of(m.done) - receiver);
    done_seq.push_back(number(m.done) - number(m.posted));
  }
  out.put("message.to", std::move(to));
  out.put("message.to_seq", std::move(to_seq));
  out.put("message.from", std::move(from));
  out.put("message.from_seq", std::move(from_seq));
  out.put("message.done", std::move(done));
  out.put("message.done_seq", std::move(done_seq));
}

void put_late(const std::vector<ListedMessage>& late, const Rows& rows, Columns& out) {
  Numbers from, from_ns, to, to_ns, wait;
  for (const ListedMessage& m : late) {
    from.push_back(rows.of(m.sent));
    from_ns.push_back(static_cast<int64_t>(m.sent.begin_ns));
    to.push_back(rows.of(m.done));
    to_ns.push_back(static_cast<int64_t>(m.done.end_ns));
    wait.push_back(static_cast<int64_t>(m.wait_ns));
  }
  out.put("late.from", std::move(from));
  out.put("late.from_ns", std::move(from_ns));
  out.put("late.to", std::move(to));
  out.put("late.to_ns", std::move(to_ns));
  out.put("late.wait_ns", std::move(wait));
}

// Channels that are not counted: of `open.rank`, from `open.source` with `open.tag` in `open.comm`,
// -1 for any; and all of the ranks in `uncounted.rank`.
void put_open(const events::OpenEnds& ends, Rank ranks, Columns& out) {
  const auto any = [](int64_t v) { return v == events::kAny ? -1 : v; };
  Numbers whole, rank, comm, source, tag;
  for (Rank r = 0; r < ranks; ++r) {
    if (ends.is_whole(r)) whole.push_back(r);
    for (const events::OpenEnd& end : ends.of(r)) {
      if (ends.is_whole(r)) break;
      rank.push_back(r);
      comm.push_back(end.is_any_comm ? -1 : static_cast<int64_t>(end.comm));
      source.push_back(any(end.source));
      tag.push_back(any(end.tag));
    }
  }
  out.put("uncounted.rank", std::move(whole));
  out.put("open.rank", std::move(rank));
  out.put("open.comm", std::move(comm));
  out.put("open.source", std::move(source));
  out.put("open.tag", std::move(tag));
}

void put_messages(const PageView& view, PageData& out) {
  const PageAnswers& answers = view.answers;
  const Rows rows(answers.timeline);
  out.json["messages"] = {{"uncounted", answers.messages.uncounted},
                          {"listed", answers.messages.listed.size()},
                          {"unknown", answers.unknown_receives},
                          {"unordered", answers.unordered_messages},
                          {"are_read", answers.has_messages},
                          {"wait_rows", answers.wait_table.rows()},
                          {"wait_columns", answers.wait_table.columns()}};
  put_listed(answers.messages.listed, rows, out.columns);
  put_late(answers.messages.late, rows, out.columns);
  put_open(*answers.open_ends, view.trace.rank_count(), out.columns);
  out.columns.put_bytes("waits.share", answers.wait_table.shares());
}

class MessagesSection : public PageSection {
 public:
  void write(const PageView& view, PageData& out) const override { put_messages(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> messages_section() { return std::make_unique<MessagesSection>(); }

}  // namespace refrain::report
