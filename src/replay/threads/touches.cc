#include "replay/threads/touches.h"

#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::replay {
namespace {

using mpi::Direction;
using mpi::ParamKind;

bool is_one(const Value* value) {
  return value != nullptr && value->at_exit().is_integer() && value->at_exit().number != 0;
}

Thing thing_of(ParamKind kind, int64_t number) { return {static_cast<uint8_t>(kind), number}; }
Thing started_thing(SignatureId maker) {
  return {kStarted, static_cast<int64_t>(static_cast<uint32_t>(maker))};
}

// Definitions of objects are counted from 0.
int64_t made_as(const Value& object) {
  return static_cast<int64_t>(static_cast<uint32_t>(object.definition())) + 1;
}

template <class F>
void for_each_value(const Value& value, F f) {
  if (value.is_array())
    value.for_each([&](const Value& element) { f(element); });
  else
    f(value);
}

}  // namespace

Thing request_thing(SignatureId maker) {
  return thing_of(ParamKind::kRequest, static_cast<int64_t>(static_cast<uint32_t>(maker)));
}

std::vector<size_t> completed(const Signature& s, size_t count, bool& flag) {
  std::vector<size_t> out;
  const Value* const said = s.find("flag");
  flag = said == nullptr || is_one(said);
  if (!flag) return out;
  const Value* const index = s.find("index");
  const Value* const indices = s.find("array_of_indices");
  const auto add = [&](const Value& value) {
    if (value.is_integer() && value.number >= 0 && static_cast<size_t>(value.number) < count)
      out.push_back(static_cast<size_t>(value.number));
  };
  if (index != nullptr) {
    add(index->at_exit());
  } else if (indices != nullptr) {
    indices->at_exit().for_each(add);
    const Value* const outcount = s.find("outcount");
    const bool none = outcount != nullptr && outcount->at_exit().integer_or(-1) == 0;
    if (none) flag = false;
  } else {
    for (size_t i = 0; i < count; ++i) out.push_back(i);
  }
  return out;
}

bool Touches::is_persistent(SignatureId maker) {
  const mpi::CallInfo* const info = mpi::find_call(reader_.signature(maker).call);
  return info != nullptr && info->persistent;
}

bool Touches::is_made_by_program(const Value& value) const {
  return value.is_object() &&
         mpi::constant_id(reader_.trace().object_name(value.definition())) == 0;
}

void Touches::add_objects(const Signature& s, std::vector<Touch>& out) {
  const mpi::CallInfo& info = *mpi::find_call(s.call);
  const bool frees = mpi::meaning_of(s.call).does_any(mpi::kDoesFree);
  const bool makes = mpi::meaning_of(s.call).does_any(mpi::kDoesMake);
  for (size_t i = 0; i < info.params.size() && i < s.args.size(); ++i) {
    const mpi::ParamInfo& param = info.params[i];
    if (param.kind == ParamKind::kRequest || param.kind == ParamKind::kToolHandle) continue;
    const Value& value = s.args[i].value;
    if (param.direction == Direction::kOut) {
      for_each_value(value.at_exit(), [&](const Value& one) {
        if (is_made_by_program(one))
          out.push_back({thing_of(param.kind, one.number), makes ? Effect::kMake : Effect::kSee,
                         made_as(one)});
      });
      continue;
    }
    const bool ends = frees || (value.kind == ValueKind::kChanged && !value.at_exit().is_object());
    for_each_value(value.at_entry(), [&](const Value& one) {
      if (!is_made_by_program(one)) return;
      const bool is_freed = ends && param.direction == Direction::kInOut && !s.failed();
      out.push_back({thing_of(param.kind, one.number), is_freed ? Effect::kFree : Effect::kUse,
                     made_as(one)});
    });
  }
}

void Touches::add_requests(const Signature& s, std::vector<Touch>& out) {
  const mpi::CallInfo& info = *mpi::find_call(s.call);
  const mpi::CallMeaning& meaning = mpi::meaning_of(s.call);
  const bool completes = info.group == mpi::CallGroup::kCompletion &&
                         meaning.does_any(mpi::kDoesComplete) && !meaning.does_any(mpi::kDoesLocal);
  for (size_t i = 0; i < info.params.size() && i < s.args.size(); ++i) {
    if (info.params[i].kind != ParamKind::kRequest) continue;
    const Value& value = s.args[i].value;
    if (value.at_exit().kind == ValueKind::kRequest &&
        value.at_exit().request_signature() == s.id) {
      out.push_back({request_thing(s.id), Effect::kMake});
      continue;
    }
    std::vector<Value> all;
    for_each_value(value.at_entry(), [&](const Value& one) { all.push_back(one.at_entry()); });
    std::vector<uint8_t> is_done(all.size());
    bool flag = false;
    if (completes)
      for (const size_t k : completed(s, all.size(), flag)) is_done[k] = 1;
    for (size_t k = 0; k < all.size(); ++k) {
      if (all[k].kind != ValueKind::kRequest) continue;
      const SignatureId maker = all[k].request_signature();
      const bool persists = is_persistent(maker);
      const bool is_freed = s.call == mpi::kMPI_Request_free || (is_done[k] != 0 && !persists);
      out.push_back({request_thing(maker), is_freed ? Effect::kFree : Effect::kUse});
      if (persists && (s.call == mpi::kMPI_Start || s.call == mpi::kMPI_Startall))
        out.push_back({started_thing(maker), Effect::kMake});
      if (persists && is_done[k] != 0) out.push_back({started_thing(maker), Effect::kFree});
    }
  }
}

