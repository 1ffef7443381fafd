// Grammars that are too large to stay in memory: into the file, and back at the end.
#include <cstring>

#include "format/checksum.h"
#include "grammar/concatenate.h"
#include "tracer/location.h"
#include "tracer/process.h"
#include "tracer/record.h"
#include "tracer/spool.h"
#include "tracer/spool_common.h"

namespace refrain::tracer {

using format::spool::Chunk;

bool Spool::finish_part(Location& l) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || l.spool.thread == nullptr || l.grammar.length() == 0) return false;
  SpoolThread& t = *l.spool.thread;
  if (!checkpoint(t)) return false;
  Chunk*& sealed = t.base.chunk[t.base.generation % 2];
  t.parts.push_back({sealed->offset, sealed->bytes, l.grammar.length()});
  file_.release(sealed);
  sealed = nullptr;
  l.spool.calls_before += l.grammar.length();
  l.grammar = grammar::Builder(process_.options.grammar_bytes);
  return true;
}

grammar::Grammar Spool::whole_grammar(const Location& l, uint64_t* lost, uint64_t* lost_at_end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  *lost = 0;
  grammar::Concatenation all;
  const SpoolThread* mine = nullptr;
  for (const auto& t : threads_)
    if (t->location == &l) mine = t.get();
  if (mine == nullptr || mine->parts.empty()) return last_grammar(l, lost_at_end);
  std::string bytes;
  for (const SpoolThread::Part& part : mine->parts) {
    const bool there = file_.read_back(part.offset, part.bytes, bytes);
    Chunk c;
    if (there) std::memcpy(&c, bytes.data(), sizeof c);
    const std::string_view data = there && c.used <= bytes.size() - sizeof c
                                      ? std::string_view(bytes).substr(sizeof c, c.used)
                                      : std::string_view();
    base::ByteReader in(data);
    in.varint();
    auto g = grammar::read(in, grammar::Limits{process_.signatures.size()});
    if (data.empty() || format::checksum32(data) != c.checksum || !g.ok())
      *lost += part.calls;
    else
      all.add(*g);
  }
  all.add(last_grammar(l, lost_at_end));
  return all.finish();
}

}  // namespace refrain::tracer
