// Readers of the sections that have no file of their own. They check each field against limits.h as
// they read it, and leave what spans several sections to check_content().

#include "format/decode/section_readers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/decode/column_reader.h"
#include "format/signatures/file_forms.h"
#include "format/signatures/walk.h"

namespace refrain::format {

namespace {

// Hosts of a cluster are named node001, node002, ...: a name, and how many follow it. A few bytes
// may stand for very many names, so their memory is asked of Decoding::spend() before they are
// made.
void read_hosts(FieldReader& in, Decoding& out) {
  std::vector<std::string>& hosts = out.trace.meta.hosts;
  const uint64_t series = in.count("host count", kMaxHosts);
  for (uint64_t i = 0; i < series && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const size_t begin = in.position();
    hosts.emplace_back(in.string("host", kMaxTextBytes, index));
    const uint64_t more = in.wide("hosts after host", index, kMaxHosts);
    // A name grows by a digit at a time.
    constexpr uint64_t kDigits = 24;
    const bool fits =
        hosts.size() + more <= kMaxHosts && out.spend(more, 32 + hosts.back().size() + kDigits);
    if (in.ok() && !fits) return in.fail(kRuleLimits, begin, "too many hosts");
    for (uint64_t k = 0; k < more && in.ok(); ++k) {
      std::string next = next_name(hosts.back());
      if (next.empty()) return in.fail(kRuleFields, begin, "a host without a number has no next");
      hosts.push_back(std::move(next));
    }
  }
}

}  // namespace

void read_meta(FieldReader& in, Decoding& out) {
  Meta& m = out.trace.meta;
  m.ranks = in.wide("ranks", -1, kMaxRanks);
  m.duration_ns = in.wide_u64("duration_ns");
  const uint64_t texts = in.count("text count", kMaxTexts);
  for (uint64_t i = 0; i < texts && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const uint64_t number = in.varint("key", index);
    std::string key;
    if (number == 0) {
      key = in.string("key name", kMaxTextBytes, index);
      // Keys that every trace has are numbers, which take a byte.
    } else if (number <= kTextKeys.size()) {
      key = kTextKeys[static_cast<size_t>(number - 1)];
    } else {
      key = "key_" + std::to_string(number);  // named by a later minor version
    }
    std::string value(in.string("text", kMaxTextBytes, index));
    if (in.ok()) m.text[std::move(key)] = std::move(value);
  }
  read_hosts(in, out);
  const size_t begin = in.position();
  const uint8_t form = in.u8("form of hosts of ranks");
  // Ranks are mostly dealt out to hosts in equal blocks: then the list is one number, at any size
  // of the job.
  if (form == static_cast<uint8_t>(HostForm::kList)) {
    m.host_of_rank = in.runs("host of rank", kMaxRanks);
    return;
  }
  const uint64_t each = in.wide("ranks of each host", -1, kMaxRanks);
  // Each host has a name.
  const bool good = form == static_cast<uint8_t>(HostForm::kBlocks) && each > 0 &&
                    m.ranks <= each * m.hosts.size();
  if (in.ok() && !good) return in.fail(kRuleHosts, begin, "hosts do not match the ranks");
  if (in.ok()) m.host_of_rank = host_blocks(m.ranks, each);
}

void read_tables(FieldReader& in, Decoding& out) {
  // Values are looked at by those who refer to a table: only they know what it is about.
  const uint64_t n = in.count("table count", kMaxTables);
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    out.trace.tables.push_back(in.runs("table", kMaxRanks, static_cast<int64_t>(i)));
}

namespace {

// A sequence without rules: each byte of all terminals after the other. That is how calls that
// never repeat take least: the high bytes are alike and compress to nothing.
grammar::Grammar read_sequence(FieldReader& in, int64_t index) {
  grammar::Grammar g;
  const uint64_t length = in.wide("length of sequence", index, kMaxGrammarSymbols);
  const size_t begin = in.position();
  const uint8_t width = in.u8("width of sequence", index);
  if (in.ok() && (width == 0 || width > 4)) {
    in.fail(kRuleGrammar, begin, "a sequence of width " + std::to_string(width));
    return g;
  }
  const std::string_view bytes = in.bytes("sequence", length * width, index);
  if (!in.ok()) return g;
  for (uint64_t i = 0; i < length; ++i) {
    uint32_t t = 0;
    for (uint64_t byte = 0; byte < width; ++byte)
      t |= uint32_t{static_cast<uint8_t>(bytes[byte * length + i])} << (8 * byte);
    // What reads grammars sees no difference between the forms: a terminal that follows itself is
    // one symbol with a count here, too.
    if (!g.symbols.empty() && g.symbols.back().id == t) {
      ++g.symbols.back().count;
    } else {
      g.symbols.push_back(grammar::Symbol{t, false, 1});
    }
  }
  g.rule_end = {static_cast<uint32_t>(g.symbols.size())};
  return g;
}

// The other form: a list of all of them.
bool read_signature_list(FieldReader& in, uint64_t length, size_t signatures, int64_t index,
                         std::vector<uint32_t>& list) {
  const size_t begin = in.position();
  const base::RunList all = in.runs("signatures of group", length, index);
  if (in.ok() && all.size() != length)
    in.fail(kRuleFields, begin, "a list that is not as long as the group's signatures");
  for (const auto& run : all.runs()) {
    for (uint64_t i = 0; i < run.count && in.ok(); ++i) {
      const int64_t s = static_cast<int64_t>(static_cast<uint64_t>(run.start) +
                                             static_cast<uint64_t>(run.step) * i);
      if (s < 0 || static_cast<uint64_t>(s) >= signatures)
        in.fail(kRuleGroupSignatures, begin, "unknown signature in group " + std::to_string(index));
      list.push_back(static_cast<uint32_t>(s));
    }
  }
  return in.ok();
}

// Groups mostly have the signatures of the group before, with some exchanged. A run says that its
// terminals have what the group before had (code 0), or how far each signature is from the one
// after its predecessor.
//
// The signatures of one group's terminals; false when that failed.
bool read_group_signatures(FieldReader& in, uint64_t length, const std::vector<uint32_t>& before,
                           size_t signatures, int64_t index, std::vector<uint32_t>& list) {
  int64_t next = 0;
  list.reserve(length);
  const size_t form_at = in.position();
  const uint8_t form = in.u8("form of signatures of group", index);
  if (in.ok() && form > static_cast<uint8_t>(SignaturesForm::kList))
    in.fail(kRuleFields, form_at, "unknown form of signatures");
  if (form == static_cast<uint8_t>(SignaturesForm::kList))
    return read_signature_list(in, length, signatures, index, list);
  while (list.size() < length && in.ok()) {
    const size_t begin = in.position();
    const uint64_t code = in.scaled("signature of group", UINT64_MAX, index, kScaledSignatureFrom);
    const uint64_t run = in.scaled("terminals with that in group", length - list.size(), index);
    if (in.ok() && run == 0) in.fail(kRuleFields, begin, "no terminal in a run");
    for (uint64_t i = 0; i < run && in.ok(); ++i) {
      const size_t t = list.size();
      int64_t s = -1;
      if (code != 0) {
        s = wrapping_add(next, base::unzigzag(code - 1));
      } else if (t < before.size()) {
        s = before[t];
      }
      if (s < 0 || static_cast<uint64_t>(s) >= signatures) {
        in.fail(kRuleGroupSignatures, begin, "unknown signature in group " + std::to_string(index));
        return false;
      }
      list.push_back(static_cast<uint32_t>(s));
      next = s + 1;
    }
  }
  return in.ok();
}

}  // namespace

namespace {

// Rules; an empty grammar when that failed.
grammar::Grammar read_rules(FieldReader& in, const Decoding& out, int64_t index) {
  const size_t begin = in.position(), numbers_begin = in.number_position();
  // In one group no two terminals become the same signature.
  auto g =
      grammar::read(in.bytes(), grammar::Limits{out.trace.signatures.size()}, &in.number_bytes());
  in.numbers_done(numbers_begin, "grammar", index);
  if (!in.ok()) return {};
  if (!g.ok()) {
    in.fail(kRuleGrammar, begin, "number " + std::to_string(index) + ": " + g.error().message);
    return {};
  }
  in.done(begin, "grammar", index,
          std::to_string(g->rule_count()) + " rules, " + std::to_string(g->symbols.size()) +
              " symbols");
  return std::move(*g);
}

// Grammars that differ in counts only (loops of unlike length on each rank): one of them, and a
// column of counts for each symbol that is repeated. The members' symbols are paid for before they
// are copied.
void read_grammar_family(FieldReader& in, Decoding& out, int64_t index,
                         std::vector<grammar::Grammar>& family) {
  const size_t begin = in.position();
  const uint64_t members = in.scaled("members of grammar family", kMaxGrammars, index);
  const grammar::Grammar pattern = read_rules(in, out, index);
  if (!in.ok()) return;
  const size_t symbols = pattern.symbols.size();
  if (members < 2) return in.fail(kRuleGrammar, begin, "a family of one grammar");
  if (symbols > kMaxGrammarSymbols / members || !out.spend(members, grammar_cost(symbols)))
    return in.fail(kRuleLimits, begin, "too many symbols in all grammars");
  family.assign(members, pattern);
  ColumnReader column(in);
  for (size_t i = 0; i < symbols && in.ok(); ++i) {
    // Only repeated symbols have a column. A member that repeats where the pattern does not is of
    // another family.
    if (pattern.symbols[i].count == 1) continue;
    auto before = static_cast<int64_t>(pattern.symbols[i].count);
    const auto counts = column.number("count in grammar family", index, members, &before);
    for (size_t m = 0; m < counts.size(); ++m)
      family[m].symbols[i].count = static_cast<uint64_t>(counts[m]);
  }
  // Again for each member, as counts of a damaged file may be 0, or too large together.
  for (const grammar::Grammar& g : family) {
    if (!in.ok()) return;
    const auto good = grammar::validate(g, grammar::Limits{out.trace.signatures.size()});
    if (!good.ok()) in.fail(kRuleGrammar, begin, good.error().message);
  }
}

}  // namespace

void read_grammars(FieldReader& in, Decoding& out) {
  std::vector<grammar::Grammar>& all = out.trace.grammars;
  const uint64_t n = in.count("grammar count", kMaxGrammars);
  uint64_t symbols = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    const auto index = static_cast<int64_t>(i);
    const auto form = static_cast<GrammarForm>(in.u8("form of grammar", index));
    if (in.ok() &&
        (form > GrammarForm::kFamily || (form == GrammarForm::kFamily && !out.is_compact)))
      return in.fail(kRuleGrammar, begin, "unknown form of grammar " + std::to_string(i));
    std::vector<grammar::Grammar> family;
    if (form == GrammarForm::kFamily) {
      read_grammar_family(in, out, index, family);
    } else {
      family.push_back(form == GrammarForm::kSequence ? read_sequence(in, index)
                                                      : read_rules(in, out, index));
    }
    if (!in.ok()) return;
    // Before they are kept: the limit is on the memory of all grammars, not on one.
    symbols += family.size() * family.front().symbols.size();
    if (symbols > kMaxGrammarSymbols || all.size() + family.size() > kMaxGrammars)
      return in.fail(kRuleLimits, begin, "too many symbols in all grammars");
    std::move(family.begin(), family.end(), std::back_inserter(all));
  }
}

