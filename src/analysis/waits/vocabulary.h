// Names of src/events that the analysis of waiting uses without a qualifier.
#pragma once

#include "events/channel.h"
#include "events/look_ahead.h"
#include "events/matching.h"
#include "events/op.h"

namespace refrain::analysis::waits {

using events::Action;
using events::CallSource;
using events::CallStream;
using events::channel_of_receive;
using events::channel_of_send;
using events::ChannelHash;
using events::ChannelKey;
using events::ClockedCall;
using events::CollectiveKind;
using events::CommKey;
using events::CommTable;
using events::CommView;
using events::Decoder;
using events::EpochCall;
using events::FlatMap;
using events::IntegerHash;
using events::kAny;
using events::kNobody;
using events::kNoComm;
using events::LookAhead;
using events::MessageEnd;
using events::Op;
using events::OtherCall;
using events::PlaceId;
using events::RequestUse;
using events::Role;
using events::SignatureSource;
using events::StagedCall;
using events::Topologies;
using events::TraceCalls;

}  // namespace refrain::analysis::waits
