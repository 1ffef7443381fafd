#!/usr/bin/env python3
"""House rules that a script can check. One function per rule; each has cases that must fail.

Every function named rule_* below takes a Tree and yields messages "place: what is wrong".

usage: house_rules.py [--root DIR] | --self-test     exit status 0: good, 1: a rule is broken
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

kMaxFileLines = 400
kMaxFunctionLines = 70
kMaxColumns = 100
kMaxScriptColumns = 120  # Python and the shell have no formatter here

kCodeSuffixes = {".h", ".cc", ".c", ".S"}
kTextSuffixes = kCodeSuffixes | {".py", ".md", ".txt", ".cmake", ".json", ".sh", ""}
kIgnoredFolders = {"build", ".git", "__pycache__"}
# Spelled in two parts, so that this file passes its own rule.
kForbidden = ["/wo" "rk/", "../sha" "red", "iss" "ue #", "TO" "DO", "FIX" "ME", "X" "XX",
              "FIND" "INGS", "PEE" "RS.md", "DES" "IGN.md", "DES" "IGN:", "MOD" "ELS.md"]
kNamedByOthers = {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
                  "CMakeLists.txt", "CMakePresets.json", "Makefile", "package-lock.json"}


kOpensFunction = re.compile(
    r"\)(\s*(const|noexcept|override|final|->\s*[\w:<>&*, ]+))*\s*\{\s*$")


class Tree:
    """The files of a checkout: names relative to the root, and their text."""

    def __init__(self, root):
        self.root = root
        self.names = []
        for folder, folders, files in os.walk(root):
            # Builds are not looked into: they may hold whole systems.
            folders[:] = [f for f in folders if f not in kIgnoredFolders and not f.endswith(".egg-info")]
            for path in (pathlib.Path(folder) / file for file in files):
                if path.is_file() and not path.is_symlink() and path.name not in kIgnoredFolders:
                    self.names.append(path.relative_to(root))
        self.names.sort()

    def text(self, name):
        try:
            return (self.root / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            return ""

    def code(self, *tops):
        return [n for n in self.names if n.suffix in kCodeSuffixes and n.parts[0] in tops]

    def ours(self):
        """Everything but data: text files that people write."""
        return [n for n in self.names if n.suffix in kTextSuffixes and n.name != "LICENSE"
                and "corpus" not in n.parts and n.parts[0] != "spec"]


def rule_file_length(tree):
    for name in tree.code("src", "include", "bench", "examples"):
        count = len(tree.text(name).splitlines())
        if count > kMaxFileLines:
            yield f"{name}: {count} lines, at most {kMaxFileLines}"


def function_lengths(text):
    """(line, length) of every block that opens after ")" at the start of a statement.

    Relies on clang-format: a function's body ends at the first "}" in the column where the
    function begins. Namespaces, classes and initialisers do not open after a parenthesis.
    """
    lines = text.splitlines()
    for index, line in enumerate(lines):
        opens = re.search(kOpensFunction, line)
        if not opens or re.match(r"\s*(if|for|while|switch|else|do|\}|#|//|\*)", line):
            continue
        start = index
        while start > 0 and len(lines[start]) - len(lines[start].lstrip()) > 4 \
                and not lines[start - 1].rstrip().endswith((";", "}", "{", ":")):
            start -= 1
        indent = len(lines[start]) - len(lines[start].lstrip())
        for end in range(index + 1, len(lines)):
            if re.match(r" {%d}\}" % indent, lines[end]):
                yield start + 1, end - start + 1
                break


def rule_function_length(tree):
    for name in tree.code("src", "include", "bench", "examples"):
        for line, length in function_lengths(tree.text(name)):
            if length > kMaxFunctionLines:
                yield f"{name}:{line}: function of {length} lines, at most {kMaxFunctionLines}"


def rule_header_comment(tree):
    """A header says first what it is for. A source may leave that to a header of its folder."""
    for name in tree.code("src", "include"):
        text = tree.text(name).lstrip()
        folder = "/".join(name.parts[1:-1])
        has_header = name.suffix == ".cc" and (f'#include "{folder}/' in text
                                               or '#include "refrain/' in text
                                               or name.stem.endswith("_test"))
        if not has_header and text[:2] not in ("//", "/*"):
            yield f"{name}:1: begin with a comment that says what the file is for"


def rule_pragma_once(tree):
    for name in tree.code("src"):
        if name.suffix == ".h" and "#pragma once" not in tree.text(name):
            yield f"{name}: no #pragma once"


# Headers of the standard library, by the names for which a header of ours must include them itself:
# what comes along with another one today does not with the next compiler.
kStandardNames = {
    "algorithm": r"std::(sort|find_if|min|max|clamp)\b", "array": r"std::array\b",
    "atomic": r"std::atomic\b", "cstdint": r"\bu?int(8|16|32|64|ptr|max)_t\b",
    "cstring": r"std::mem(cpy|cmp|set)\b", "deque": r"std::deque\b", "functional": r"std::function\b",
    "limits": r"std::numeric_limits\b", "map": r"std::map\b", "memory": r"std::(unique|shared)_ptr\b",
    "mutex": r"std::(mutex|lock_guard)\b", "optional": r"std::optional\b", "set": r"std::set\b",
    "span": r"std::span\b", "string": r"std::string\b", "string_view": r"std::string_view\b",
    "unordered_map": r"std::unordered_map\b", "utility": r"std::(move|pair|exchange)\b",
    "variant": r"std::variant\b", "vector": r"std::vector\b"}
kSameInC = {"cstdint": {"stdint.h", "inttypes.h", "cinttypes"}, "cstring": {"string.h"}}


def rule_standard_includes(tree):
    for name in tree.code("src", "include"):
        if name.suffix != ".h":
            continue
        text = tree.text(name)
        code = re.sub(r"//.*", "", text)
        included = set(re.findall(r'#\s*include\s*<([^>]+)>', text))
        for header, pattern in kStandardNames.items():
            if re.search(pattern, code) and not included & {header, *kSameInC.get(header, ())}:
                yield f"{name}: uses a name of <{header}> and does not include it"


def rule_fmt_join(tree):
    """The header that has it changed from one release of fmt to the next; <fmt/ranges.h> is right with all."""
    for name in tree.code("src", "include", "bench", "tests"):
        text = tree.text(name)
        if "fmt::join" in text and "<fmt/ranges.h>" not in text:
            yield f"{name}: uses fmt::join and does not include <fmt/ranges.h>"


def rule_no_tabs(tree):
    for name in tree.ours():
        if name.name == "Makefile":
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if "\t" in line:
                yield f"{name}:{number}: a tab"


def rule_columns(tree):
    for name in tree.names:
        if name.suffix in kCodeSuffixes:
            limit = kMaxColumns
        elif name.suffix == ".py" or name.name == "dev":
            limit = kMaxScriptColumns
        else:
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if len(line) > limit and not re.search(r"https?://\S+$", line):
                yield f"{name}:{number}: {len(line)} columns, at most {limit}"


def rule_no_trailing_space(tree):
    for name in tree.ours():
        text = tree.text(name)
        for number, line in enumerate(text.splitlines(), start=1):
            if line != line.rstrip():
                yield f"{name}:{number}: spaces at the end of the line"
        if text and not text.endswith("\n"):
            yield f"{name}: no newline at the end"


def rule_forbidden_words(tree):
    """Notes to oneself and paths of one machine do not belong in the tree."""
    for name in tree.ours():
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            for word in kForbidden:
                if re.search(r"(?<![A-Za-z])" + re.escape(word) + r"(?![a-z])", line):
                    yield f"{name}:{number}: '{word}'"


def rule_file_names(tree):
    """snake_case, also for folders; decision records are NNNN-words-with-dashes.md."""
    for name in tree.names:
        if name.name in kNamedByOthers or "corpus" in name.parts or name.suffix == ".cmake":
            continue
        if name.parts[:2] == ("docs", "decisions"):
            good = re.fullmatch(r"(\d{4}-)?[a-z0-9-]+\.md", name.name)
        else:
            # Dots and dashes as other programs want them: .clang-format, x.tar.gz, log.F90.
            good = all(re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+|\.F90)*|\.[a-z-]+", part)
                       for part in name.parts)
        if not good:
            yield f"{name}: file names are snake_case"


def rule_no_asserts_on_data(tree):
    """The recorder lives in somebody else's process, the reader reads hostile files."""
    for name in tree.code("src"):
        if name.stem.endswith("_test"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            code = line.split("//")[0]
            if re.search(r"(?<![\w.>])(std::)?(abort|assert|terminate)\s*\(", code):
                yield f"{name}:{number}: abort, assert and terminate are not for libraries"


def rule_exceptions(tree):
    """Result<T> in the libraries; exceptions at the edges: the command line, Python, what the recorder loads, and the
    blackboard, which runs operations of others."""
    for name in tree.code("src", "include"):
        edges = (("src", "cli"), ("src", "python"), ("src", "blackboard"))
        is_edge = name.parts[:2] in edges or name.name == "cluster_library.cc"
        if is_edge or name.stem.endswith("_test"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if re.match(r"\s*(throw\b|try\s*\{|\}?\s*catch\s*\()", line):
                yield f"{name}:{number}: libraries return Result<T> instead of throwing"


kTakenApart = re.compile(
    r'\bname(\(\))?\s*[!=]=\s*"MPIX?_[A-Z][a-z]|\b(starts_with|ends_with|find|contains)\("(MPIX?_[A-Za-z]|_(c|init)")')


def rule_function_names(tree):
    """What a function does stands in spec/mpi/calls, for all: nobody reads it out of its name."""
    for name in tree.code("src"):
        if name.parts[1] in ("mpi", "cli", "tracer") or name.stem.endswith("_test"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if kTakenApart.search(line.split("//")[0]):
                yield f"{name}:{number}: ask mpi/call_meaning.h, or compare ids, instead of taking a name apart"


kNumbersByNewNames = re.compile(r"(?<![\w.>])(std::)?(strtou?ll?|ato(i|l|ll)|v?f?s?scanf)\s*\(")


def rule_older_libc(tree):
    """C as of 2023 gives functions that read numbers new names, which systems before glibc 2.38 lack."""
    for name in tree.code("src"):
        if name.parts[1] != "tracer" or name.stem.endswith("_test") or name.stem == "older_libc":
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if kNumbersByNewNames.search(line.split("//")[0]):
                yield f"{name}:{number}: std::from_chars, so that the recorder loads on older systems"


def verbs(tree):
    """A verb is a file: src/cli/NAME.cc defines add_NAME()."""
    found = set()
    for name in tree.code("src"):
        if name.parts[1] == "cli" and name.suffix == ".cc" and re.search(
                rf"^void add_{name.stem}\(", tree.text(name), re.MULTILINE):
            found.add(name.stem)
    return sorted(found)


def rule_verbs_documented(tree):
    for verb in verbs(tree):
        for document in ("README.md", "CHANGELOG.md"):
            if not re.search(rf"`(refrain )?{verb}\b", tree.text(document)):
                yield f"{document}: the verb `{verb}` is not mentioned"


def section_types(tree):
    """Enumerators of `enum class SectionType` in src/format/layout.h: CamelCase -> snake_case."""
    text = tree.text(pathlib.Path("src/format/layout.h"))
    match = re.search(r"enum class SectionType[^{]*\{(.*?)\};", text, re.DOTALL)
    names = re.findall(r"^\s*k(\w+)\s*=", match.group(1), re.MULTILINE) if match else []
    return [re.sub(r"(?<!^)(?=[A-Z])", "_", n).lower() for n in names]


def rule_sections_documented(tree):
    text = tree.text(pathlib.Path("docs/format.md")).lower()
    for section in section_types(tree):
        if not re.search(rf"\b{section}\b", text) and not re.search(
                rf"\b{section.replace('_', ' ')}\b", text):
            yield f"docs/format.md: the section '{section}' is not described"


def rule_variables_have_rows(tree):
    """A variable of the environment is a row of src/options/record.h, and read by its row (options/environment.h)."""
    for name in tree.code("src"):
        if name.stem.endswith("_test") or name.parts[1] == "options":
            continue
        for number, line in enumerate(tree.text(name).splitlines(), start=1):
            if "REFRAIN_TEST" in line:  # what tests tell their programs
                continue
            for variable in re.findall(r'"(REFRAIN_[A-Z_]+)"', line):
                yield f"{name}:{number}: {variable} by name: take its row of src/options/record.h"


RULES = {name: rule for name, rule in sorted(globals().items()) if name.startswith("rule_")}

kGoodHeader = "// What this is for.\n#pragma once\n"
kLongBody = "int f(int a) {\n" + "  a += 1;\n" * 80 + "  return a;\n}\n"
kLayout = "// Sections.\n#pragma once\nenum class SectionType : int {\n  kMeta = 1,\n};\n"
kVerb = "// The verb.\nvoid add_info(App& app) { app.add(); }\n"
# Rule -> trees (file -> text) of which each breaks it exactly once.
FAILING = {
    "rule_older_libc": [{"src/tracer/a.cc": "int f(const char* s) { return std::atoi(s); }\n"}],
    "rule_function_names": [
        {"src/report/a.cc": 'bool f(const Call& c) { return c.name == "MPI_Send"; }\n'},
        {"src/analysis/a.cc": 'bool f(const std::string& name) { return name.ends_with("_init"); }\n'}],
    "rule_file_length": [{"src/base/a.h": kGoodHeader + "int x;\n" * 400}],
    "rule_function_length": [
        {"src/base/a.cc": kLongBody},
        {"src/base/a.cc": "class A {\n  void g(int a) const {\n" + "    x();\n" * 75 + "  }\n};\n"},
        {"src/base/a.cc": "int f(int a,\n      int b) {\n" + "  x();\n" * 75 + "}\n"}],
    "rule_header_comment": [{"src/base/a.h": "#pragma once\n"},
                            {"src/cli/a.cc": '#include "base/b.h"\n'}],
    "rule_pragma_once": [{"src/base/a.h": "// A.\n"}],
    "rule_fmt_join": [{"src/base/a.cc": "#include <fmt/format.h>\nauto text = fmt::join(all, \" \");\n"}],
    "rule_standard_includes": [{"src/base/a.h": kGoodHeader + "uint64_t x;\n"},
                               {"include/refrain/a.h": "// std::map\n#include <set>\nstd::vector<int> x;\n"}],
    "rule_no_tabs": [{"src/base/a.h": "// A.\n#pragma once\n\tint x;\n"}],
    "rule_columns": [{"src/base/a.h": "// " + "a" * 100 + "\n"},
                     {"tools/gen/a.py": "# " + "a" * 120 + "\n"}],
    "rule_no_trailing_space": [{"README.md": "word \n"}, {"README.md": "word"}],
    "rule_forbidden_words": [{"README.md": f"{word} 12\n"} for word in kForbidden],
    "rule_file_names": [{"src/base/MyFile.h": ""}, {"src/Base/a.h": ""},
                        {"docs/decisions/0001_x.md": ""}],
    "rule_no_asserts_on_data": [{"src/base/a.cc": "void f() { std::abort(); }\n"},
                                {"src/base/a.cc": "  assert(x);\n"}],
    "rule_exceptions": [{"src/base/a.cc": "  throw 1;\n"}, {"src/base/a.cc": "  try {\n"}],
    "rule_verbs_documented": [
        {"src/cli/info.cc": kVerb, "README.md": "`refrain info`\n", "CHANGELOG.md": "none\n"}],
    "rule_variables_have_rows": [{"src/cli/a.cc": 'int a = read("REFRAIN_ODD");\n'}],
    "rule_sections_documented": [{"src/format/layout.h": kLayout, "docs/format.md": "Nothing.\n"}],
}
# One tree that every rule lets pass, with what each is most likely to misjudge.
PASSING = {
    "src/base/a.h": kGoodHeader + "#include <cstdint>\nuint8_t static_assert_count;  // no std::string\n",
    "src/base/a.cc": '#include "base/a.h"\nnamespace a {\n' + "int f(int a) {\n  return a;\n}\n"
                     * 60 + "}  // namespace a\n",
    "src/cli/info.cc": kVerb,
    "src/format/layout.h": kLayout,
    "docs/format.md": "## Section `meta`\n",
    "README.md": "`refrain info` says todo lists are fine.\n",
    "CHANGELOG.md": "- `info`\n",
    "docs/decisions/0001-a-choice.md": "# A choice\n",
    "CMakeLists.txt": "project(x)\n",
}


def write_tree(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(pathlib.Path(folder))


def self_test():
    failures, cases = 0, 0
    for rule_name, rule in RULES.items():
        for files in FAILING.get(rule_name, []):
            cases += 1
            with tempfile.TemporaryDirectory() as folder:
                found = list(rule(write_tree(folder, files)))
            if len(found) != 1:
                failures += 1
                print(f"self-test: {rule_name} must fail once on {sorted(files)}: {found}")
        if rule_name not in FAILING:
            failures += 1
            print(f"self-test: {rule_name} has no case that fails")
        with tempfile.TemporaryDirectory() as folder:
            found = list(rule(write_tree(folder, PASSING)))
        cases += 1
        if found:
            failures += 1
            print(f"self-test: {rule_name} must pass: {found}")
    print(f"lint self-test: {cases} cases, {failures} failed")
    return failures


def main():
    parser = argparse.ArgumentParser(description="Check the house rules.")
    default_root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=pathlib.Path, default=default_root)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return 1 if self_test() else 0
    tree = Tree(arguments.root.resolve())
    count = 0
    for rule_name, rule in RULES.items():
        for message in rule(tree):
            count += 1
            print(f"{message} [{rule_name[len('rule_'):]}]")
    print(f"lint: {len(RULES)} rules, {count} broken")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
