#include "cli/options/choice.h"

#include "base/nearest.h"

namespace refrain::cli {

std::string none_of(const std::string& word, const std::vector<std::string>& known) {
  std::string all;
  for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
  return "'" + word + "' is none of " + all + base::did_you_mean(word, known);
}

}  // namespace refrain::cli
