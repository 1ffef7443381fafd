#include "format/merge/programs.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "format/limits.h"

namespace refrain::format {

namespace {

// A job of many programs, or one that spawns in a loop, must not fill the trace with texts.
constexpr size_t kMostPrograms = 256, kMostSpawned = 256;

// Tabs and ends of lines part the fields (docs/format.md, "Meta"), so a command must have none.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

// The way back. A backslash before any other letter stands for that letter, so that later escapes
// do no harm.
std::string plain(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

// Empty fields count: a program without arguments has an empty command.
std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// As people write rank lists on the command line, so that the text can be read without a tool.
// "0-3,8,10-20:2"
std::string ranks_text(const base::RunList& ranks) {
  std::string out;
  for (const base::RunList::Run& run : ranks.runs()) {
    if (!out.empty()) out += ',';
    out += std::to_string(run.start);
    if (run.count == 1) continue;
    out += '-';
    out += std::to_string(run.start + run.step * static_cast<int64_t>(run.count - 1));
    if (run.step == 1) continue;
    out += ':';
    out += std::to_string(run.step);
  }
  return out;
}

// Whole and not negative: "3x" or an empty field is damage, not 3 or 0.
bool number(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

bool parse_ranks(std::string_view text, base::RunList& out) {
  int64_t before = -1;
  for (std::string_view run : split(text, ',')) {
    int64_t first = 0, last = 0, step = 1;
    if (const size_t colon = run.find(':'); colon != std::string_view::npos) {
      if (!number(run.substr(colon + 1), step) || step == 0) return false;
      run = run.substr(0, colon);
    }
    const size_t dash = run.find('-');
    if (!number(run.substr(0, dash), first)) return false;
    last = first;
    if (dash != std::string_view::npos && !number(run.substr(dash + 1), last)) return false;
    // Ascending and whole, as the writer makes them: a rank that is named twice, or a run that does
    // not end where it says, is damage.
    if (first <= before || last < first || (last - first) % step != 0) return false;
    out.append_run(first, last == first ? 0 : step,
                   static_cast<uint64_t>((last - first) / step) + 1);
    before = last;
  }
  return true;
}

// A job of no processes stands for a line that cannot be read: MPI_Comm_spawn starts at least one.
SpawnedJob job_of(std::string_view line) {
  SpawnedJob job;
  const auto fields = split(line, '\t');
  int64_t processes = 0;
  if (fields.size() != 4 || !number(fields[0], job.rank) || !number(fields[1], processes))
    return {};
  job.processes = static_cast<uint64_t>(processes);
  job.trace = plain(fields[2]);
  job.command = plain(fields[3]);
  return job;
}

}  // namespace

// One text for the way from rank to rank and for the file, so that both have the same limits and
// the same way back.
std::string spawned_text(const SpawnedJob& job) {
  std::string out = std::to_string(job.rank);
  for (const std::string& field :
       {std::to_string(job.processes), escaped(job.trace), escaped(job.command)}) {
    out += '\t';
    out += field;
  }
  return out;
}

void Programs::take(uint64_t rank, std::map<std::string, std::string>& text) {
  RankProgram& own = programs_.emplace_back();
  if (const auto it = text.find("program"); it != text.end()) own.program = it->second;
  if (const auto it = text.find("command"); it != text.end()) own.command = it->second;
  own.ranks.append(static_cast<int64_t>(rank));
  // The recorder hands jobs over as texts with numbered keys. They leave the texts here, as those
  // of two ranks would have the same keys.
  for (auto it = text.lower_bound(std::string(kSpawnedPrefix));
       it != text.end() && it->first.rfind(kSpawnedPrefix, 0) == 0; it = text.erase(it)) {
    if (spawned_.size() < kMostSpawned)
      spawned_.push_back(job_of(it->second));
    else
      ++more_;
  }
}

void Programs::merge(Programs later) {
  // Programs are few (MPMD jobs have two or three), so they are compared one by one.
  for (RankProgram& theirs : later.programs_) {
    const auto same = std::find_if(programs_.begin(), programs_.end(), [&](const RankProgram& p) {
      return p.program == theirs.program && p.command == theirs.command;
    });
    // Records are merged in the order of ranks, so what is appended keeps the lists ascending.
    if (same != programs_.end())
      same->ranks.append_all(theirs.ranks);
    else if (programs_.size() < kMostPrograms)
      programs_.push_back(std::move(theirs));
  }
  // Spawned jobs are not compared: two of one command line are two jobs with traces of their own.
  more_ += later.more_;
  for (SpawnedJob& job : later.spawned_) {
    if (spawned_.size() < kMostSpawned)
      spawned_.push_back(std::move(job));
    else
      ++more_;
  }
}

namespace {

// One more line, if there is room for it.
bool add_line(std::string& text, const std::string& line) {
  if (text.size() + line.size() + 1 > kMaxTextBytes) return false;
  if (!text.empty()) text += '\n';
  text += line;
  return true;
}

}  // namespace

uint64_t Programs::put(std::map<std::string, std::string>& text) const {
  std::string programs, spawned;
  for (const RankProgram& p : programs_) {
    std::string line = ranks_text(p.ranks);
    line += '\t';
    line += escaped(p.program);
    line += '\t';
    line += escaped(p.command);
    // Ranks whose program is left out here are still named by the texts of rank 0: no call of
    // theirs is lost, so this is not counted as a loss.
    if (!add_line(programs, line)) break;
  }
  uint64_t left_out = more_;
  for (const SpawnedJob& job : spawned_)
    if (!add_line(spawned, spawned_text(job))) ++left_out;
  // One program is in the texts `program` and `command` already.
  if (programs_.size() > 1) text[kProgramsText] = std::move(programs);
  if (!spawned_.empty()) text[kSpawnedText] = std::move(spawned);
  return left_out;
}

void Programs::write(base::ByteWriter& out) const {
  out.put_varint(programs_.size());
  for (const RankProgram& p : programs_) {
    out.put_string(p.program);
    out.put_string(p.command);
    p.ranks.write(out);
  }
  out.put_varint(spawned_.size());
  for (const SpawnedJob& job : spawned_) out.put_string(spawned_text(job));
  out.put_varint(more_);
}

bool Programs::read(base::ByteReader& in, uint64_t world_size) {
  // The other rank is trusted to be the same build, not to be undamaged: lengths are looked at all
  // the same, as a wrong one would allocate without end.
  const uint64_t programs = in.count(kMostPrograms);
  for (uint64_t i = 0; i < programs && in.ok(); ++i) {
    RankProgram& p = programs_.emplace_back();
    p.program = in.string(kMaxTextBytes);
    p.command = in.string(kMaxTextBytes);
    p.ranks = base::RunList::read(in, world_size);
  }
  const uint64_t spawned = in.count(kMostSpawned);
  for (uint64_t i = 0; i < spawned && in.ok(); ++i)
    spawned_.push_back(job_of(in.string(kMaxTextBytes)));
  more_ = in.varint();
  return in.ok();
}

std::vector<RankProgram> parse_programs(std::string_view text) {
  std::vector<RankProgram> out;
  if (text.empty()) return out;
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, '\t');
    RankProgram p;
    // The texts of a trace are anybody's: lines that are not so are left out, as the format says.
    if (fields.size() != 3 || !parse_ranks(fields[0], p.ranks)) continue;
    p.program = plain(fields[1]);
    p.command = plain(fields[2]);
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<SpawnedJob> parse_spawned(std::string_view text) {
  std::vector<SpawnedJob> out;
  if (text.empty()) return out;
  for (const std::string_view line : split(text, '\n'))
    if (SpawnedJob job = job_of(line); job.processes > 0) out.push_back(std::move(job));
  return out;
}

}  // namespace refrain::format
