#include "replay/plan/needs.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/buffers/touched.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"

namespace refrain::replay::plan {
namespace {

constexpr uint64_t kMostLooks = 2000000;  // of all ranks, that are looked at
constexpr uint64_t kUnknownBytes = 4096;

uint64_t bytes_of(const Trace& trace, const Signature& call, Rank rank) {
  const auto comm = trace.communicator(call.context, rank);
  uint64_t sum = 0;
  for (const events::Touched& one :
       events::touched_by(trace, call, comm ? *comm : trace.world(rank),
                          [](DefinitionId) { return events::Degrees(); }))
    sum = events::add(sum, one.is_sized ? one.bytes : kUnknownBytes);
  return sum;
}

// Memory that is in use beyond its call.
bool keeps(const Signature& call) {
  const Value* const request = call.find("request");
  if (request != nullptr && request->at_exit().kind == ValueKind::kRequest) return true;
  const mpi::CallInfo* const info = mpi::find_call(call.call);
  const mpi::CallMeaning& meaning = mpi::meaning_of(call.call);
  return meaning.does_any(mpi::kDoesAccess) ||
         (meaning.does_any(mpi::kDoesMake) && info != nullptr &&
          info->group != mpi::CallGroup::kComm) ||
         meaning.plain == mpi::kMPI_Buffer_attach || meaning.plain == mpi::kMPI_Alloc_mem;
}

uint64_t signatures_of_all(const Trace& trace) {
  uint64_t sum = 0;
  for (GroupId group = 0; group < trace.group_count(); ++group)
    sum = events::add(sum,
                      events::multiply(trace.group_size(group), trace.occurrences(group).size()));
  return sum;
}

// ---- files ----

// How far a rank's calls reach into the files that a handle stood for.
struct Reach {
  uint64_t offset = 0, etype_bytes = 1;  // explicit offsets and seeks count in etypes
  uint64_t longest = 0;                  // of the calls with an offset
  uint64_t sum = 0;                      // of what moves the rank's own pointer
  uint64_t shared = 0;                   // of what moves that of all ranks
  uint64_t displacement = 0;             // of views
  uint64_t stretch = 1;                  // bytes of the file for a byte of data
  uint64_t said_bytes = 0;               // by MPI_File_get_size: the least
  bool reads = false;
};

uint64_t positive(const Signature& call, const char* parameter) {
  const int64_t n = events::argument(call, parameter).integer_or(0);
  return n > 0 ? static_cast<uint64_t>(n) : 0;
}

bool moves_shared_pointer(CallId plain) {
  return plain == mpi::kMPI_File_read_shared || plain == mpi::kMPI_File_write_shared ||
         plain == mpi::kMPI_File_read_ordered || plain == mpi::kMPI_File_write_ordered;
}

class Files {
 public:
  explicit Files(const Trace& trace) : trace_(trace) {}

  void add(Rank rank, const std::vector<Trace::Occurrence>& all) {
    RankReader reader(trace_, rank);
    std::map<int64_t, Reach> reaches;                   // by handle
    std::map<int64_t, std::vector<std::string>> paths;  // that it stood for
    for (const Trace::Occurrence& seen : all) {
      const mpi::CallInfo* const info = mpi::find_call(trace_.call_of(seen.signature));
      if (info == nullptr || info->group != mpi::CallGroup::kIo) continue;
      const Signature& call = reader.signature(seen.signature);
      const Value* const file = call.find("fh");
      if (file == nullptr) continue;
      if (call.call == mpi::kMPI_File_open) {
        const std::string& path = events::argument(call, "filename").text;
        note_open(call, path);
        if (file->at_exit().is_object()) paths[file->at_exit().number].push_back(path);
      } else if (file->at_entry().is_object()) {
        reach(rank, call, seen.calls, reaches[file->at_entry().number]);
      }
    }
    for (const auto& [handle, reach] : reaches)
      for (const std::string& path : paths[handle]) end(path, reach);
  }

  // A program that makes a file may find one of an earlier run, and ask how long it is before it
  // writes. Reads the calls of ranks up to there, in order, where one of them asked at all.
  void look_for_old_files() {
    const bool is_asked = std::any_of(files_.begin(), files_.end(), [](const auto& file) {
      return file.second.is_created && file.second.said_bytes > 0;
    });
    uint64_t left = kMostLooks;
    for (Rank rank = 0; is_asked && rank < trace_.rank_count(); ++rank) look(rank, left);
  }

