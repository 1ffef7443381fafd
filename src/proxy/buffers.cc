// Memory that calls read and write: as much of the program's arena as they touch.
#include <fmt/format.h>

#include <algorithm>

#include "mpi/call_ids.h"
#include "proxy/arguments.h"

namespace refrain::proxy {
namespace {

using format::Field;
using format::FieldTag;

std::string in_product(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}
// visit(i, value) for each number of an array.
template <class Visit>
void for_each_number(const Field& field, Visit visit) {
  uint64_t i = 0;
  for (const format::IntRun& run : field.runs)
    for (uint64_t k = 0; k < run.count; ++k)
      visit(i++, run.start + static_cast<int64_t>(k) * run.step);
  for (const Field& child : field.children)
    for (uint64_t k = 0; k < child.repeat; ++k) visit(i++, child.value);
}

}  // namespace

// Bytes of what stands at displacements, or of all counts together: the most of any rank.
std::string Arguments::blocks(const Site& site, const mpi::BufferInfo& what) {
  const Trace& trace = symbolic_.trace();
  const auto extent_of = [&](const Field& type) -> int64_t {
    if (type.tag != FieldTag::kObject) return 16;
    const auto known = trace.datatype(static_cast<DefinitionId>(type.number));
    return known ? std::max<int64_t>(known->extent_bytes, known->size_bytes) : 16;
  };
  int64_t most = 0;
  site.kind->for_each_rank([&](Rank rank) {
    const format::RankPosition who = site.kind->position(rank);
    if (what.count_param < 0) return;
    const Field counts =
        symbolic_.field_of(site.signature, static_cast<size_t>(what.count_param), who);
    std::vector<int64_t> displs, extents;
    if (what.displs_param >= 0)
      for_each_number(
          symbolic_.field_of(site.signature, static_cast<size_t>(what.displs_param), who),
          [&](uint64_t, int64_t v) { displs.push_back(v); });
    Field type;
    if (what.type_param >= 0)
      type = symbolic_.field_of(site.signature, static_cast<size_t>(what.type_param), who);
    for (const Field& child : type.children)
      extents.insert(extents.end(), static_cast<size_t>(child.repeat), extent_of(child));
    const bool has_types = type.tag == FieldTag::kArray;
    const int64_t extent = has_types ? 1 : extent_of(type);
    int64_t sum = 0;
    for_each_number(counts, [&](uint64_t i, int64_t count) {
      const int64_t own = count * (has_types && i < extents.size() ? extents[i] : extent);
      sum += own;
      if (i < displs.size()) most = std::max(most, displs[i] * extent + own);
    });
    if (displs.empty()) most = std::max(most, sum);
  });
  return fmt::format("{}", most);
}

// Memory that MPI uses after the call, of a window or for buffered sends, is no other call's. By
// the object that it belongs to, of which there is one of a number at a time; empty: other memory.
std::string Arguments::memory_that_stays(const Site& site) {
  const mpi::CallId plain = site.call->meaning->plain;
  const bool is_of_session = plain == mpi::kMPI_Session_attach_buffer;
  const char* owner = plain == mpi::kMPI_Win_create           ? "win"
                      : plain == mpi::kMPI_Comm_attach_buffer ? "comm"
                      : is_of_session                         ? "session"
                                                              : nullptr;
  if (plain == mpi::kMPI_Buffer_attach) return "attached(0, ";
  if (owner == nullptr) return "";
  const Field& f = at_entry(field(site, static_cast<size_t>(find(site, owner))));
  const std::string name = f.tag == FieldTag::kObject ? text(site, object(site, f)) : "";
  const size_t begin = name.find('['), end = name.rfind(']');
  const bool has_number = begin != std::string::npos && end != std::string::npos;
  const std::string number = has_number ? name.substr(begin + 1, end - begin - 1) : "";
  if (plain == mpi::kMPI_Win_create)
    return "memory_of_window(" + (has_number ? number : std::string("0")) + ", ";
  if (!has_number) return name == "MPI_COMM_SELF" ? "attached(1, " : "attached(2, ";
  return fmt::format("attached({} + 2 * ({}), ", is_of_session ? 3 : 4, number);
}

Argument Arguments::buffer(const Site& site, size_t parameter) {
  const Field& f = field(site, parameter);
  const mpi::BufferInfo* what = nullptr;
  for (const mpi::BufferInfo& one : site.call->meaning->buffers)
    if (one.param == static_cast<int>(parameter)) what = &one;
  // Absolute addresses of the recorded program: memory at as large a distance from the buffer.
  const bool is_absolute = is_constant(f, "MPI_BOTTOM") && what != nullptr &&
                           what->type_param >= 0 &&
                           value_text(site, what->type_param).find('[') != std::string::npos;
  if (is_absolute && what->extent != mpi::Extent::kElements)
    fail("MPI_BOTTOM with addresses of the program");
  if (f.tag == FieldTag::kConst && !is_absolute)
    return Argument(std::string(mpi::constant_name(static_cast<uint32_t>(f.number))));
  const int request = new_request(site);
  const bool is_written = what != nullptr && what->is_written;
  std::string out = is_written ? "received(" : "sent(";
  if (request >= 0) out += fmt::format("{}, ", request);
  if (what == nullptr) return Argument(out + "0, MPI_BYTE)");
  const std::string type = what->type_param < 0 || what->extent == mpi::Extent::kBytes
                               ? "MPI_BYTE"
                               : value_text(site, what->type_param);
  switch (what->extent) {
    case mpi::Extent::kUnknown: return Argument(out + "0, MPI_BYTE)");
    case mpi::Extent::kBytes:
    case mpi::Extent::kElements: break;
    default: return Argument(out + blocks(site, *what) + ", MPI_BYTE)");
  }
  std::string count = value_text(site, what->count_param);
  if (const std::string stays = memory_that_stays(site); !stays.empty())
    return Argument(stays + count + ")");
  const int comm = site.call->info->comm_param;
  const std::string group = comm < 0 ? "MPI_COMM_WORLD" : value_text(site, comm);
  const std::string place = group == "MPI_COMM_WORLD"  ? ""
                            : group == "MPI_COMM_SELF" ? "alone"
                                                       : group;
  switch (what->times) {
    case mpi::Times::kOnce: break;
    case mpi::Times::kSize:
    case mpi::Times::kLocalSize:
      count = (place.empty() ? "size" : place + ".size()") + " * " + in_product(count);
      break;
    case mpi::Times::kInDegree:
    case mpi::Times::kOutDegree: count = "neighbours(" + group + ") * " + in_product(count); break;
    case mpi::Times::kParts:
      count = in_product(value_text(site, what->times_param)) + " * " + in_product(count);
      break;
  }
  return Argument(out + count + ", " + type + ")");
}

}  // namespace refrain::proxy
