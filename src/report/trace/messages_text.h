// analysis::MessageLogs as text and as JSON.
#pragma once

#include <string>

#include "analysis/message_logs.h"

namespace refrain::report {

std::string messages_text(const analysis::MessageLogs& logs);
std::string messages_json(const analysis::MessageLogs& logs);

}  // namespace refrain::report
