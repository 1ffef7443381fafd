// Errors of CLI11 as messages of one line: what is wrong, where, and what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace refrain::cli {

// What an option says of an empty value whose own checks allow any text.
inline constexpr std::string_view kEmptyValue = "needs a value, and '' is none";

// Line ends become spaces: descriptions of options are broken into lines for the terminal.
std::string one_line(std::string text);

// `app` has failed to parse `argv` with `error`.
base::Error usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& argv);

// A variable of an option that `argv` does not have, with a value that is not allowed: an error
// that CLI11 reports until 2.4 and passes over from 2.5 on. Empty: there is none.
std::optional<base::Error> wrong_variable(CLI::App& app, const std::vector<std::string>& argv);

// "unknown verb 'proflie'; did you mean 'profile'?"
base::Error unknown_verb(const CLI::App& app, const std::string& word);

// "unknown option --tpo; did you mean '--top'?", for an option of `verb`.
std::string unknown_option(const CLI::App& verb, const std::string& word);

// Names of the verbs that help shows.
std::vector<std::string> verb_names(const CLI::App& app);

}  // namespace refrain::cli
