// A status with the source and tag that the receive asked for is stored without them
// (FieldTag::kStatusAsPosted). Here it gets them back.
#pragma once

#include <functional>

#include "refrain/calls.h"
#include "refrain/value.h"

namespace refrain::reader {

// What a kStatusAsPosted field decodes to at first: a status without source and tag.
Value posted_placeholder();
bool is_posted_placeholder(const Value& value);

// Source and tag that the call itself asks for (MPI_Recv, MPI_Irecv, MPI_Sendrecv, MPI_Probe, ...),
// as a status; null for a call without a source.
Value message_asked_for(const Signature& signature);

// Replaces the placeholders among the arguments. `posted(id)` is message_asked_for() of the
// signature that created a request.
void fill_posted_statuses(Signature& signature,
                          const std::function<const Value&(SignatureId)>& posted);

}  // namespace refrain::reader
