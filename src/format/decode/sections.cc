#include "format/decode/sections.h"

#include <algorithm>

#include "format/file_forms.h"
#include "format/walk.h"

namespace refrain::format {

namespace {

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

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
  const uint64_t n = in.count("table count", kMaxTables);
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    out.trace.tables.push_back(in.runs("table", kMaxRanks, static_cast<int64_t>(i)));
}

namespace {

// A sequence without rules: each byte of all terminals after the other.
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
    if (!g.symbols.empty() && g.symbols.back().id == t) {
      ++g.symbols.back().count;
    } else {
      g.symbols.push_back(grammar::Symbol{t, false, 1});
    }
  }
  g.rule_end = {static_cast<uint32_t>(g.symbols.size())};
  return g;
}

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

void read_grammars(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("grammar count", kMaxGrammars);
  uint64_t symbols = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    const auto index = static_cast<int64_t>(i);
    const uint8_t form = in.u8("form of grammar", index);
    if (in.ok() && form > static_cast<uint8_t>(GrammarForm::kSequence))
      return in.fail(kRuleGrammar, begin, "unknown form of grammar " + std::to_string(i));
    if (form == static_cast<uint8_t>(GrammarForm::kSequence)) {
      out.trace.grammars.push_back(read_sequence(in, index));
      symbols += out.trace.grammars.back().symbols.size();
      continue;
    }
    const size_t rules_begin = in.position(), numbers_begin = in.number_position();
    // In one group no two terminals become the same signature.
    auto g =
        grammar::read(in.bytes(), grammar::Limits{out.trace.signatures.size()}, &in.number_bytes());
    in.numbers_done(numbers_begin, "grammar", index);
    if (!in.ok()) break;
    if (!g.ok()) {
      in.fail(kRuleGrammar, begin, "number " + std::to_string(i) + ": " + g.error().message);
      break;
    }
    symbols += g->symbols.size();
    if (symbols > kMaxGrammarSymbols) {
      in.fail(kRuleLimits, begin, "too many symbols in all grammars");
      break;
    }
    in.done(rules_begin, "grammar", index,
            std::to_string(g->rule_count()) + " rules, " + std::to_string(g->symbols.size()) +
                " symbols");
    out.trace.grammars.push_back(std::move(*g));
  }
}

void read_groups(FieldReader& in, Decoding& out) {
  std::vector<Group>& all = out.trace.groups;
  const uint64_t n = in.count("group count", kMaxGroups);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    all.emplace_back();
    all.back().ranks = in.runs("ranks of group", kMaxRanks, static_cast<int64_t>(i));
  }
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const uint64_t locations = in.count("location count of group", kMaxLocations, index);
    for (uint64_t l = 0; l < locations && in.ok(); ++l) {
      Location loc;
      loc.thread = static_cast<uint32_t>(in.varint("thread of group", index, UINT32_MAX));
      loc.grammar = static_cast<uint32_t>(in.varint("grammar of group", index, kMaxGrammars));
      all[i].locations.push_back(loc);
    }
  }
  std::vector<uint64_t> lengths;
  uint64_t terminals = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    lengths.push_back(
        in.scaled("signature count of group", kMaxSignatures, static_cast<int64_t>(i)));
    terminals += lengths.back();
    if (terminals > kMaxGroupTerminals)
      in.fail(kRuleLimits, begin, "too many signatures in all groups");
  }
  const std::vector<uint32_t> none;
  const std::vector<uint32_t>* before = &none;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    if (!read_group_signatures(in, lengths[i], *before, out.trace.signatures.size(),
                               static_cast<int64_t>(i), all[i].signatures))
      break;
    before = &all[i].signatures;
  }
}

void read_losses(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("loss count", kMaxLosses);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    Loss l;
    l.reason = in.string("reason", kMaxTextBytes, index);
    l.calls = in.varint("calls", index);
    l.rank = in.zigzag("rank", index);
    l.detail = in.string("detail", kMaxTextBytes, index);
    if (in.ok()) out.trace.losses.push_back(std::move(l));
  }
}

}  // namespace refrain::format