  std::vector<FileNeed> needs() const {
    std::vector<FileNeed> out;
    for (const auto& [path, file] : files_) {
      out.push_back({path, 0});
      if (file.is_read && !file.is_created)
        out.back().bytes =
            file.said_bytes > 0 ? file.said_bytes : events::add(file.bytes, file.shared);
      // All who open it do so together at first: nobody has written before.
      if (file.is_created && file.first_opens == file.least_openers &&
          file.first_opens == file.most_openers)
        out.back().bytes = file.found_bytes;
    }
    return out;
  }

 private:
  struct File {
    bool is_created = false, is_read = false;
    uint64_t bytes = 0, shared = 0, said_bytes = 0;
    // Of files that are created: as long as they were before, ranks that open them, and of how many
    // the communicator is with which each does so at first.
    uint64_t found_bytes = 0, first_opens = 0, least_openers = UINT64_MAX, most_openers = 0;
  };

  void look(Rank rank, uint64_t& left) {
    RankReader reader(trace_, rank);
    std::set<std::string> opened;
    std::map<int64_t, std::string> fresh;  // by handle: nobody can have written since
    (void)reader.for_each_call(0, [&](const Call& made) {
      if (left == 0) return false;
      --left;
      const Signature& call = *made.signature;
      if (call.failed()) return true;
      const Value* const file = call.find("fh");
      if (call.call == mpi::kMPI_File_open && file != nullptr) {
        fresh.clear();
        const std::string& path = events::argument(call, "filename").text;
        if (!opened.insert(path).second) return true;
        note_first_open(rank, call, files_[path]);
        if (file->at_exit().is_object()) fresh[file->at_exit().number] = path;
      } else if (call.call == mpi::kMPI_File_get_size && file != nullptr) {
        const auto of = fresh.find(file->at_entry().number);
        const Value* const size = call.find("size");
        if (of == fresh.end() || size == nullptr) return true;
        uint64_t& found = files_[of->second].found_bytes;
        found = std::max(
            found, static_cast<uint64_t>(std::max<int64_t>(0, size->at_exit().integer_or(0))));
      } else if (!mpi::meaning_of(call.call).does_any(mpi::kDoesLocal)) {
        fresh.clear();
      }
      return opened.size() < files_.size() || !fresh.empty();
    });
  }

  void note_first_open(Rank rank, const Signature& call, File& file) const {
    const auto comm = trace_.communicator(events::argument(call, "comm").definition(), rank);
    const uint64_t openers = comm ? comm->size() : 0;
    ++file.first_opens;
    file.least_openers = std::min(file.least_openers, openers);
    file.most_openers = std::max(file.most_openers, openers);
  }

  void note_open(const Signature& call, const std::string& path) {
    File& file = files_[path];
    const Value& mode = events::argument(call, "amode");
    bool creates = mode.name() == "MPI_MODE_CREATE";
    for (const Value& bit : mode.items) creates = creates || bit.name() == "MPI_MODE_CREATE";
    file.is_created = file.is_created || creates;
  }

  void note_view(const Signature& call, Reach& out) const {
    out.displacement = std::max(out.displacement, positive(call, "disp"));
    const auto etype = events::element_bytes(trace_, events::argument(call, "etype"));
    out.etype_bytes = std::max(out.etype_bytes, etype.value_or(1));
    const auto type = trace_.datatype(events::argument(call, "filetype").definition());
    if (!type || type->size_bytes <= 0 || type->extent_bytes <= type->size_bytes) return;
    out.stretch = std::max(
        out.stretch,
        static_cast<uint64_t>(type->extent_bytes) / static_cast<uint64_t>(type->size_bytes) + 1);
  }

  void reach(Rank rank, const Signature& call, uint64_t calls, Reach& out) const {
    const mpi::CallMeaning& meaning = mpi::meaning_of(call.call);
    if (meaning.plain == mpi::kMPI_File_set_view) return note_view(call, out);
    if (call.call == mpi::kMPI_File_get_size) {
      const Value* const size = call.find("size");
      const int64_t said = size == nullptr ? 0 : size->at_exit().integer_or(0);
      if (said > 0 && (out.said_bytes == 0 || static_cast<uint64_t>(said) < out.said_bytes))
        out.said_bytes = static_cast<uint64_t>(said);
      return;
    }
    if (meaning.plain == mpi::kMPI_File_seek || meaning.plain == mpi::kMPI_File_seek_shared)
      out.offset = std::max(out.offset, positive(call, "offset"));
    if (!meaning.does_any(mpi::kDoesFile) || meaning.buffers.empty()) return;
    const uint64_t bytes = bytes_of(trace_, call, rank);
    for (const mpi::BufferInfo& buffer : meaning.buffers)
      out.reads = out.reads || buffer.is_written;
    if (call.find("offset") != nullptr) {
      out.offset = std::max(out.offset, positive(call, "offset"));
      out.longest = std::max(out.longest, bytes);
    } else {
      uint64_t& sum = moves_shared_pointer(meaning.plain) ? out.shared : out.sum;
      sum = events::add(sum, events::multiply(bytes, calls));
    }
  }

