#include "cli/options/usage_error.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/nearest.h"

namespace refrain::cli {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

namespace {

// As CLI11's messages begin with it: "--top", or "trace" of a positional.
const CLI::Option* named(const CLI::App& verb, const std::string& name) {
  for (const CLI::Option* option : verb.get_options())
    if (option->get_name() == name) return option;
  return nullptr;
}

// "--top: what is wrong" -> "--top"; empty when no option of the verb is named.
std::string subject(const CLI::App& verb, const std::string& message) {
  for (size_t at = message.find(':'); at != std::string::npos; at = message.find(':', at + 1))
    if (named(verb, message.substr(0, at)) != nullptr) return message.substr(0, at);
  return {};
}

// Two options that were both given and do not go together.
std::string excluded(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options())
    for (const CLI::Option* other : option->get_excludes())
      if (option->count() > 0 && other->count() > 0)
        return option->get_name() + " and " + other->get_name() +
               " do not go together: leave one of them out";
  return {};
}

// Whether the value of an option came from its environment variable.
bool is_from_environment(const CLI::Option& option, const std::vector<std::string>& argv) {
  const std::string variable = option.get_envname();
  if (variable.empty() || std::getenv(variable.c_str()) == nullptr) return false;
  for (const std::string& word : argv) {
    for (const std::string& name : option.get_lnames())
      if (word == "--" + name || word.rfind("--" + name + "=", 0) == 0) return false;
    for (const std::string& name : option.get_snames())
      if (word.rfind("-" + name, 0) == 0 && word.rfind("--", 0) != 0) return false;
  }
  return true;
}

// nullptr behind the last one.
const CLI::Validator* validator(CLI::Option& option, int index) {
  try {
    return option.get_validator(index);
  } catch (const CLI::OptionNotFound&) {
    return nullptr;
  }
}

// How a positional stands on a command line: its name, or the words that it may be.
std::string placed(CLI::Option& option) {
  for (int i = 0;; ++i) {
    const CLI::Validator* const check = validator(option, i);
    if (check == nullptr) return option.get_name();
    std::string words = check->get_description();
    if (words.size() < 2 || words.front() != '{' || words.back() != '}') continue;
    std::replace(words.begin(), words.end(), ',', '|');
    return words.substr(1, words.size() - 2);
  }
}

// Where a verb has several, or one that is a word out of some, a name alone says little: "no after
// given".
std::string missing_positional(CLI::App& verb, const CLI::Option& option) {
  constexpr const char* kWhich[] = {"first", "second", "third", "next"};
  std::string usage = "refrain " + verb.get_name(), place;
  size_t count = 0, which = 0;
  for (CLI::Option* other : verb.get_options()) {
    if (!other->get_required() || other->nonpositional()) continue;
    usage += " " + placed(*other);
    if (other == &option) place = placed(*other), which = count;
    ++count;
  }
  if (count == 1 && place == option.get_name()) return "no " + place + " given";
  return std::string("the ") + kWhich[std::min<size_t>(which, 3)] + " argument (" +
         option.get_name() + ") is missing: " + usage;
}

std::string missing(CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    if (!option->nonpositional()) return missing_positional(verb, *option);
    return option->get_name() + " is required";
  }
  return {};
}

// What the option's own checks say of an empty value: they know what it should be.
std::string of_empty(CLI::App& verb, const std::string& name) {
  for (CLI::Option* option : verb.get_options()) {
    if (option->get_name() != name) continue;
    for (int i = 0;; ++i) {
      const CLI::Validator* const check = validator(*option, i);
      if (check == nullptr) return {};
      std::string value;
      const std::string wrong = (*check)(value);
      if (!wrong.empty() && wrong != kEmptyValue) return wrong;
    }
  }
  return {};
}

// "Could not convert: --bytes = maybe": values of options have checks, so it is a flag.
std::string not_converted(const CLI::App& verb, const std::string& message,
                          const std::vector<std::string>& argv) {
  constexpr std::string_view kBegin = "Could not convert: ", kBetween = " = ";
  const size_t end = message.find(kBetween);
  if (!message.starts_with(kBegin) || end == std::string::npos) return {};
  const std::string name = message.substr(kBegin.size(), end - kBegin.size());
  const CLI::Option* const option = named(verb, name);
  if (option == nullptr || option->get_items_expected_max() > 0) return {};
  const std::string value = "'" + message.substr(end + kBetween.size()) + "'";
  if (is_from_environment(*option, argv))
    return option->get_envname() + ": " + value + " is neither 0 nor 1";
  return name + " takes no value, and was given " + value;
}

