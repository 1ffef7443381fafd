#include "tracer/times/mark_of.h"

#include <string>

#include "base/bytes.h"
#include "mpi/call_ids.h"

namespace refrain::tracer {

namespace {

// The name of the function that a definition is the address of.
std::string name_of_function(const std::vector<format::Definition>& all, uint64_t id) {
  if (id >= all.size()) return {};
  const format::Definition& site = all[id];
  if (site.kind != format::DefinitionKind::kSite) return {};
  // As docs/format.md has the payload of a call site: the offset in its module.
  base::ByteReader in(site.payload);
  const int64_t offset = in.zigzag();
  if (!in.ok() || offset < 0) return {};
  // The module is not known where the code was made at run time.
  if (site.refs.empty()) return format::function_name({}, offset);
  base::ByteReader module(all[site.refs[0]].payload);
  return format::function_name(module.string(), offset);
}

}  // namespace

// Asked for each call, so it looks at nothing but the function.
bool may_be_mark(mpi::CallId call) {
  switch (call) {
    case mpi::krefrain_region_begin:
    case mpi::krefrain_region_end:
    case mpi::krefrain_instance:
    case mpi::krefrain_function_enter:
    case mpi::krefrain_function_leave:
    case mpi::kMPI_Pcontrol: return true;
    default: return false;
  }
}

format::Mark mark_of(const format::CallFields& call,
                     const std::vector<format::Definition>& definitions) {
  using MarkKind = format::Mark::Kind;
  if (call.parameters.empty()) return {};
  const format::Field& first = call.parameters[0];
  // A name that was not recorded as a text (a null pointer) is a mark without a name.
  const std::string text(first.tag == format::FieldTag::kString ? first.text : "");
  switch (call.call_id) {
    case mpi::krefrain_region_begin: return {MarkKind::kBegin, text};
    case mpi::krefrain_region_end: return {MarkKind::kEnd, text};
    case mpi::krefrain_instance: return {MarkKind::kInstance, text};
    case mpi::krefrain_function_enter:
      return {MarkKind::kBegin, name_of_function(definitions, first.number)};
    case mpi::krefrain_function_leave:
      return {MarkKind::kEnd, name_of_function(definitions, first.number)};
    case mpi::kMPI_Pcontrol: return format::mark_of_level(first.value);
    default: return {};
  }
}

}  // namespace refrain::tracer
