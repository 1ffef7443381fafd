#include "cli/options/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>

#include "cli/options/usage_error.h"

namespace refrain::cli {
namespace {

// CLI11 2.5 and newer fill paragraphs, which would run the lines of examples together, and move
// long names far to the right.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.long_option_alignment_ratio(0.2F);
  }
}

CLI::Validator validator_of(const ValueCheck& check) {
  return CLI::Validator(check.check, check.range);
}

// "--rank INT Excludes: --ranks" as "--rank INT (not with --ranks)".
std::string in_words(std::string help, std::string_view label, std::string_view said) {
  for (size_t at = help.find(label); at != std::string::npos; at = help.find(label, at)) {
    size_t end = at + label.size();
    std::string names;
    while (help.compare(end, 2, " -") == 0) {
      const size_t begin = end + 1;
      end = std::min(help.find_first_of(" \n", begin), help.size());
      names += (names.empty() ? "" : ", ") + help.substr(begin, end - begin);
    }
    const std::string words = "(" + std::string(said) + " " + names + ")";
    if (!names.empty()) help.replace(at, end - at, words);
    at += names.empty() ? label.size() : words.size();
  }
  return help;
}

// "text", "text or json", "text, json or csv".
std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

}  // namespace

Option* Option::required(bool is_required) { return parsed_.required(is_required), this; }
Option* Option::check(const ValueCheck& check) { return parsed_.check(validator_of(check)), this; }
Option* Option::transform(const ValueCheck& check) {
  return parsed_.transform(validator_of(check)), this;
}
Option* Option::type_name(const std::string& name) { return parsed_.type_name(name), this; }
Option* Option::capture_default_str() { return parsed_.capture_default_str(), this; }
Option* Option::default_str(const std::string& text) { return parsed_.default_str(text), this; }
Option* Option::envname(const std::string& variable) { return parsed_.envname(variable), this; }
Option* Option::group(const std::string& name) { return parsed_.group(name), this; }
Option* Option::allow_extra_args(bool allowed) { return parsed_.allow_extra_args(allowed), this; }
Option* Option::needs(const Option* other) { return parsed_.needs(&other->parsed_), this; }
Option* Option::needs(const std::string& other) { return parsed_.needs(other), this; }
Option* Option::excludes(const Option* other) { return parsed_.excludes(&other->parsed_), this; }
size_t Option::count() const { return parsed_.count(); }

Command::Command(const std::string& about, const std::string& name, const std::string& version)
    : own_(std::make_unique<CLI::App>(about, name)), parser_(own_.get()) {
  // Verbs inherit this.
  parser_->set_version_flag("--version", version);
  parser_->require_subcommand(1);
  parser_->failure_message(CLI::FailureMessage::simple);
  keep_lines(*parser_->get_formatter());
}

Command::Command(CLI::App& verb) : parser_(&verb) {}
Command::~Command() = default;

Command* Command::add_subcommand(const std::string& name, const std::string& about) {
  CLI::App* const verb = parser_->add_subcommand(name, about);
  verbs_.push_back(std::unique_ptr<Command>(new Command(*verb)));
  return verbs_.back().get();
}

Option* Command::keep(CLI::Option* option) {
  options_.push_back(std::make_unique<Option>(*option));
  return options_.back().get();
}

template <class T>
Option* Command::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option* const option = parser_->add_option(names, value, help);
  // A value that was forgotten is not the word behind which a command begins. An empty one is
  // mostly a variable of a script that was not set: `check again.rfn --replays ""` must not be
  // content.
  const bool is_named = option->nonpositional();
  option->check(CLI::Validator(
      [is_named](std::string& word) {
        if (word == "--") return std::string("needs a value");
        return is_named && word.empty() ? std::string(kEmptyValue) : std::string();
      },
      ""));
  return keep(option);
}

Option* Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return keep(parser_->add_flag(names, value, help));
}

Option* Command::add_flag_callback(const std::string& names, std::function<void()> action,
                                   const std::string& help) {
  return keep(parser_->add_flag_callback(names, std::move(action), help));
}

Option* Command::add_trace(std::string& path) {
  return add_option("trace", path, "Trace file (.rfn)")->required();
}

Option* Command::add_format(std::string& value, const std::vector<std::string>& words,
                            std::string help) {
  if (help.empty()) help = listed(words);
  return add_option("--format", value, help)->check(one_of(words))->capture_default_str();
}

void Command::take_program(const std::string& help) {
  parser_->prefix_command();
  parser_->add_option("PROGRAM", help)
      ->check(CLI::Validator([](std::string&) { return std::string("never"); }, ""));
  parser_->validate_positionals();
}

void Command::callback(std::function<void()> action) { parser_->callback(std::move(action)); }
void Command::footer(const std::string& text) { parser_->footer(text); }
void Command::group(const std::string& name) { parser_->group(name); }

base::Status Command::parse(const std::vector<std::string>& words, std::string& asked) {
  const std::string verb = words.empty() ? "" : words[0];
  const auto is_it = [&](const CLI::App* known) { return known->check_name(verb); };
  // "The following arguments were not expected: frobnicate" is no help for a misspelt verb.
  if (!words.empty() && (verb.empty() || verb[0] != '-') && parser_->get_subcommands(is_it).empty())
    return unknown_verb(*parser_, verb);
  if (auto wrong = wrong_variable(*parser_, words)) return *wrong;
  try {
    parser_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    parser_->exit(success, text, text);
    asked = in_words(in_words(text.str(), "Excludes:", "not with"), "Needs:", "only with");
  } catch (const CLI::ParseError& error) {
    return usage_error(*parser_, error, words);
  }
  return base::Done{};
}

std::vector<std::string> Command::remaining() const { return parser_->remaining(); }
size_t Command::count(const std::string& name) const { return parser_->count(name); }
std::string Command::unknown_option(const std::string& word) const {
  return cli::unknown_option(*parser_, word);
}

// The types that an option can have.
#define REFRAIN_OPTION_OF(...) \
  template Option* Command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
REFRAIN_OPTION_OF(std::string);
REFRAIN_OPTION_OF(std::vector<std::string>);
REFRAIN_OPTION_OF(double);
REFRAIN_OPTION_OF(int);
REFRAIN_OPTION_OF(int64_t);
REFRAIN_OPTION_OF(uint32_t);
REFRAIN_OPTION_OF(uint64_t);
REFRAIN_OPTION_OF(std::optional<int64_t>);
REFRAIN_OPTION_OF(std::optional<uint16_t>);
REFRAIN_OPTION_OF(std::optional<uint32_t>);
REFRAIN_OPTION_OF(std::optional<uint64_t>);
#undef REFRAIN_OPTION_OF

}  // namespace refrain::cli
