// Enters, leaves, messages and collectives; windows and files are in otf2_windows.cc.

#include "convert/otf2_events.h"

#include <algorithm>

#include "convert/parameter_text.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "sim/lower/collective_bytes.h"

namespace refrain::convert {
namespace {

struct OpRow {
  CallId call;
  OTF2_CollectiveOp op;
};
constexpr OpRow kOps[] = {{mpi::kMPI_Barrier, OTF2_COLLECTIVE_OP_BARRIER},
                          {mpi::kMPI_Bcast, OTF2_COLLECTIVE_OP_BCAST},
                          {mpi::kMPI_Gather, OTF2_COLLECTIVE_OP_GATHER},
                          {mpi::kMPI_Gatherv, OTF2_COLLECTIVE_OP_GATHERV},
                          {mpi::kMPI_Scatter, OTF2_COLLECTIVE_OP_SCATTER},
                          {mpi::kMPI_Scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
                          {mpi::kMPI_Allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
                          {mpi::kMPI_Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
                          {mpi::kMPI_Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
                          {mpi::kMPI_Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
                          {mpi::kMPI_Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
                          {mpi::kMPI_Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
                          {mpi::kMPI_Reduce, OTF2_COLLECTIVE_OP_REDUCE},
                          {mpi::kMPI_Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
                          {mpi::kMPI_Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
                          {mpi::kMPI_Scan, OTF2_COLLECTIVE_OP_SCAN},
                          {mpi::kMPI_Exscan, OTF2_COLLECTIVE_OP_EXSCAN},
                          {mpi::kMPI_Win_fence, OTF2_COLLECTIVE_OP_BARRIER}};

uint32_t tag_of(int64_t tag) { return static_cast<uint32_t>(tag); }

}  // namespace

OtfEvents::OtfEvents(Job& job, events::World& world, events::Survey& survey,
                     OtfDefinitions& definitions, events::CommRanks& ranks,
                     events::RankEvents& events, OTF2_Archive* archive)
    : job_(job),
      world_(world),
      survey_(survey),
      definitions_(definitions),
      ranks_(ranks),
      events_(events),
      transfers_(events.reader()),
      archive_(archive),
      attributes_(OTF2_AttributeList_New()) {}

OtfEvents::~OtfEvents() {
  close();
  OTF2_AttributeList_Delete(attributes_);
}

OTF2_EvtWriter* OtfEvents::writer(uint32_t thread) {
  OTF2_EvtWriter*& slot = writers_[thread];
  if (slot == nullptr)
    slot = OTF2_Archive_GetEvtWriter(archive_, otf_location(events_.reader().rank(), thread));
  if (slot == nullptr) is_good_ = false;
  return slot;
}

void OtfEvents::at(uint64_t ns) {
  first_ns_ = std::min(first_ns_, ns);
  last_ns_ = std::max(last_ns_, ns);
}

std::vector<OtfLocation> OtfEvents::close() {
  std::vector<OtfLocation> out;
  const Rank rank = events_.reader().rank();
  for (auto& [thread, writer] : writers_) {
    if (writer == nullptr) continue;
    OtfLocation location{otf_location(rank, thread), rank, thread, 0};
    check(OTF2_EvtWriter_GetNumberOfEvents(writer, &location.events));
    check(OTF2_Archive_CloseEvtWriter(archive_, writer));
    out.push_back(location);
  }
  writers_.clear();
  return out;
}

events::CommView OtfEvents::view(const Signature& call, std::string_view parameter) {
  const Value* value = call.find(parameter);
  const bool is_object = value != nullptr && value->at_entry().is_object();
  return world_.comms.view(is_object ? value->at_entry().definition() : kNoDefinition,
                           events_.reader().rank());
}

void OtfEvents::enter_region(uint32_t thread, uint64_t ns, RegionId region) {
  OTF2_EvtWriter* out = writer(thread);
  if (out == nullptr) return;
  at(ns);
  check(OTF2_EvtWriter_Enter(out, nullptr, ns, definitions_.user_region(region)));
}

void OtfEvents::leave_region(uint32_t thread, uint64_t ns, RegionId region) {
  OTF2_EvtWriter* out = writer(thread);
  if (out == nullptr) return;
  at(ns);
  check(OTF2_EvtWriter_Leave(out, nullptr, ns, definitions_.user_region(region)));
}

bool OtfEvents::is_collective(const events::Event& call) const {
  return call.collective.is_there && call.op->action == events::Action::kCollective &&
         !call.op->makes_request && call.op->collective != events::CollectiveKind::kInit &&
         call.op->collective != events::CollectiveKind::kFinalize;
}

void OtfEvents::enter(const events::Event& call) {
  OTF2_EvtWriter* out = writer(call.thread);
  if (out == nullptr) return;
  at(call.begin_ns);
  const std::string& site = job_.sites.name(call.call->site);
  if (!site.empty())
    check(OTF2_AttributeList_AddStringRef(attributes_, OtfDefinitions::kSite,
                                          definitions_.string(site)));
  if (call.call->failed())
    check(OTF2_AttributeList_AddStringRef(attributes_, OtfDefinitions::kError,
                                          definitions_.string(call.call->error_class.name())));
  check(OTF2_EvtWriter_Enter(out, attributes_, call.begin_ns,
                             definitions_.call_region(call.call->call)));
  OTF2_AttributeList_RemoveAllAttributes(attributes_);
  if (is_collective(call)) check(OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, call.begin_ns));
  for (const events::Step& step : call.steps) begin_step(out, call.begin_ns, step);
  const mpi::CallInfo* info = mpi::find_call(call.call->call);
  if (info == nullptr) return;
  if (info->group == mpi::CallGroup::kRma) enter_window(out, call);
  if (info->group == mpi::CallGroup::kIo) enter_file(out, call);
  if (info->id == mpi::kMPI_Comm_set_name && call.call->find("comm_name") != nullptr)
    definitions_.name_comm(view(*call.call, "comm"), call.call->find("comm_name")->text);
  if (info->id == mpi::krefrain_instance)
    check(OTF2_EvtWriter_ParameterInt(
        out, nullptr, call.begin_ns,
        definitions_.instance(call.call->find("name") == nullptr ? std::string_view()
                                                                 : call.call->find("name")->text),
        call.call->find("number") == nullptr ? 0 : call.call->find("number")->integer_or(0)));
}

void OtfEvents::leave(const events::Event& call) {
  OTF2_EvtWriter* out = writer(call.thread);
  if (out == nullptr) return;
  at(call.end_ns);
  for (const events::Step& step : call.steps) end_step(out, call.end_ns, step);
  const mpi::CallInfo* info = mpi::find_call(call.call->call);
  if (info != nullptr && info->group == mpi::CallGroup::kRma) leave_window(out, call);
  if (info != nullptr && info->group == mpi::CallGroup::kIo) leave_file(out, call);
  if (is_collective(call)) {
    const CollectiveRecord c = collective(*call.op, *call.call);
    ++job_.out.collectives;
    check(OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, call.end_ns, c.op,
                                          definitions_.comm(call.op->comm), c.root, c.sent,
                                          c.received));
  }
  check(OTF2_EvtWriter_Leave(out, nullptr, call.end_ns, definitions_.call_region(call.call->call)));
}

OTF2_AttributeList* OtfEvents::message_attributes(const events::Step& step, bool sends) {
  const bool has_two = step.made_by->find("sendcount") != nullptr;
  const Value* count = step.made_by->find(!has_two ? "count" : sends ? "sendcount" : "recvcount");
  const Value* type = step.made_by->find(!has_two ? "datatype" : sends ? "sendtype" : "recvtype");
  if (count != nullptr && sends)
    check(OTF2_AttributeList_AddUint64(attributes_, OtfDefinitions::kCount,
                                       events::sum_of_counts(count->at_entry())));
  if (type != nullptr)
    check(OTF2_AttributeList_AddStringRef(attributes_, OtfDefinitions::kDatatype,
                                          definitions_.string(plain_text(job_, type->at_entry()))));
  return attributes_;
}

void OtfEvents::send(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step) {
  const events::CommView comm = view(*step.made_by, "comm");
  const auto dest = static_cast<uint32_t>(ranks_.of(comm, step.channel.dest));
  OTF2_AttributeList* attributes = message_attributes(step, true);
  ++job_.out.sends;
  if (step.kind == events::StepKind::kSend) {
    check(OTF2_EvtWriter_MpiSend(out, attributes, ns, dest, definitions_.comm(comm),
                                 tag_of(step.channel.tag), step.bytes));
  } else {
    requests_.insert(step.request);
    check(OTF2_EvtWriter_MpiIsend(out, attributes, ns, dest, definitions_.comm(comm),
                                  tag_of(step.channel.tag), step.bytes, step.request * 2));
  }
  OTF2_AttributeList_RemoveAllAttributes(attributes_);
}

void OtfEvents::receive(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step) {
  const events::CommView comm = view(*step.made_by, "comm");
  const auto source = static_cast<uint32_t>(ranks_.of(comm, step.channel.source));
  const auto bytes = survey_.bytes(step);
  if (!bytes) job_.not_held("receives whose sender is not there: their bytes are the room");
  OTF2_AttributeList* attributes = message_attributes(step, false);
  ++job_.out.receives;
  if (step.kind == events::StepKind::kReceive)
    check(OTF2_EvtWriter_MpiRecv(out, attributes, ns, source, definitions_.comm(comm),
                                 tag_of(step.channel.tag), bytes.value_or(step.bytes)));
  else
    check(OTF2_EvtWriter_MpiIrecv(out, attributes, ns, source, definitions_.comm(comm),
                                  tag_of(step.channel.tag), bytes.value_or(step.bytes),
                                  step.request * 2 + 1));
  OTF2_AttributeList_RemoveAllAttributes(attributes_);
}

// A request that sends and receives (MPI_Isendrecv) is two to OTF2: twice its number, and one more.
void OtfEvents::begin_step(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step) {
  if (step.kind == events::StepKind::kPostCollective) {
    requests_.insert(step.request);
    check(OTF2_EvtWriter_NonBlockingCollectiveRequest(out, nullptr, ns, step.request * 2));
  }
  if (!step.has_message && !step.is_cancelled) return;
  if (step.begins_send()) send(out, ns, step);
  if (step.kind != events::StepKind::kPostReceive) return;
  requests_.insert(step.request);
  check(OTF2_EvtWriter_MpiIrecvRequest(out, nullptr, ns, step.request * 2 + 1));
}

void OtfEvents::end_step(OTF2_EvtWriter* out, uint64_t ns, const events::Step& step) {
  if (step.kind == events::StepKind::kReceive && step.has_message) return receive(out, ns, step);
  if (step.kind != events::StepKind::kSendDone && step.kind != events::StepKind::kReceiveDone &&
      step.kind != events::StepKind::kCollectiveDone && step.kind != events::StepKind::kTested &&
      step.kind != events::StepKind::kCancelled)
    return;
  if (requests_.count(step.request) == 0) return;  // made before the window, or of no message
  const bool receives = step.op->action == events::Action::kReceive ||
                        step.op->action == events::Action::kMatchedReceive;
  const uint64_t id = step.request * 2 + (receives ? 1 : 0);
  switch (step.kind) {
    case events::StepKind::kSendDone:
      if (step.has_message)
        check(OTF2_EvtWriter_MpiIsendComplete(out, nullptr, ns, step.request * 2));
      break;
    case events::StepKind::kReceiveDone:
      if (step.has_message) receive(out, ns, step);
      break;
    case events::StepKind::kTested:
      check(OTF2_EvtWriter_MpiRequestTest(out, nullptr, ns, id));
      return;
    case events::StepKind::kCancelled:
      check(OTF2_EvtWriter_MpiRequestCancelled(out, nullptr, ns, step.request * 2 + 1));
      break;
    default: {
      const CollectiveRecord c = collective(*step.op, *step.made_by);
      ++job_.out.collectives;
      check(OTF2_EvtWriter_NonBlockingCollectiveComplete(out, nullptr, ns, c.op,
                                                         definitions_.comm(step.op->comm), c.root,
                                                         c.sent, c.received, id));
    }
  }
  if (step.op->action != events::Action::kSendReceive ||
      step.kind == events::StepKind::kReceiveDone)
    requests_.erase(step.request);
}

OtfEvents::CollectiveRecord OtfEvents::collective(const events::Op& op, const Signature& call) {
  CollectiveRecord out;
  const CallId plain = mpi::plain_call(call.call);
  out.op = OTF2_COLLECTIVE_OP_CREATE_HANDLE;  // calls that make communicators and windows
  for (const OpRow& row : kOps)
    if (plain == row.call) out.op = row.op;
  if (plain == mpi::kMPI_Win_free) out.op = OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
  if (plain == mpi::kMPI_Win_allocate || plain == mpi::kMPI_Win_allocate_shared)
    out.op = OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;
  // A root in the other group of an inter-communicator is a rank of it; MPI_ROOT is this rank.
  const Value* root = call.find("root");
  const Rank me = events_.reader().rank();
  if (root != nullptr && root->at_entry().is_integer())
    out.root =
        static_cast<uint32_t>(ranks_.of(op.comm, op.comm.comm.peer(root->at_entry().number)));
  if (root != nullptr && root->at_entry().name() == "MPI_ROOT")
    out.root = static_cast<uint32_t>(ranks_.of(op.comm, me));
  out.sent = bytes_of(call.id);
  out.received = sim::received_bytes(job_.trace, call, op.comm.comm);
  return out;
}

}  // namespace refrain::convert
