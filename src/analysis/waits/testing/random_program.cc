#include "analysis/waits/testing/random_program.h"

namespace refrain::analysis::waits {

RandomProgram::RandomProgram(uint32_t seed, int ranks, int steps, bool cancels)
    : program(ranks), random_(seed), ranks_(ranks) {
  const auto n = static_cast<size_t>(ranks);
  calls.resize(n);
  clock_.resize(n);
  posted_.resize(n);
  open_.resize(n);
  reader::TraceBuilder& b = program.builder();
  for (const int64_t offset : {0x100, 0x200, 0x300})
    sites_.push_back(b.site("/no/such/program", "", offset));
  Comm world, some, inter;
  for (Rank r = 0; r < ranks; ++r) world.left.push_back(r);
  world.left_id = program.world;
  for (Rank r = ranks - 1; r >= 0; r -= 2) some.left.push_back(r);  // in another order
  some.left_id = b.comm(1, some.left);
  for (Rank r = 0; r < ranks; ++r) (r % 3 == 1 ? inter.right : inter.left).push_back(r);
  inter.left_id = b.comm(2, inter.left, inter.right);
  inter.right_id = b.comm(2, inter.right, inter.left);
  comms_ = {world, some, inter};
  base::ByteWriter id;
  id.put_zigzag(0);
  window_ = b.define(format::DefinitionKind::kWin, id.take(), {program.world});
  std::vector<uint32_t> all;
  for (int g = 0; g <= ranks; ++g) {
    base::ByteWriter group;
    group.put_zigzag(g);
    groups_.push_back(b.define(format::DefinitionKind::kGroup, group.take()));
  }
  // A window, and a group of each rank alone.
  TrueCollective made;
  made.kind = CollectiveKind::kWindow;
  std::vector<uint64_t> begins;
  uint64_t last = 0;
  for (Rank r = 0; r < ranks; ++r)
    begins.push_back(next_begin(r)), last = std::max(last, begins.back());
  for (Rank r = 0; r < ranks; ++r) {
    made.entries.push_back({r, count(r), r, Role::kAll});
    ShapeWriter s = begin_shape("MPI_Win_create");
    s.none().integer(8).integer(1).none().object(program.world).object(window_);
    call(r, s, begins[static_cast<size_t>(r)], last).collectives = {0};
    ShapeWriter whole = begin_shape("MPI_Comm_group");
    call(r, whole.object(program.world).object(groups_[n]), next_begin(r), 0);
    for (Rank g = 0; g < ranks; ++g) {
      ShapeWriter one = begin_shape("MPI_Group_incl");
      one.object(groups_[n]).integer(1).array(1).repeat(1).integer(g);
      call(r, one.object(groups_[static_cast<size_t>(g)]), next_begin(r), 0);
    }
  }
  collectives.push_back(made);
  make_topologies();
  make_file();
  for (int i = 0; i < steps; ++i) {
    const uint64_t what = pick(cancels ? 125 : 110);
    if (what < 30)
      send_step();
    else if (what < 50)
      receive_step();
    else if (what < 62)
      post_step();
    else if (what < 82)
      complete_step();
    else if (what < 92)
      collective_step();
    else if (what < 94)
      fence_step();
    else if (what < 97)
      epoch_step();
    else if (what < 100)
      lock_step();
    else if (what < 104)
      neighbour_step();
    else if (what < 108)
      file_step();
    else if (what < 110)
      split_step();
    else
      cancel_step();
  }
  // What can be completed is: which message a wildcard receive took is not known otherwise.
  for (Rank r = 0; r < ranks; ++r) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < open_[static_cast<size_t>(r)].size(); ++i)
      if (is_ready(open_[static_cast<size_t>(r)][i])) ready.push_back(i);
    if (!ready.empty()) finish(r, ready, 3);
  }
}

ShapeWriter RandomProgram::begin_shape(const char* name) {
  ShapeWriter s(name);
  site_ = sites_[pick(sites_.size())];
  s.object(site_);
  return s;
}

TrueCall& RandomProgram::call(Rank r, ShapeWriter shape, uint64_t begin, uint64_t least) {
  TrueCall made;
  made.begin = begin;
  made.end = std::max(begin, least) + (pick(4) == 0 ? 0 : pick(60));
  const uint32_t id = last_id_ = program.signature(shape);
  const auto& data = program.builder().data().signatures[id];
  base::ByteReader in(data.shape);
  made.call = static_cast<CallId>(in.varint());
  made.site = static_cast<Place>(data.slots[0].a);
  program.add(r, id, made.begin, made.end);
  clock_[static_cast<size_t>(r)] = made.end;
  calls[static_cast<size_t>(r)].push_back(made);
  return calls[static_cast<size_t>(r)].back();
}

uint32_t RandomProgram::side(const Comm& comm, Rank r) const {
  return std::count(comm.left.begin(), comm.left.end(), r) > 0 ? comm.left_id : comm.right_id;
}

