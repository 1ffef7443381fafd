// The other steps of a random program; see random_program.h.

#include "analysis/waits/testing/random_program.h"

namespace refrain::analysis::waits {

// Takes a message that is in flight: the first of its sender that fits.
void RandomProgram::receive_step() {
  if (in_flight_.empty()) return;
  const size_t first = in_flight_[pick(in_flight_.size())];
  const bool any_source = pick(3) == 0, any_tag = pick(3) == 0;
  const auto fits = [&](size_t id) {
    const TrueMessage &a = messages[first], &b = messages[id];
    return a.sender == b.sender && a.receiver == b.receiver && a.comm == b.comm &&
           (any_tag || a.tag == b.tag);
  };
  const auto at = std::find_if(in_flight_.begin(), in_flight_.end(), fits);
  const size_t id = *at;
  in_flight_.erase(at);
  TrueMessage& m = messages[id];
  const Rank me = m.receiver;
  const Comm& comm = comms_[static_cast<size_t>(m.comm)];
  const auto status = [&](ShapeWriter& s) {
    if (!any_source && !any_tag && pick(2) == 0) return s.none();
    return s.tag(format::FieldTag::kStatus).integer(number(comm, me, m.sender)).integer(m.tag);
  };
  const uint64_t form = pick(4);
  const uint64_t begin = next_begin(me);
  if (form == 0) {
    Request q;
    q.receive = id;
    q.is_wild = any_source || any_tag;
    m.post_call = count(me);
    call_for(me, q, message_shape("MPI_Irecv", m, false, any_source, any_tag), begin);
    open_[static_cast<size_t>(me)].push_back(q);
    return;
  }
  if (form == 1) {
    ShapeWriter s = message_shape("MPI_Probe", m, false, any_source, any_tag);
    call(me, status(s), begin, sent_at(id)).probed = id;
    m.post_call = m.done_call = count(me);
    ShapeWriter r = message_shape("MPI_Recv", m, false, false, false);
    call(me, r.none(), next_begin(me), sent_at(id)).receives = {id};
    return;
  }
  if (form == 2) {
    base::ByteWriter name;
    name.put_zigzag(0);
    static constexpr auto kKind = format::DefinitionKind::kMessage;
    const uint32_t object = program.builder().define(kKind, name.take());
    ShapeWriter s = message_shape("MPI_Mprobe", m, false, any_source, any_tag);
    s.object(object);
    call(me, status(s), begin, sent_at(id)).probed = id;
    m.post_call = m.done_call = count(me);
    ShapeWriter r = begin_shape("MPI_Mrecv");
    r.none().integer(1).object(program.type).object(object).none();
    call(me, r, next_begin(me), sent_at(id)).receives = {id};
    return;
  }
  m.post_call = m.done_call = count(me);
  ShapeWriter s = message_shape("MPI_Recv", m, false, any_source, any_tag);
  call(me, status(s), begin, sent_at(id)).receives = {id};
}

// A receive for a message that nobody has sent yet.
void RandomProgram::post_step() {
  TrueMessage m;
  m.comm = static_cast<int>(pick(comms_.size()));
  const Comm& comm = comms_[static_cast<size_t>(m.comm)];
  const bool swap = pick(2) == 0;
  const std::vector<Rank>& mine = comm.is_inter() && swap ? comm.right : comm.left;
  const std::vector<Rank>& others = comm.is_inter() && !swap ? comm.right : comm.left;
  m.receiver = mine[pick(mine.size())];
  m.sender = others[pick(others.size())];
  if (m.sender == m.receiver) return;
  m.tag = static_cast<int64_t>(pick(3));
  Posted posted;
  posted.comm = m.comm;
  if (pick(2) == 0) posted.source = m.sender;
  if (pick(2) == 0) posted.tag = m.tag;
  const auto taken = [&](size_t id) {
    const TrueMessage& o = messages[id];
    return o.receiver == m.receiver && o.comm == m.comm &&
           (posted.source == kAny || posted.source == o.sender) &&
           (posted.tag == kAny || posted.tag == o.tag);
  };
  if (std::any_of(in_flight_.begin(), in_flight_.end(), taken)) return;
  Request q;
  q.receive = posted.message = messages.size();
  q.is_wild = posted.source == kAny || posted.tag == kAny;
  m.post_call = count(m.receiver);
  call_for(m.receiver, q,
           message_shape("MPI_Irecv", m, false, posted.source == kAny, posted.tag == kAny),
           next_begin(m.receiver));
  messages.push_back(m);
  posted_[static_cast<size_t>(m.receiver)].push_back(posted);
  open_[static_cast<size_t>(m.receiver)].push_back(q);
}

bool RandomProgram::is_ready(const Request& q) const {
  if (q.receive != kNever) return messages[q.receive].send_call != kNever;
  if (q.send != kNever)
    return !messages[q.send].needs_receiver || messages[q.send].post_call != kNever;
  return true;
}

void RandomProgram::complete_step() {
  const auto r = static_cast<Rank>(pick(static_cast<uint64_t>(ranks_)));
  std::vector<Request>& open = open_[static_cast<size_t>(r)];
  if (open.empty()) return;
  std::vector<size_t> ready;
  for (size_t i = 0; i < open.size(); ++i)
    if (is_ready(open[i])) ready.push_back(i);
  if (ready.empty()) {
    const Request& q = open[pick(open.size())];  // a receive
    ShapeWriter s = begin_shape("MPI_Test");
    s.request(q.id).integer(0).none();
    TrueCall& test = call(r, s, next_begin(r), 0);
    if (q.receive != kNever) test.unsuccessful = {q.receive};
    return;
  }
  const int form = static_cast<int>(pick(5));
  std::shuffle(ready.begin(), ready.end(), random_);
  ready.resize(form < 3 ? 1 : 1 + pick(ready.size()));
  finish(r, ready, form);
}

void RandomProgram::cancel_step() {
  const auto r = static_cast<Rank>(pick(static_cast<uint64_t>(ranks_)));
  std::vector<Request>& open = open_[static_cast<size_t>(r)];
  std::vector<size_t> unsent;
  for (size_t i = 0; i < open.size(); ++i)
    if (open[i].receive != kNever && !is_ready(open[i])) unsent.push_back(i);
  if (unsent.empty()) return;
  const size_t which = unsent[pick(unsent.size())];
  const Request q = open[which];
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
  ShapeWriter cancel = begin_shape("MPI_Cancel");
  const uint64_t end = call(r, cancel.request(q.id), next_begin(r), 0).end;
  for (uint64_t& clock : clock_) clock = std::max(clock, end);  // what is sent later is sent later
  ShapeWriter wait = begin_shape("MPI_Wait");
  call(r, wait.request(q.id).none(), next_begin(r), 0);
  std::vector<Posted>& posted = posted_[static_cast<size_t>(r)];
  posted.erase(std::find_if(posted.begin(), posted.end(),
                            [&](const Posted& p) { return p.message == q.receive; }));
  messages[q.receive].post_call = kNever;
  pools_[{r, q.pool}][q.number] = false;
}

// When the last one enters that the completion of a collective waits for.
uint64_t RandomProgram::last_needed(const TrueCollective& coll, Rank me) const {
  uint64_t last = 0;
  for (const TrueCollective::Entry& e : coll.entries) {
    bool is_needed = coll.binds;
    if (!coll.sources.empty()) {
      const std::vector<Rank>& from = coll.sources[static_cast<size_t>(me)];
      is_needed = std::count(from.begin(), from.end(), e.rank) > 0;
    }
    if (is_needed) last = std::max(last, begin_of(e.rank, e.call));
  }
  return last;
}

// Forms: 0 Wait, 1 Test, 2 Waitany among all, 3 Waitall of some, 4 Waitsome among all.
void RandomProgram::finish(Rank r, std::vector<size_t> which, int form) {
  std::vector<Request>& open = open_[static_cast<size_t>(r)];
  std::sort(which.begin(), which.end());
  const auto put_status = [&](ShapeWriter& s, const Request& q) {
    if (!q.is_wild) return;
    const TrueMessage& m = messages[q.receive];
    s.tag(format::FieldTag::kStatus);
    s.integer(number(comms_[static_cast<size_t>(m.comm)], r, m.sender)).integer(m.tag);
  };
  const auto put_one = [&](ShapeWriter& s, const Request& q) {
    q.is_wild ? put_status(s, q) : void(s.none());
  };
  static constexpr const char* kNames[] = {"MPI_Wait", "MPI_Test", "MPI_Waitany", "MPI_Waitall",
                                           "MPI_Waitsome"};
  ShapeWriter s = begin_shape(kNames[form]);
  if (form < 2) {
    s.request(open[which[0]].id);
    if (form == 1) s.integer(1);
    put_one(s, open[which[0]]);
  } else {
    std::vector<size_t> named = which;
    if (form != 3) {
      named.clear();
      for (size_t i = 0; i < open.size(); ++i) named.push_back(i);
    }
    s.integer(static_cast<int64_t>(named.size())).array(named.size());
    for (const size_t i : named) s.repeat(1).request(open[i].id);
    if (form == 2) {
      s.integer(static_cast<int64_t>(which[0]));
      put_one(s, open[which[0]]);
    } else {
      if (form == 4) {
        s.integer(static_cast<int64_t>(which.size())).array(which.size());
        for (const size_t i : which) s.repeat(1).integer(static_cast<int64_t>(i));
      }
      s.array(which.size());
      for (const size_t i : which) {
        s.repeat(1);
        put_one(s, open[i]);
      }
    }
  }
  uint64_t least = 0;
  TrueCall done;
  for (const size_t i : which) {
    const Request& q = open[i];
    if (q.send != kNever) {
      done.sends.push_back(q.send);
      const TrueMessage& m = messages[q.send];
      if (m.needs_receiver) least = std::max(least, begin_of(m.receiver, m.post_call));
    }
    if (q.receive != kNever) {
      done.receives.push_back(q.receive);
      messages[q.receive].done_call = count(r);
      least = std::max(least, sent_at(q.receive));
    }
    if (q.collective != kNever) {
      done.collectives.push_back(q.collective);
      collectives[q.collective].leavers.emplace_back(r, count(r));
      least = std::max(least, last_needed(collectives[q.collective], r));
    }
    pools_[{r, q.pool}][q.number] = false;
  }
  TrueCall& made = call(r, s, next_begin(r), least);
  made.sends = done.sends;
  made.receives = done.receives;
  made.collectives = done.collectives;
  for (auto i = which.rbegin(); i != which.rend(); ++i)
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(*i));
}

