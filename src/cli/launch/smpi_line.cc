#include "cli/launch/smpi_line.h"

#include <algorithm>

namespace refrain::cli {
namespace {

constexpr const char* kConfig = "--cfg=";
constexpr const char* kPrivatization = "smpi/privatization:";

// What SMPI takes out of the line before it counts arguments.
bool is_setting(const std::string& word) {
  return word.starts_with(kConfig) || word.starts_with("--log=");
}

}  // namespace

bool is_smpimain(const std::string& program) {
  return program.substr(program.rfind('/') + 1) == "smpimain";
}

Words smpi_program(const Words& words) {
  if (words.size() < 2 || !is_smpimain(words[0])) return words;
  Words out = {words[1]};
  bool platform = true;
  for (size_t i = 2; i < words.size(); ++i) {
    if (is_setting(words[i])) continue;
    if (!platform) out.push_back(words[i]);
    platform = false;
  }
  return out;
}

Words replay_words(const Words& words) {
  const auto main = std::find_if(words.begin(), words.end(), is_smpimain);
  if (main == words.end() || main + 1 == words.end()) return words;
  Words out(words.begin(), main);
  out.push_back(main[1]);
  out.push_back("--smpi-line=" + *main);
  for (auto word = main + 2; word != words.end(); ++word) out.push_back("--smpi-line=" + *word);
  return out;
}

Words smpi_engine_line(const Words& smpi_line, const std::string& engine,
                       const Words& engine_words) {
  Words out;
  for (const std::string& word : smpi_line) {
    out.push_back(word);
    if (out.size() == 1) out.push_back(engine);
    if (out.size() > 2 && !is_setting(word)) break;  // the platform, which is the last one
  }
  out.insert(out.end(), engine_words.begin(), engine_words.end());
  return out;
}

base::Status check_smpi_line(const Words& words) {
  std::string how;  // the last one counts
  for (const std::string& word : words)
    if (word.starts_with(std::string(kConfig) + kPrivatization))
      how = word.substr(std::string(kConfig).size() + std::string(kPrivatization).size());
  if (how.empty() || how == "mmap" || how == "no" || how == "0") return base::Done{};
  return base::unsupported(
      "SMPI loads a copy of the program for every rank, which cannot be recorded: start smpirun "
      "with --cfg=smpi/privatization:mmap (or -no-privatize)");
}

}  // namespace refrain::cli
