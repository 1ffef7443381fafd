#include "text/site_names.h"

#include "text/escape.h"
#include "text/values.h"

namespace refrain::text {

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

}  // namespace refrain::text