int64_t RandomProgram::number(const Comm& comm, Rank me, Rank peer) const {
  const bool mine = std::count(comm.left.begin(), comm.left.end(), me) > 0;
  const std::vector<Rank>& group = comm.is_inter() == mine ? comm.right : comm.left;
  const std::vector<Rank>& in = comm.is_inter() ? group : comm.left;
  return std::find(in.begin(), in.end(), peer) - in.begin();
}

// Send and receive look the same but for the peer.
ShapeWriter RandomProgram::message_shape(const char* name, const TrueMessage& m, bool sends,
                                         bool any_source, bool any_tag) {
  const Comm& comm = comms_[static_cast<size_t>(m.comm)];
  const Rank me = sends ? m.sender : m.receiver, peer = sends ? m.receiver : m.sender;
  ShapeWriter s = begin_shape(name);
  const std::string_view n(name);
  if (n != "MPI_Probe" && n != "MPI_Mprobe")
    s.none().integer(m.bytes == 0 ? 1 : static_cast<int64_t>(m.bytes / 4)).object(program.type);
  any_source ? s.constant("MPI_ANY_SOURCE") : s.integer(number(comm, me, peer));
  any_tag ? s.constant("MPI_ANY_TAG") : s.integer(m.tag);
  return std::move(s.object(side(comm, me)));
}

TrueCall& RandomProgram::call_for(Rank r, Request& request, ShapeWriter shape, uint64_t begin) {
  request.pool = TestProgram::key_of(ShapeWriter(shape).take());
  std::vector<bool>& used = pools_[{r, request.pool}];
  request.number = static_cast<uint32_t>(std::find(used.begin(), used.end(), false) - used.begin());
  if (request.number == used.size()) used.push_back(true);
  used[request.number] = true;
  TrueCall& made = call(r, shape.new_request(request.number), begin, 0);
  request.id = last_id_;
  return made;
}

size_t RandomProgram::new_message(Rank from, Rank to, int comm, int64_t tag, size_t send_call) {
  std::vector<Posted>& posted = posted_[static_cast<size_t>(to)];
  for (size_t i = 0; i < posted.size(); ++i) {
    const Posted p = posted[i];
    if (p.comm != comm || (p.source != kAny && p.source != from) || (p.tag != kAny && p.tag != tag))
      continue;
    posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(i));
    TrueMessage& m = messages[p.message];
    m.sender = from;
    m.bytes = 4 * (1 + pick(3));
    m.tag = tag;
    m.send_call = send_call;
    return p.message;
  }
  TrueMessage m;
  m.sender = from;
  m.bytes = 4 * (1 + pick(3));
  m.receiver = to;
  m.comm = comm;
  m.tag = tag;
  m.send_call = send_call;
  messages.push_back(m);
  in_flight_.push_back(messages.size() - 1);
  return messages.size() - 1;
}

void RandomProgram::send_step() {
  const int c = static_cast<int>(pick(comms_.size()));
  const Comm& comm = comms_[static_cast<size_t>(c)];
  const bool swap = pick(2) == 0;
  const std::vector<Rank>& froms = comm.is_inter() && swap ? comm.right : comm.left;
  const std::vector<Rank>& tos = comm.is_inter() && !swap ? comm.right : comm.left;
  const Rank from = froms[pick(froms.size())], to = tos[pick(tos.size())];
  if (from == to) return;
  const auto tag = static_cast<int64_t>(pick(3));
  const size_t id = new_message(from, to, c, tag, count(from));
  TrueMessage& m = messages[id];
  const uint64_t begin = next_begin(from);
  const bool is_posted = m.post_call != kNever;
  const uint64_t posted = is_posted ? begin_of(to, m.post_call) : 0;
  const uint64_t form = pick(4);
  if (form == 0) {  // returns at once
    m.is_buffered = pick(2) == 0;
    call(from, message_shape(m.is_buffered ? "MPI_Bsend" : "MPI_Send", m, true, false, false),
         begin, 0)
        .sends = {id};
  } else if (form == 1 && is_posted) {
    m.is_synchronous = true;
    call(from, message_shape("MPI_Ssend", m, true, false, false), begin, posted).sends = {id};
  } else if (form == 1) {  // blocks until a receive that begins now
    const auto before = [&](size_t other) {
      const TrueMessage& o = messages[other];
      return other != id && o.sender == from && o.receiver == to && o.comm == c && o.tag == tag;
    };
    if (std::any_of(in_flight_.begin(), in_flight_.end(), before)) {
      call(from, message_shape("MPI_Send", m, true, false, false), begin, 0).sends = {id};
      return;
    }
    m.is_synchronous = true;
    in_flight_.pop_back();
    const uint64_t receive = next_begin(to);
    m.post_call = m.done_call = count(to);
    const ShapeWriter taker = message_shape("MPI_Recv", m, false, false, false).none();
    call(to, taker, receive, begin).receives = {id};
    call(from, message_shape("MPI_Ssend", m, true, false, false), begin, receive).sends = {id};
  } else {
    m.needs_receiver = pick(2) == 0;
    Request q;
    q.send = id;
    call_for(from, q, message_shape("MPI_Isend", m, true, false, false), begin);
    open_[static_cast<size_t>(from)].push_back(q);
  }
}

}  // namespace refrain::analysis::waits
