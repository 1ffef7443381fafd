#include "events/call_class.h"

#include "mpi/call_table.h"

namespace refrain::events {

CallClass class_of(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  if (info == nullptr) return CallClass::kOther;
  switch (info->group) {
    case mpi::CallGroup::kP2p:
    case mpi::CallGroup::kPersist:
      switch (info->traffic) {
        case mpi::Traffic::kSend: return CallClass::kSend;
        case mpi::Traffic::kStart: return CallClass::kSend;
        default: return CallClass::kReceive;
      }
    case mpi::CallGroup::kCompletion: return CallClass::kCompletion;
    case mpi::CallGroup::kColl: return CallClass::kCollective;
    case mpi::CallGroup::kRma: return CallClass::kOneSided;
    case mpi::CallGroup::kIo: return CallClass::kFile;
    default: return CallClass::kOther;
  }
}

std::string_view name_of(CallClass c) {
  switch (c) {
    case CallClass::kNone: return "none";
    case CallClass::kSend: return "send";
    case CallClass::kReceive: return "receive";
    case CallClass::kCompletion: return "completion";
    case CallClass::kCollective: return "collective";
    case CallClass::kOneSided: return "one_sided";
    case CallClass::kFile: return "file";
    case CallClass::kOther: return "other";
  }
  return "";
}

}  // namespace refrain::events
