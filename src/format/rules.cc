#include "format/rules.h"

#include <array>

namespace refrain::format {

std::string_view rule_text(int number) {
  constexpr std::array<std::string_view, kRuleEnd> kText = {
      "",
      "The file begins with the magic.",
      "The major version is one that the reader knows.",
      "Every must-understand bit is one that the reader knows.",
      "Reserved bits and bytes of the header are zero.",
      "The file is as long as the header says.",
      "The section table lies inside the file.",
      "The header checksum covers header and section table.",
      "A table entry has a known codec and lengths within the limits.",
      "The sections follow the table without gaps and end where the file ends.",
      "A section type appears once at most; bundles may be several.",
      "A section of unknown type is marked as may-ignore.",
      "Meta, definitions, signatures, durations, grammars, groups, totals and numbers are there.",
      "A section's checksum is that of its stored bytes.",
      "A compressed section decompresses to exactly its raw length.",
      "A bundle consists of whole sections that are not bundles.",
      "The fields of a section follow its description and end where it ends.",
      "No count or length passes its limit.",
      "The number of ranks is at least 1.",
      "Every rank has a host of the list, or -1.",
      "A definition refers to definitions with a smaller index only.",
      "A definition's payload and references have the form of its kind.",
      "A shape is a well-formed signature in split form with one expression for each slot.",
      "A request field refers to a signature with a smaller index.",
      "A definition slot is a constant or a table, and every value is an index of a definition.",
      "An expression's operands are in range.",
      "A table expression names a table of the file.",
      "Every signature has durations with minimum <= mean <= maximum.",
      "A grammar is well formed: rules refer to later rules, repetitions are at least 1.",
      "Groups have ascending ranks of the world, no rank is in two of them.",
      "The locations of a group have ascending thread numbers and grammars of the file.",
      "The terminals of a group's grammars are below its number of signatures.",
      "The signatures of a group are signatures of the file.",
      "A signature with a table belongs to one group, and the table has a value for each rank of "
      "it.",
      "Every rank of the world has totals, or none has, and what the recorder cost is consistent.",
      "The header's state says whether all ranks are there and whether there are losses.",
      "A loss has a reason and a rank of the world, or -1.",
      "Times are the last section, uncompressed, and not in a bundle.",
      "The index and the blocks of times follow their description; blocks have the calls of their "
      "location and keep their order.",
      "Every rank has a place of the list, or -1, and a place has CPUs in ascending order.",
      "The recorder's pieces of work are of ranks of the world, in ascending order.",
      "Every rank of the world is in one cluster, and its lead, which is below the next one's, is "
      "a member of it.",
      "A member of a cluster has the threads and as many calls as its lead, but for those of other "
      "structure.",
      "Feature bit 2 is set if there are clusters, and only then; the loss `stood_for` says so as "
      "well.",
      "Gaps, where they are there, are those of every signature, with minimum <= mean <= maximum.",
      "POSIX functions are in ascending order, each with ranks of the world in ascending order "
      "that "
      "called it, with errors <= calls and shortest <= longest <= time of all calls.",
  };
  return number > 0 && number < kRuleEnd ? kText[static_cast<size_t>(number)] : std::string_view();
}

}  // namespace refrain::format
