#include "report/site_names.h"

#include "report/json_text.h"
#include "report/value_text.h"

namespace refrain::report {

SiteNames::SiteNames(const Trace& trace, bool resolve) : trace_(trace) {
  if (resolve) symbols_ = std::make_unique<reader::Symbols>();
}

const std::string& SiteNames::name(DefinitionId id) {
  const auto [it, is_new] = names_.try_emplace(id);
  if (!is_new) return it->second;
  const std::optional<Site> site = trace_.site(id);
  if (!site) return it->second;
  it->second = symbols_ != nullptr ? printable(symbols_->label(*site)) : module_and_offset(*site);
  return it->second;
}

}  // namespace refrain::report