namespace {

// A group as the file has it: its ranks may have other grammars each.
struct FileLocation {
  uint32_t thread = 0;
  uint32_t grammar = 0;
  base::RunList grammars;  // by place of the rank; empty: all have `grammar`
};
struct FileGroup {
  base::RunList ranks;
  std::vector<FileLocation> locations;
  uint64_t signatures = 0;

  bool is_split() const {
    return std::any_of(locations.begin(), locations.end(),
                       [](const FileLocation& l) { return !l.grammars.empty(); });
  }
};

void read_locations(FieldReader& in, const Decoding& out, int64_t index, FileGroup& group) {
  const uint64_t n = in.count("location count of group", kMaxLocations, index);
  for (uint64_t l = 0; l < n && in.ok(); ++l) {
    FileLocation& loc = group.locations.emplace_back();
    loc.thread = static_cast<uint32_t>(in.varint("thread of group", index, UINT32_MAX));
    const size_t begin = in.position();
    const auto grammar = static_cast<uint32_t>(in.varint("grammar of group", index, kMaxGrammars));
    // From 1.4 on 0 says that a list follows, and numbers are one higher.
    if (!out.is_compact || grammar > 0) {
      loc.grammar = out.is_compact ? grammar - 1 : grammar;
      continue;
    }
    loc.grammars = in.runs("grammars of group", group.ranks.size(), index);
    if (in.ok() && (loc.grammars.size() != group.ranks.size() || loc.grammars.empty()))
      in.fail(kRuleGroupLocations, begin, "not a grammar for each rank of a group");
  }
}

// Ranks with the same grammars are a group. False: there are more signatures in all groups than
// there may be.
bool add_split(const FileGroup& from, const std::vector<uint32_t>& signatures, uint64_t& terminals,
               std::vector<Group>& out) {
  std::map<std::vector<uint32_t>, size_t> known;
  const size_t begin = out.size();
  for (uint64_t i = 0; i < from.ranks.size(); ++i) {
    std::vector<uint32_t> own;
    for (const FileLocation& l : from.locations)
      own.push_back(l.grammars.empty() ? l.grammar : static_cast<uint32_t>(l.grammars.at(i)));
    const auto [it, is_new] = known.try_emplace(std::move(own), out.size());
    if (is_new) {
      // The first was counted before.
      if (out.size() > begin) terminals += signatures.size();
      if (terminals > kMaxGroupTerminals) return false;
      Group& made = out.emplace_back();
      made.signatures = signatures;
      made.is_like_before = out.size() > begin + 1;
      for (size_t l = 0; l < from.locations.size(); ++l)
        made.locations.push_back({from.locations[l].thread, it->first[l]});
    }
    Group& to = out[it->second];
    to.ranks.append(from.ranks.at(i));
    to.places.append(static_cast<int64_t>(i));
  }
  // All may have the same after all: then it is a group like others.
  if (out.size() == begin + 1) out.back().places = {};
  return true;
}

}  // namespace