// Collectives of a communicator, window or file are made one after the other.
void Touches::add_turn(const Signature& s, std::vector<Touch>& out) {
  const mpi::CallInfo& info = *mpi::find_call(s.call);
  if (!mpi::meaning_of(s.call).does_any(mpi::kDoesCollective)) return;
  for (size_t i = 0; i < info.params.size() && i < s.args.size(); ++i) {
    const ParamKind kind = info.params[i].kind;
    const Value& value = s.args[i].value.at_entry();
    const bool has_ranks =
        kind == ParamKind::kComm || kind == ParamKind::kWin || kind == ParamKind::kFile;
    if (!has_ranks || info.params[i].direction == Direction::kOut || !value.is_object()) continue;
    const auto definition = static_cast<int64_t>(static_cast<uint32_t>(value.definition()));
    if (is_made_by_program(value))
      out.push_back({thing_of(kind, value.number), Effect::kTurn, made_as(value)});
    else
      out.push_back({{kTurns, definition}, Effect::kTurn});
    return;
  }
}

// Where a message is looked for or received.
void Touches::add_channel(const Signature& s, std::vector<Touch>& out) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(s.call);
  const Value* const flag = s.find("flag");
  if (!meaning.does_any(mpi::kDoesReceive | mpi::kDoesProbe)) return;
  if (flag != nullptr && !is_one(flag)) return;
  const Value *source = s.find("source"), *tag = s.find("tag"), *comm = s.find("comm");
  if (tag == nullptr) tag = s.find("recvtag");
  if (source == nullptr || tag == nullptr || comm == nullptr) return;
  const Value* const status = s.find("status");
  const Value& taken = status != nullptr && status->at_exit().kind == ValueKind::kStatus
                           ? status->at_exit()
                           : s.matched;
  if (taken.kind == ValueKind::kStatus) source = &taken.source(), tag = &taken.tag();
  if (!source->is_integer() || !tag->is_integer() || !comm->is_object()) return;
  uint64_t hash = static_cast<uint64_t>(comm->number);
  for (const int64_t part : {source->number, tag->number})
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
  out.push_back({{kChannel, static_cast<int64_t>(hash)},
                 meaning.does_any(mpi::kDoesProbe) ? Effect::kLook : Effect::kTurn});
}

const std::vector<Touch>& Touches::of(const Signature& signature) {
  const auto [known, is_new] = known_.try_emplace(signature.id);
  if (!is_new || mpi::find_call(signature.call) == nullptr) return known->second;
  std::vector<Touch> out;
  add_objects(signature, out);
  add_requests(signature, out);
  add_turn(signature, out);
  add_channel(signature, out);
  return known_[signature.id] = std::move(out);
}

namespace {

class CallsOfThread : public TouchStream {
 public:
  CallsOfThread(RankReader& reader, Touches& touches, uint32_t thread)
      : reader_(reader), touches_(touches), thread_(thread) {
    rewind();
  }
  void rewind() override {
    cursor_.reset();
    if (auto made = reader_.cursor(thread_); made.ok())
      cursor_ = std::make_unique<Cursor>(std::move(*made));
  }
  bool next(Call& call) override {
    while (cursor_ != nullptr) {
      const refrain::Call* const found = cursor_->next();
      if (found == nullptr) return false;
      const std::vector<Touch>& touches = touches_.of(*found->signature);
      if (touches.empty()) continue;
      call = {found->seq, found->has_time ? found->begin_ns : 0,
              static_cast<uint32_t>(found->signature->id), &touches};
      return true;
    }
    return false;
  }

 private:
  RankReader& reader_;
  Touches& touches_;
  uint32_t thread_;
  std::unique_ptr<Cursor> cursor_;
};

}  // namespace

ThreadOrder thread_order_of(const Trace& trace, Rank rank) {
  const size_t count = trace.locations(rank).size();
  if (count <= 1) {
    ThreadOrder none;
    none.of_thread.resize(count);
    return none;
  }
  RankReader reader(trace, rank, trace.has_times() ? Times::kRead : Times::kSkip);
  Touches touches(reader);
  std::vector<std::unique_ptr<TouchStream>> threads;
  for (uint32_t t = 0; t < count; ++t)
    threads.push_back(std::make_unique<CallsOfThread>(reader, touches, t));
  return order_threads(threads, trace.has_times());
}

}  // namespace refrain::replay
