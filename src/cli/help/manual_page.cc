#include "cli/help/manual_page.h"

#include <cctype>

namespace refrain::cli {
namespace {

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nGood.\n"
    ".TP\n.B 1\nFailed.\n"
    ".TP\n.B 2\nThe command line asks for something that makes no sense.\n"
    ".TP\n.B 3\nA threshold was crossed.\n"
    ".TP\n.B 4\nThe trace is incomplete, but was read.\n"
    ".TP\n.B 5\nNot supported.\n";

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The kind of value that an option takes, "text|json" or "N".
std::string value_text(const OptionDoc& option) {
  if (option.choices.empty()) return italic(option.value);
  std::string out;
  for (const std::string& choice : option.choices) out += (out.empty() ? "" : "|") + bold(choice);
  return out;
}

std::string option_item(const OptionDoc& option, bool positional) {
  std::string out = ".TP\n";
  if (positional) {
    out += italic(option.names[0]) + (option.repeats ? " ..." : "");
  } else {
    for (size_t i = 0; i < option.names.size(); ++i)
      out += (i == 0 ? "" : ", ") + bold(option.names[i]);
    if (!option.value.empty()) out += " " + value_text(option) + (option.repeats ? " ..." : "");
  }
  out += "\n" + roff(option.description);
  if (!option.description.empty() && option.description.back() != '.') out += ".";
  if (!option.range.empty()) out += " From " + roff(option.range) + ".";
  if (option.required && !positional) out += " Has to be given.";
  if (!option.default_value.empty()) out += " Default: " + roff(option.default_value) + ".";
  if (!option.environment.empty()) out += "\nEnvironment: " + bold(option.environment) + ".";
  return out + "\n";
}

std::string head(const std::string& page, const CommandDoc& command, const std::string& what) {
  return ".\\\" Made from the text of --help by `" + command.name + " manual`.\n.TH " +
         upper(roff(page)) + " 1 \"\" \"" + roff(command.name + " " + command.version) +
         "\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\n" + roff(page) + " \\- " + roff(what) + "\n";
}

// Lines that begin with "Examples:" are shown as they are; other text is a paragraph.
std::string footer_text(const std::string& footer) {
  if (footer.empty()) return "";
  constexpr const char* kExamples = "Examples:\n";
  if (footer.rfind(kExamples, 0) != 0) return ".SH NOTES\n" + roff(footer) + "\n";
  return ".SH EXAMPLES\n.nf\n" + roff(footer.substr(std::string(kExamples).size())) + "\n.fi\n";
}

std::string verb_page(const CommandDoc& command, const VerbDoc& verb) {
  const std::string page = command.name + "-" + verb.name;
  std::string out = head(page, command, verb.description);
  out += ".SH SYNOPSIS\n" + bold(command.name + " " + verb.name) + " [" + italic("options") + "]";
  for (const OptionDoc& positional : verb.positionals)
    out += " " + italic(positional.names[0]) + (positional.repeats ? " ..." : "");
  if (verb.runs_program) out += " [" + italic("arguments") + " ...]";
  out += "\n.SH DESCRIPTION\n" + roff(verb.description) + ".\n";
  for (const OptionDoc& positional : verb.positionals) out += option_item(positional, true);
  out += ".SH OPTIONS\n";
  for (const OptionDoc& option : verb.options) out += option_item(option, false);
  out += footer_text(verb.footer) + kExitStatus;
  return out + ".SH SEE ALSO\n" + bold(command.name) + "(1)\n";
}

std::string command_page(const CommandDoc& command) {
  std::string out = head(command.name, command, command.description);
  out += ".SH SYNOPSIS\n" + bold(command.name) + " " + italic("verb") + " [" + italic("options") +
         "] " + italic("file") + " ...\n.SH DESCRIPTION\n" + roff(command.description) +
         "\n.SH VERBS\n";
  for (const VerbDoc& verb : command.verbs)
    out +=
        ".TP\n" + bold(command.name + "-" + verb.name) + "(1)\n" + roff(verb.description) + ".\n";
  out += ".SH OPTIONS\n";
  for (const OptionDoc& option : command.options) out += option_item(option, false);
  return out + footer_text(command.footer) + kExitStatus;
}

}  // namespace

std::string roff(const std::string& text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '`': out += "\\(ga"; break;
      case '\'': out += "\\(aq"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '"': out += "\\(dq"; break;
      default: out += c;
    }
  }
  return out;
}

std::map<std::string, std::string> manual_pages(const CommandDoc& command) {
  std::map<std::string, std::string> out;
  out[command.name + ".1"] = command_page(command);
  for (const VerbDoc& verb : command.verbs)
    out[command.name + "-" + verb.name + ".1"] = verb_page(command, verb);
  return out;
}

}  // namespace refrain::cli
