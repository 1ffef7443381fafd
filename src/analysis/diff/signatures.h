// Which call signatures of one place appeared, vanished or changed.
#pragma once

#include <vector>

#include "analysis/diff/diff.h"

namespace refrain::analysis::diff {

// Signatures by words, as in CallRow. Those whose numbers of calls differ are changed; one that
// vanished and one that appeared are one that changed where most of their words agree. Numbers of
// calls are divided by `ranks_before` and `ranks_after`.
std::vector<SignatureChange> compare_signatures(const std::vector<SignatureRow>& before,
                                                const std::vector<SignatureRow>& after,
                                                double ranks_before, double ranks_after);

// Equal but for the last bits of a quotient.
bool is_close(double a, double b);

}  // namespace refrain::analysis::diff