void RandomProgram::collective_step() {
  static constexpr std::pair<const char*, CollectiveKind> kNames[] = {
      {"MPI_Barrier", CollectiveKind::kBarrier}, {"MPI_Bcast", CollectiveKind::kFromRoot},
      {"MPI_Reduce", CollectiveKind::kToRoot},   {"MPI_Allreduce", CollectiveKind::kNxN},
      {"MPI_Scan", CollectiveKind::kScan},       {"MPI_Ibarrier", CollectiveKind::kBarrier},
      {"MPI_Ibcast", CollectiveKind::kFromRoot}, {"MPI_Ireduce", CollectiveKind::kToRoot}};
  const auto& [name, kind] = kNames[pick(8)];
  const Comm& comm = comms_[pick(kind == CollectiveKind::kScan ? 2 : 3)];
  const bool swap = pick(2) == 0;
  const std::vector<Rank>& with_root = comm.is_inter() && swap ? comm.right : comm.left;
  const Rank root = with_root[pick(with_root.size())];
  TrueCollective made;
  made.kind = kind;
  made.is_blocking = std::string_view(name)[4] != 'I';
  std::vector<Rank> all = comm.left;
  all.insert(all.end(), comm.right.begin(), comm.right.end());
  std::vector<uint64_t> begins;
  uint64_t last = 0;
  for (const Rank r : all) begins.push_back(next_begin(r)), last = std::max(last, begins.back());
  const bool rooted = kind == CollectiveKind::kFromRoot || kind == CollectiveKind::kToRoot;
  for (size_t i = 0; i < all.size(); ++i) {
    TrueCollective::Entry entry{all[i], count(all[i]), static_cast<int64_t>(i), Role::kAll};
    const bool on_side = std::count(with_root.begin(), with_root.end(), all[i]) > 0;
    if (rooted)
      entry.role = all[i] == root               ? Role::kRoot
                   : comm.is_inter() && on_side ? Role::kNone
                                                : Role::kLeaf;
    made.entries.push_back(entry);
  }
  const size_t id = collectives.size();
  for (size_t i = 0; i < all.size(); ++i) {
    ShapeWriter s = begin_shape(name);
    if (kind != CollectiveKind::kBarrier) s.none();
    if (kind == CollectiveKind::kToRoot || kind == CollectiveKind::kNxN ||
        kind == CollectiveKind::kScan)
      s.none();
    if (kind != CollectiveKind::kBarrier) s.integer(1).object(program.type);
    if (kind == CollectiveKind::kToRoot || kind == CollectiveKind::kNxN ||
        kind == CollectiveKind::kScan)
      s.none();
    const Role role = made.entries[i].role;
    if (rooted && comm.is_inter() && role != Role::kLeaf)
      s.constant(role == Role::kRoot ? "MPI_ROOT" : "MPI_PROC_NULL");
    else if (rooted)
      s.integer(number(comm, all[i], root));
    s.object(side(comm, all[i]));
    if (made.is_blocking) {
      call(all[i], s, begins[i], last).collectives = {id};
      continue;
    }
    Request q;
    q.collective = id;
    call_for(all[i], q, s, begins[i]);
    open_[static_cast<size_t>(all[i])].push_back(q);
  }
  collectives.push_back(made);
}

