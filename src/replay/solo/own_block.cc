// What a rank sends itself in a collective: what names this process in it is what it passes now.
//
// The log has the whole buffer that a gather has filled, the rank's own block included. That block
// is the one part whose origin is in this process, and it may hold what has another value in each:
// ranks tell each other the addresses of their memory by MPI_Allgather, and use their own one.
// The rest of it stays as it is in the log. A program may compute something else each time (random
// numbers, times, threads), and what the other ranks did fits what it had sent in the recorded run.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/call_ids.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

using mpi::BufferInfo;
using mpi::Extent;
using mpi::ParamKind;

const BufferInfo* buffer_of(const mpi::CallMeaning& meaning, bool is_written) {
  for (const BufferInfo& buffer : meaning.buffers)
    if (buffer.param >= 0 && buffer.is_written == is_written) return &buffer;
  return nullptr;
}

bool has_blocks(CallId plain) {
  switch (plain) {
    case mpi::kMPI_Allgather:
    case mpi::kMPI_Allgatherv:
    case mpi::kMPI_Alltoall:
    case mpi::kMPI_Alltoallv:
    case mpi::kMPI_Gather:
    case mpi::kMPI_Gatherv:
    case mpi::kMPI_Scatter:
    case mpi::kMPI_Scatterv: return true;
    default: return false;
  }
}

template <class T>
T word_at(const std::vector<std::byte>& bytes, size_t at) {
  T word;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

bool is_mapped(uint64_t address) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char is_there = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &is_there) == 0;
}

bool may_be_address(uint64_t word) { return word >= (1u << 16) && word < uint64_t{1} << 47; }

// How many bytes there name this process, where the log has what named the recorded one; 0: none.
size_t own_bytes(const std::vector<std::byte>& now, const std::vector<std::byte>& logged, size_t at,
                 const char* host) {
  const size_t left = now.size() - at;
  if (left >= sizeof(uint64_t)) {
    const auto word = word_at<uint64_t>(now, at), recorded = word_at<uint64_t>(logged, at);
    if (word != recorded && may_be_address(word) && may_be_address(recorded) && is_mapped(word))
      return sizeof word;
  }
  if (word_at<pid_t>(now, at) == getpid()) return sizeof(pid_t);
  const size_t length = std::strlen(host) + 1;
  const bool has_name =
      length > 1 && left >= length && std::memcmp(now.data() + at, host, length) == 0;
  return has_name ? length : 0;
}

}  // namespace

// The rank of this process in the communicator of a call in which it sends a block to itself, and
// gets it when the call returns; -1: it is no such call.
int Player::plan_own_block(const Signature& signature, const Plan& plan) const {
  if (!has_blocks(plan.meaning->plain) || plan.makes_request || plan.buffers.empty() ||
      signature.failed())
    return -1;
  const Value* const comm = signature.find("comm");
  if (comm == nullptr || !comm->is_object()) return -1;
  const auto members = trace_->communicator(comm->definition(), options_.rank);
  if (!members || members->is_inter) return -1;
  if (const Value* const root = signature.find("root"); root != nullptr)
    if (number_of(root->at_entry()) != static_cast<int64_t>(members->me)) return -1;
  return static_cast<int>(members->me);
}

// Where the block is that rank `me` sends itself, or receives from itself. No type: nowhere.
Place Player::own_block(const Frame& frame, const BufferInfo& buffer) {
  const auto param = [](int8_t i) { return static_cast<size_t>(i); };
  const auto me = static_cast<uint64_t>(frame.plan->own_rank);
  const Given& given = frame.given;
  Place place;
  const mpi::TypeMap* const type = type_of(given.key(param(buffer.type_param)));
  if (type == nullptr) return place;
  const bool is_list = buffer.extent == Extent::kBlocks;
  const int64_t count = given.number(param(buffer.count_param), is_list ? me : 0);
  if (count <= 0) return place;
  int64_t elements = 0;  // in front of it
  if (is_list)
    elements = given.number(param(buffer.displs_param), me);
  else if (buffer.times != mpi::Times::kOnce)
    elements = static_cast<int64_t>(me) * count;
  place.at = given.address<std::byte>(param(buffer.param)) + elements * type->extent();
  place.type = *type;
  place.count = static_cast<uint64_t>(count);
  return place;
}

// Before the buffer is filled: with MPI_IN_PLACE the block is there.
void Player::keep_own_block(const Frame& frame) {
  own_block_.clear();
  const BufferInfo* const in = buffer_of(frame.meaning, false);
  const BufferInfo* const out = buffer_of(frame.meaning, true);
  if (in == nullptr || out == nullptr) return;
  const bool is_in_place =
      frame.value(static_cast<size_t>(in->param)).at_entry().name() == "MPI_IN_PLACE";
  const Place from = own_block(frame, is_in_place ? *out : *in);
  if (from.count == 0) return;
  own_block_.resize(from.count * static_cast<uint64_t>(from.type.size()));
  from.type.pack(from.at, from.count, own_block_);
}

void Player::put_own_block(const Frame& frame, bool is_logged) {
  if (own_block_.empty()) return;
  const Place to = own_block(frame, *buffer_of(frame.meaning, true));
  if (to.count == 0) return;
  if (!is_logged) {
    to.type.unpack(own_block_, to.count, to.at);
    return;
  }
  logged_block_.resize(to.count * static_cast<uint64_t>(to.type.size()));
  to.type.pack(to.at, to.count, logged_block_);
  if (own_block_ == logged_block_ || own_block_.size() != logged_block_.size()) return;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  bool is_own = false;
  for (size_t at = 0; at + sizeof(pid_t) <= own_block_.size(); at += sizeof(pid_t)) {
    const size_t bytes = own_bytes(own_block_, logged_block_, at, host);
    if (bytes == 0) continue;
    is_own = true;
    std::memcpy(logged_block_.data() + at, own_block_.data() + at, bytes);
  }
  if (is_own) to.type.unpack(logged_block_, to.count, to.at);
}

}  // namespace refrain::replay::solo
