// What look() found, as text and as JSON.
#pragma once

#include <string>

#include "replay/plan/look.h"

namespace refrain::replay::plan {

std::string look_text(const Trace& trace, const Refusals& refusals);
std::string look_json(const Trace& trace, const Refusals& refusals);

}  // namespace refrain::replay::plan
