// The structure of a rank: the sequence of its calls, each as function, call path and communicator,
// and whether it has a partner at all.
//
// Ranks of one structure can stand for each other in a replay: whoever makes the calls of the other
// waits for as many messages as there are. With exact endpoints calls keep their parameters, and
// only times are shared: then it also has to agree which calls of a rank are equal to each other,
// so that the times of one location are those of the other, call by call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grammar/grammar.h"

namespace refrain::analysis::clusters {

// Equal for equal sequences of classes, whatever the grammars look like, and else not, but for
// chance (one in 2^60). `classes` are those of the terminals. With `tells_equal_calls` which
// terminals are equal counts as well: terminals are numbered as they first appear. Folds the
// grammar: O(symbols + terminals).
uint64_t sequence_hash(const grammar::Grammar& grammar, std::span<const uint64_t> classes,
                       bool tells_equal_calls);

// The terminals of the grammar as they first appear in its sequence. `terminal_count` is above all
// of them.
std::vector<uint32_t> in_order_of_appearance(const grammar::Grammar& grammar,
                                             size_t terminal_count);

}  // namespace refrain::analysis::clusters
