// What is never taken from a trace: paths, hints, names of ports and services.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/plan/needs.h"
#include "replay/quiet.h"
#include "replay/scratch.h"

namespace refrain::replay {

uint64_t Engine::bytes_of_file(const std::string& recorded) {
  if (file_bytes_.empty())
    for (const plan::FileNeed& file : plan::file_needs(trace_)) file_bytes_[file.path] = file.bytes;
  return file_bytes_[recorded];
}

// What the program found there, or did not.
base::Status Engine::prepare_file(const Frame& frame, const std::string& recorded,
                                  const std::string& path) {
  const Value& mode = events::argument(frame.signature, "amode");
  const auto has = [&](const char* name) {
    for (const Value& bit : mode.items)
      if (bit.name() == name) return true;
    return mode.name() == name;
  };
  if (frame.signature.failed()) return base::Done{};
  const int rank = rank_in(frame);
  if (has("MPI_MODE_EXCL")) {
    if (rank == 0) unlink(path.c_str());
    return base::Done{};
  }
  const uint64_t bytes = rank == 0 ? bytes_of_file(recorded) : 0;
  if (has("MPI_MODE_CREATE")) {  // one of an earlier run may be there
    if (bytes == 0) return base::Done{};
    file_bytes_[recorded] = 0;  // later it is as the program left it
  }
  return extend_file(path, bytes);
}

int Engine::rank_in(const Frame& frame) const {
  const auto comm =
      trace_.communicator(events::argument(frame.signature, "comm").definition(), rank_);
  return comm ? static_cast<int>(comm->me) : 0;
}

// A port has another name each time. The program passed it on in messages, whose contents are not
// replayed: ranks find it in a file of the scratch folder.
void Engine::note_port(const Frame& frame) {
  if (frame.info.id != mpi::kMPI_Open_port || frame.arguments->size() < 2) return;
  const std::string& recorded = frame.signature.args[1].value.at_exit().text;
  const std::string made = frame.arguments->slot(1).text.c_str();  // NOLINT: up to its end
  names_[recorded] = made;
  if (options_.scratch.empty()) return;
  const std::string path = port_path(options_.scratch, recorded);
  const std::string beside = path + "." + std::to_string(getpid());
  std::ofstream(beside) << made;
  std::rename(beside.c_str(), path.c_str());
}

std::string Engine::port_of(const std::string& recorded) {
  const auto known = names_.find(recorded);
  if (known != names_.end()) return known->second;
  if (options_.scratch.empty()) return "";
  constexpr int kTries = 500;
  const std::string path = port_path(options_.scratch, recorded);
  for (int i = 0; i < kTries; ++i) {
    std::ifstream file(path);
    std::string made;
    if (std::getline(file, made)) return names_[recorded] = made;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "";
}

base::Status Engine::prepare_text(Frame& frame, size_t i, Slot& slot) {
  const Value& entry = frame.signature.args[i].value.at_entry();
  const std::string_view name = frame.info.params[i].name;
  slot.text = entry.text;
  if (entry.is_array()) {
    entry.for_each([&](const Value& one) { slot.texts.push_back(one.text); });
  } else if (name == "filename") {
    if (options_.scratch.empty())
      return wrong(frame, "files are replayed in a folder of their own: say --scratch DIR");
    slot.text = scratch_path(options_.scratch, entry.text);
    // A file that was not there may be there now, for another rank that did remove it.
    if (frame.info.id == mpi::kMPI_File_delete && frame.signature.failed()) slot.text += "-none";
    if (auto good = prepare_file(frame, entry.text, slot.text); !good.ok()) return good;
  } else if (name == "port_name" || name == "service_name") {
    const bool connects = frame.info.id == mpi::kMPI_Comm_connect ||
                          frame.info.id == mpi::kMPI_Comm_accept ||
                          frame.info.id == mpi::kMPI_Close_port;
    slot.text = connects ? port_of(entry.text) : "refrain-" + hash_name(entry.text);
  }
  slot.room = slot.text.size() + 1;
  return base::Done{};
}

// Hints may name files, hosts and programs: none is passed on.
uint64_t Engine::hint_free_info(const Frame&, const Value& value) {
  if (!value.is_object()) return mpi_runtime::handle_key(MPI_INFO_NULL);
  ++counts_.infos;
  if (empty_info_ == 0) {
    MPI_Info info = MPI_INFO_NULL;
    REFRAIN_QUIET(MPI_Info_create)(&info);
    empty_info_ = mpi_runtime::handle_key(info);
  }
  return empty_info_;
}

}  // namespace refrain::replay