// The file has ranks, locations and signatures of all groups each behind each other, as they
// compress better that way. A group of the file whose ranks have several grammars becomes several
// groups here.
void read_groups(FieldReader& in, Decoding& out) {
  std::vector<FileGroup> all;
  const uint64_t n = in.count("group count", kMaxGroups);
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    all.emplace_back().ranks = in.runs("ranks of group", kMaxRanks, static_cast<int64_t>(i));
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    read_locations(in, out, static_cast<int64_t>(i), all[i]);
  uint64_t terminals = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    all[i].signatures =
        in.scaled("signature count of group", kMaxSignatures, static_cast<int64_t>(i));
    terminals += all[i].signatures;
    if (terminals > kMaxGroupTerminals)
      in.fail(kRuleLimits, begin, "too many signatures in all groups");
  }
  // The group before in the file, not in `out`: one that was split stands there several times.
  std::vector<uint32_t> before;
  uint64_t ranks = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    std::vector<uint32_t> signatures;
    if (!read_group_signatures(in, all[i].signatures, before, out.trace.signatures.size(),
                               static_cast<int64_t>(i), signatures))
      return;
    if (!all[i].is_split()) {
      Group& group = out.trace.groups.emplace_back();
      group.ranks = std::move(all[i].ranks);
      for (const FileLocation& l : all[i].locations)
        group.locations.push_back({l.thread, l.grammar});
      group.signatures = signatures;
    } else if ((ranks += all[i].ranks.size()) > out.trace.meta.ranks ||
               !add_split(all[i], signatures, terminals, out.trace.groups)) {
      return in.fail(kRuleLimits, begin, "too many ranks or signatures in all groups");
    }
    before = std::move(signatures);
  }
}

void read_losses(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("loss count", kMaxLosses);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    // The reason is a text, no number, so that a loss of a later version is still shown.
    LossRecord l;
    l.reason = in.string("reason", kMaxTextBytes, index);
    l.calls = in.varint("calls", index);
    l.rank = in.zigzag("rank", index);
    l.detail = in.string("detail", kMaxTextBytes, index);
    if (in.ok()) out.trace.losses.push_back(std::move(l));
  }
}

}  // namespace refrain::format
