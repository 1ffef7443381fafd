#include "cli/help/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/options/usage_error.h"

namespace refrain::cli {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// CLI11 says "TEXT:{text,json}" and "UINT:INT in [0 - 32]": the kind of value, then what checks it.
void read_type(const std::string& type, OptionDoc& out) {
  const size_t colon = type.find(':');
  out.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string check = type.substr(colon + 1);
  const size_t open = check.find_first_of("{["), close = check.find_last_of("}]");
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  const std::string inside = check.substr(open + 1, close - open - 1);
  if (check[open] == '{') {
    out.choices = split(inside, ',');
  } else if (const size_t dash = inside.find(" - "); dash != std::string::npos) {
    out.range = inside.substr(0, dash) + " to " + inside.substr(dash + 3);
  }
}

OptionDoc describe(const CLI::Option& option) {
  OptionDoc out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (out.names.empty()) out.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), out);
  out.description = one_line(option.get_description());
  out.default_value = option.get_default_str();
  out.environment = option.get_envname();
  out.required = option.get_required();
  out.repeats = option.get_items_expected_max() > 1;
  return out;
}

template <class Doc, class Positionals>
void add_options(const CLI::App& app, Doc& out, Positionals&& positional) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    if (option->nonpositional())
      out.options.push_back(describe(*option));
    else
      positional(describe(*option));
  }
}

}  // namespace

CommandDoc describe(const Command& command, const std::string& version) {
  const CLI::App& app = command.parser();
  CommandDoc out;
  out.name = app.get_name();
  out.version = version;
  out.description = one_line(app.get_description());
  out.footer = app.get_footer();
  add_options(app, out, [](const OptionDoc&) {});
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_group().empty()) continue;
    VerbDoc doc;
    doc.name = verb->get_name();
    doc.description = one_line(verb->get_description());
    doc.footer = verb->get_footer();
    doc.runs_program = verb->get_prefix_command();
    add_options(*verb, doc,
                [&](OptionDoc positional) { doc.positionals.push_back(std::move(positional)); });
    out.verbs.push_back(std::move(doc));
  }
  return out;
}

}  // namespace refrain::cli
