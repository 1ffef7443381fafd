// otf2: an archive of the Open Trace Format 2, as Vampir and Scalasca read it.

#include <otf2/otf2.h>

#include <memory>
#include <string>
#include <vector>

#include "convert/job.h"
#include "convert/otf2_events.h"
#include "convert/output_files.h"
#include "text/escape.h"

namespace refrain::convert {
namespace {

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
const OTF2_FlushCallbacks kFlush = {flush, nullptr};

// The library prints what goes wrong; here it becomes our one line.
std::string& last_error() {
  static std::string text;
  return text;
}
OTF2_ErrorCode note_error(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code,
                          const char* format, va_list arguments) {
  if (code == OTF2_SUCCESS || !last_error().empty()) return code;
  char text[256] = "";
  std::vsnprintf(text, sizeof text, format, arguments);
  last_error() = std::string(OTF2_Error_GetDescription(code)) + (*text == 0 ? "" : ": ") + text;
  return code;
}

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
};

class OtfWriter {
 public:
  OtfWriter(Job& job, OutputFolder folder)
      : job_(job), folder_(std::move(folder)), regions_(job), definitions_(job, regions_) {}

  Status run() {
    last_error().clear();
    OTF2_Error_RegisterCallback(note_error, nullptr);
    const bool written = open() && write_events() && write_definitions() && close();
    archive_.reset();
    if (!status_.ok()) return status_;
    if (!written || !last_error().empty())
      return base::fail("cannot write the OTF2 archive (" + text::printable(last_error()) + ")",
                        job_.options.output);
    job_.out.bytes = folder_.bytes();
    job_.out.files = {job_.options.output};
    return folder_.commit();
  }

 private:
  static bool good(OTF2_ErrorCode code) { return code == OTF2_SUCCESS; }

  bool open() {
    archive_.reset(OTF2_Archive_Open(folder_.path().c_str(), "traces", OTF2_FILEMODE_WRITE,
                                     OTF2_CHUNK_SIZE_MIN * 4, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                     OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
    OTF2_Archive* a = archive_.get();
    const bool built = job_.out.times == TimesFrom::kBuilt;
    return a != nullptr && good(OTF2_Archive_SetFlushCallbacks(a, &kFlush, nullptr)) &&
           good(OTF2_Archive_SetSerialCollectiveCallbacks(a)) &&
           good(OTF2_Archive_SetCreator(a, "refrain")) &&
           good(OTF2_Archive_SetDescription(
               a, built ? "Times are built from mean durations: the trace has none of single calls"
                        : "Times as recorded")) &&
           good(OTF2_Archive_SetProperty(a, "REFRAIN::TIMES",
                                         std::string(name_of(job_.out.times)).c_str(), true)) &&
           good(OTF2_Archive_OpenEvtFiles(a));
  }

  bool write_events() {
    events::World world(job_.trace);
    job_.expect_passes(2);
    events::Survey survey(job_, world);
    status_ = survey.run();
    if (!status_.ok()) return false;
    events::CommRanks ranks;
    definitions_.comm(world.comms.view(kNoDefinition, 0));
    for (Rank rank = 0; rank < job_.trace.rank_count(); ++rank) {
      if (job_.position(rank) < 0) {  // there as a partner, without calls
        if (!add_empty(rank)) return false;
        continue;
      }
      events::RankEvents events(job_, world, rank);
      OtfEvents records(job_, world, survey, definitions_, ranks, events, archive_.get());
      EnterLeave intervals(regions_, records);
      while (const events::Event* event = events.next())
        if (event->in_window) {
          ++job_.out.calls;
          intervals.add(*event);
        }
      intervals.finish();
      job_.not_held("ends of regions without a begin", intervals.unmatched_ends());
      events.report();
      const std::vector<OtfLocation> written = records.close();
      if (!records.is_good()) return false;
      if (written.empty() || written.front().thread != 0)
        if (!add_empty(rank)) return false;
      locations_.insert(locations_.end(), written.begin(), written.end());
      first_ns_ = std::min(first_ns_, records.first_ns());
      last_ns_ = std::max(last_ns_, records.last_ns());
    }
    status_ = survey.status();
    return status_.ok() && good(OTF2_Archive_CloseEvtFiles(archive_.get()));
  }

  // A location without records.
  bool add_empty(Rank rank) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_.get(), otf_location(rank, 0));
    if (writer == nullptr || !good(OTF2_Archive_CloseEvtWriter(archive_.get(), writer)))
      return false;
    locations_.push_back({otf_location(rank, 0), rank, 0, 0});
    return true;
  }

  bool write_definitions() {
    OTF2_Archive* a = archive_.get();
    if (!good(OTF2_Archive_OpenDefFiles(a))) return false;
    for (const OtfLocation& location : locations_) {
      OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(a, location.id);
      if (writer == nullptr || !good(OTF2_Archive_CloseDefWriter(a, writer))) return false;
    }
    if (!good(OTF2_Archive_CloseDefFiles(a))) return false;
    OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(a);
    return writer != nullptr &&
           definitions_.write(writer, locations_, std::min(first_ns_, last_ns_), last_ns_) &&
           good(OTF2_Archive_CloseGlobalDefWriter(a, writer));
  }

  bool close() { return good(OTF2_Archive_Close(archive_.release())); }

  Job& job_;
  OutputFolder folder_;
  Regions regions_;
  OtfDefinitions definitions_;
  std::unique_ptr<OTF2_Archive, CloseArchive> archive_;
  std::vector<OtfLocation> locations_;
  uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
  Status status_ = base::Done{};  // of what is not OTF2's
};

}  // namespace

Status write_otf2(Job& job) {
  auto folder = OutputFolder::create(job.options.output, "the OTF2 archive");
  if (!folder.ok()) return folder.error();
  return OtfWriter(job, std::move(*folder)).run();
}

}  // namespace refrain::convert
