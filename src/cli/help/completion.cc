#include "cli/help/completion.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace refrain::cli {
namespace {

// What does not depend on the verbs. @ stands for the name of the command.
constexpr const char* kFunctions = R"(
# Traces and folders; any files where there are none.
_@_files() {
  mapfile -t COMPREPLY < <(compgen -f -X '!*.rfn' -- "$1"; compgen -d -- "$1")
  if ((${#COMPREPLY[@]} == 0)); then mapfile -t COMPREPLY < <(compgen -f -- "$1"); fi
  compopt -o filenames 2>/dev/null
}

# Where the program is on the line of a verb that runs one; COMP_CWORD when there is none yet.
_@_program() {
  local i=2 word
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then i=$((i + 1)); break; fi
    [[ $word == -* ]] || break
    if [[ ${COMP_WORDS[i + 1]-} == "=" ]]; then i=$((i + 3))
    elif [[ " $1 " == *" $word "* ]]; then i=$((i + 2))
    else i=$((i + 1)); fi
  done
  ((i > COMP_CWORD)) && i=$COMP_CWORD
  echo "$i"
}

_@() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local options="" valued="" numbers="" choices="" runs=0 at=0
  COMPREPLY=()
  # bash makes three words of --format=json
  if [[ $cur == "=" ]]; then
    cur=""
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $prev == help ]]; }; then
    mapfile -t COMPREPLY < <(compgen -W "$_@_verbs" -- "$cur")
    return
  fi
  _@_verb "${COMP_WORDS[1]}" "$prev" || return
  if ((runs)); then
    at=$(_@_program "$valued")
    if ((at < COMP_CWORD)); then
      if declare -F _command_offset >/dev/null; then _command_offset "$at"
      else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); fi
      return
    fi
  fi
  if [[ -n $choices ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
  elif [[ " $numbers " == *" $prev "* ]]; then
    return
  elif [[ " $valued " == *" $prev "* ]]; then
    _@_files "$cur"
  elif [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif ((runs)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
  else
    _@_files "$cur"
  fi
}
complete -F _@ @
)";

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// Whether no file can be its value.
bool is_number(const OptionDoc& option) {
  constexpr std::string_view kNumbers[] = {"INT",  "UINT", "FLOAT",  "COUNT", "TIME", "SECONDS",
                                           "SIZE", "MIB",  "THREAD", "CALL",  "DEPTH"};
  return !option.range.empty() ||
         std::find(std::begin(kNumbers), std::end(kNumbers), option.value) != std::end(kNumbers);
}

// What a verb takes, as assignments to the variables of the function above.
std::string verb_case(const VerbDoc& verb) {
  std::vector<std::string> options, valued, numbers;
  std::string choices;
  for (const OptionDoc& option : verb.options) {
    for (const std::string& name : option.names) {
      options.push_back(name);
      if (!option.value.empty()) valued.push_back(name);
      if (is_number(option)) numbers.push_back(name);
    }
    if (option.choices.empty()) continue;
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : " | ") + name;
    choices += "        " + names + ") choices=\"" + join(option.choices) + "\" ;;\n";
  }
  std::string out = "    " + verb.name + ")\n";
  out += "      options=\"" + join(options) + "\"\n";
  out += "      valued=\"" + join(valued) + "\"\n";
  if (!numbers.empty()) out += "      numbers=\"" + join(numbers) + "\"\n";
  if (verb.runs_program) out += "      runs=1\n";
  if (!choices.empty()) out += "      case $2 in\n" + choices + "      esac\n";
  return out + "      ;;\n";
}

}  // namespace

std::string bash_completion(const CommandDoc& command) {
  std::vector<std::string> first;
  std::string cases;
  for (const VerbDoc& verb : command.verbs) {
    first.push_back(verb.name);
    cases += verb_case(verb);
  }
  first.emplace_back("help");
  for (const OptionDoc& option : command.options)
    first.insert(first.end(), option.names.begin(), option.names.end());
  std::string functions;
  for (const char* c = kFunctions; *c != '\0'; ++c)
    // ${array[@]} keeps its sign.
    if (*c == '@' && c[-1] != '[')
      functions += command.name;
    else
      functions += *c;
  return "# Completion of " + command.name + " in bash, made by `" + command.name + " manual`.\n_" +
         command.name + "_verbs=\"" + join(first) + "\"\n_" + command.name +
         "_verb() {\n  case $1 in\n" + cases + "    *) return 1 ;;\n  esac\n}\n" + functions;
}

}  // namespace refrain::cli
