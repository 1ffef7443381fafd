#include "cli/launch/smpi_line.h"

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