  void end(const std::string& path, const Reach& reach) {
    File& file = files_[path];
    file.is_read = file.is_read || reach.reads;
    uint64_t data = events::multiply(reach.offset, reach.etype_bytes);
    data = events::add(data, events::add(reach.longest, reach.sum));
    file.bytes = std::max(file.bytes,
                          events::add(reach.displacement, events::multiply(data, reach.stretch)));
    file.shared = events::add(file.shared, events::multiply(reach.shared, reach.stretch));
    if (reach.said_bytes > 0 && (file.said_bytes == 0 || reach.said_bytes < file.said_bytes))
      file.said_bytes = reach.said_bytes;
  }

  const Trace& trace_;
  std::map<std::string, File> files_;
};

}  // namespace

MemoryNeed memory_need(const Trace& trace) {
  MemoryNeed out;
  out.is_of_some = signatures_of_all(trace) > kMostLooks;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const std::vector<Trace::Occurrence> all = trace.occurrences(group);
    const uint64_t ranks = out.is_of_some ? 1 : trace.group_size(group);
    for (uint64_t i = 0; i < ranks; ++i) {
      const Rank rank = trace.group_rank(group, i);
      RankReader reader(trace, rank);
      uint64_t kept = 0, longest = 0;
      for (const Trace::Occurrence& seen : all) {
        const Signature& call = reader.signature(seen.signature);
        const uint64_t bytes = bytes_of(trace, call, rank);
        if (keeps(call))
          kept = events::add(kept, bytes);
        else
          longest = std::max(longest, bytes);
      }
      const uint64_t bytes = events::add(kept, longest);
      const uint64_t times = out.is_of_some ? trace.group_size(group) : 1;
      out.all_bytes = events::add(out.all_bytes, events::multiply(bytes, times));
      if (bytes <= out.most_bytes) continue;
      out.most_bytes = bytes;
      out.most_rank = rank;
    }
  }
  return out;
}

namespace {

// The groups whose ranks call a function, rank by rank; bounded.
template <class Visit>
void for_each_caller(const Trace& trace, CallId call, Visit&& visit) {
  uint64_t looked_at = 0;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const std::vector<Trace::Occurrence> all = trace.occurrences(group);
    if (std::none_of(all.begin(), all.end(), [&](const Trace::Occurrence& seen) {
          return trace.call_of(seen.signature) == call;
        }))
      continue;
    for (uint64_t i = 0; i < trace.group_size(group) && looked_at < kMostLooks; ++i) {
      visit(trace.group_rank(group, i), all);
      looked_at += all.size();
    }
  }
}

}  // namespace

std::vector<FileNeed> file_needs(const Trace& trace) {
  Files files(trace);
  for_each_caller(trace, mpi::kMPI_File_open,
                  [&](Rank rank, const auto& all) { files.add(rank, all); });
  files.look_for_old_files();
  return files.needs();
}

std::vector<std::string> ports_of(const Trace& trace) {
  std::set<std::string> out;
  for_each_caller(trace, mpi::kMPI_Open_port, [&](Rank rank, const auto& all) {
    RankReader reader(trace, rank);
    for (const Trace::Occurrence& seen : all) {
      if (trace.call_of(seen.signature) != mpi::kMPI_Open_port) continue;
      const Value* const name = reader.signature(seen.signature).find("port_name");
      if (name != nullptr) out.insert(name->at_exit().text);
    }
  });
  return {out.begin(), out.end()};
}

std::vector<FunctionNeed> function_needs(const Trace& trace) {
  std::map<CallId, uint64_t> calls;
  for (GroupId group = 0; group < trace.group_count(); ++group)
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      uint64_t& sum = calls[trace.call_of(seen.signature)];
      sum = events::add(sum, events::multiply(seen.calls, trace.group_size(group)));
    }
  std::vector<FunctionNeed> out;
  for (const auto& [call, count] : calls) out.push_back({call, count});
  return out;
}

}  // namespace refrain::replay::plan