void RandomProgram::fence_step() {
  TrueCollective made;
  made.kind = CollectiveKind::kFence;
  std::vector<uint64_t> begins;
  for (Rank r = 0; r < ranks_; ++r) begins.push_back(next_begin(r));
  const uint64_t last = *std::max_element(begins.begin(), begins.end());
  for (Rank r = 0; r < ranks_; ++r) {
    made.entries.push_back({r, count(r), r, Role::kAll});
    ShapeWriter s = begin_shape("MPI_Win_fence");
    call(r, s.none().object(window_), begins[static_cast<size_t>(r)], last).collectives = {
        collectives.size()};
  }
  collectives.push_back(made);
}

void RandomProgram::epoch_step() {
  TrueEpoch e;
  e.target = static_cast<Rank>(pick(static_cast<uint64_t>(ranks_)));
  e.origin = static_cast<Rank>(pick(static_cast<uint64_t>(ranks_)));
  if (e.target == e.origin) return;
  const auto group = [&](const char* name, Rank other) {
    ShapeWriter s = begin_shape(name);
    return std::move(s.object(groups_[static_cast<size_t>(other)]).none().object(window_));
  };
  const auto plain = [&](const char* name) {
    ShapeWriter s = begin_shape(name);
    return std::move(s.object(window_));
  };
  e.post = count(e.target);
  e.start = count(e.origin);
  const bool blocks = pick(2) == 0;
  const uint64_t post = next_begin(e.target);
  call(e.target, group("MPI_Win_post", e.origin), post, 0);
  call(e.origin, group("MPI_Win_start", e.target), next_begin(e.origin), blocks ? post : 0);
  e.complete = count(e.origin);
  const uint64_t complete = next_begin(e.origin);
  call(e.origin, plain("MPI_Win_complete"), complete, post);
  e.wait = count(e.target);
  call(e.target, plain("MPI_Win_wait"), next_begin(e.target), complete);
  epochs.push_back(e);
}

void RandomProgram::lock_step() {
  TrueLock lock;
  lock.origin = static_cast<Rank>(pick(static_cast<uint64_t>(ranks_)));
  lock.target = static_cast<Rank>(pick(2));
  lock.is_exclusive = pick(2) == 0;
  uint64_t free = 0;
  for (const TrueLock& other : locks)
    if (other.target == lock.target && (other.is_exclusive || lock.is_exclusive))
      free = std::max(free, calls[static_cast<size_t>(other.origin)][other.unlock_call].end);
  lock.lock_call = count(lock.origin);
  ShapeWriter s = begin_shape("MPI_Win_lock");
  s.constant(lock.is_exclusive ? "MPI_LOCK_EXCLUSIVE" : "MPI_LOCK_SHARED").integer(lock.target);
  call(lock.origin, s.none().object(window_), next_begin(lock.origin), free);
  lock.unlock_call = count(lock.origin);
  ShapeWriter u = begin_shape("MPI_Win_unlock");
  call(lock.origin, u.integer(lock.target).object(window_), next_begin(lock.origin), 0);
  locks.push_back(lock);
}

}  // namespace refrain::analysis::waits