std::string see(const CLI::App& verb) { return " (see `refrain " + verb.get_name() + " --help`)"; }

// The first word that nobody takes: an unknown option, or one trace too many, which the verb hands
// to `app`.
std::string unexpected(const CLI::App& app, const CLI::App& verb) {
  std::vector<std::string> words = verb.remaining();
  if (&app != &verb)
    for (const std::string& word : app.remaining()) words.push_back(word);
  for (const std::string& word : words)
    if (word.size() > 1 && word[0] == '-' && word != "--") return unknown_option(verb, word);
  for (const std::string& word : words)
    if (word != "--") return "did not expect '" + word + "'";
  return {};
}

std::string text_of(const CLI::App& app, CLI::App& verb, const CLI::ParseError& error,
                    const std::vector<std::string>& argv) {
  const std::string message = one_line(error.what());
  const std::string kind = error.get_name();
  const std::string extra = unexpected(app, verb);
  // CLI11 gives such an error the name of the verb for its kind, and may have dropped the words.
  const std::string expected = "not expected: ";
  const size_t at = message.find(expected);
  if (extra.empty() && at != std::string::npos)
    return "did not expect '" + message.substr(at + expected.size()) + "'";
  const bool is_option = !extra.empty() && extra[0] == 'u';
  if (!extra.empty() && (at != std::string::npos || kind == "RequiredError" || is_option))
    return extra;
  if (kind == "ExcludesError")
    if (std::string text = excluded(verb); !text.empty()) return text;
  if (kind == "RequiredError")
    if (std::string text = missing(verb); !text.empty()) return text;
  if (kind == "ConversionError")
    if (std::string text = not_converted(verb, message, argv); !text.empty()) return text;
  const std::string name = subject(verb, message);
  if (name.empty()) return message;
  if (kind == "ArgumentMismatch")
    return name + (named(verb, name)->count() > 1 ? " was given more than once" : " needs a value");
  if (message.ends_with(kEmptyValue))
    if (std::string text = of_empty(verb, name); !text.empty()) return name + ": " + text;
  const CLI::Option& option = *named(verb, name);
  if (is_from_environment(option, argv)) return option.get_envname() + message.substr(name.size());
  return message;
}

}  // namespace

std::optional<base::Error> wrong_variable(CLI::App& app, const std::vector<std::string>& argv) {
  if (argv.empty()) return std::nullopt;
  const auto used =
      app.get_subcommands([&](const CLI::App* known) { return known->check_name(argv[0]); });
  if (used.empty()) return std::nullopt;
  CLI::App* const verb = used[0];
  for (CLI::Option* option : verb->get_options()) {
    if (!is_from_environment(*option, argv)) continue;
    std::string value = std::getenv(option->get_envname().c_str());
    for (int i = 0; !value.empty(); ++i) {
      const CLI::Validator* const check = validator(*option, i);
      if (check == nullptr) break;
      if (const std::string wrong = (*check)(value); !wrong.empty())
        return base::usage(option->get_envname() + ": " + wrong + see(*verb));
    }
  }
  return std::nullopt;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  return names;
}

base::Error unknown_verb(const CLI::App& app, const std::string& word) {
  if (access(word.c_str(), F_OK) == 0)
    return base::usage("a verb is needed in front of '" + word + "', as in `refrain info " + word +
                       "` (see `refrain --help`)");
  std::vector<std::string> names = verb_names(app);
  names.emplace_back("help");
  return base::usage("unknown verb '" + word + "'" + base::did_you_mean(word, names) +
                     " (see `refrain --help`)");
}

std::string unknown_option(const CLI::App& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::string text = "unknown option " + name;
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& long_name : option->get_lnames()) known.push_back(long_name);
  const size_t begin = name.find_first_not_of('-');
  if (begin == std::string::npos) return text;
  // One letter is a short option, of which any may be meant.
  const std::string bare = name.substr(begin);
  const std::string near = bare.size() > 1 ? base::nearest(bare, known) : std::string();
  return near.empty() ? text : text + "; did you mean '--" + near + "'?";
}

base::Error usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& argv) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  if (used.empty()) {
    const std::string extra = unexpected(app, app);
    const bool is_empty = error.get_name() == std::string("RequiredError") && extra.empty();
    return base::usage((is_empty         ? std::string("no verb given")
                        : !extra.empty() ? extra
                                         : one_line(error.what())) +
                       " (see `refrain --help`)");
  }
  CLI::App& verb = *used.back();
  return base::usage(text_of(app, verb, error, argv) + see(verb));
}

}  // namespace refrain::cli
