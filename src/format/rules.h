// The numbered MUSTs of docs/format.md. Numbers are append-only.
#pragma once

#include <string_view>

namespace refrain::format {

enum Rule : int {
  kRuleMagic = 1,
  kRuleMajor = 2,
  kRuleFeatures = 3,
  kRuleReserved = 4,
  kRuleFileLength = 5,
  kRuleTableLength = 6,
  kRuleHeaderChecksum = 7,
  kRuleTableEntry = 8,
  kRuleSectionsFill = 9,
  kRuleSectionOnce = 10,
  kRuleSectionKnown = 11,
  kRuleSectionThere = 12,
  kRuleSectionChecksum = 13,
  kRuleDecompress = 14,
  kRuleBundle = 15,
  kRuleFields = 16,
  kRuleLimits = 17,
  kRuleRanks = 18,
  kRuleHosts = 19,
  kRuleDefinitionRefs = 20,
  kRuleDefinitionPayload = 21,
  kRuleShape = 22,
  kRuleRequestOrder = 23,
  kRuleDefinitionSlot = 24,
  kRuleExpr = 25,
  kRuleTableIndex = 26,
  kRuleDurations = 27,
  kRuleGrammar = 28,
  kRuleGroupRanks = 29,
  kRuleGroupLocations = 30,
  kRuleTerminals = 31,
  kRuleGroupSignatures = 32,
  kRuleTableLengths = 33,
  kRuleTotals = 34,
  kRuleState = 35,
  kRuleLosses = 36,
  kRuleTimesLast = 37,
  kRuleTimes = 38,
  kRulePlaces = 39,
  kRuleOwnWork = 40,
  kRuleClusters = 41,
  kRuleClusterCalls = 42,
  kRuleClusterFeature = 43,
  kRuleGaps = 44,
  kRulePosix = 45,
  kRuleEnd
};

// The rule in one line; empty for a number that is not in use.
std::string_view rule_text(int number);
constexpr int rule_count() { return kRuleEnd - 1; }

}  // namespace refrain::format
