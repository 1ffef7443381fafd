// Arrays of integers inside a signature: converts between the elements that the recorder writes,
// and the runs of the merge and of the file.
#pragma once

#include <string>

namespace refrain::format {

// The signature (inline form) with every kIntRuns field as kIntList: loops of runs instead of runs.
// Counts and displacements of an all-to-all have a run or more per rank, and depend on the rank; as
// loops they have as many slots at any number of ranks, and the slots become rank expressions. The
// same values for the same array. Bytes that are no signature are returned as they are.
std::string fold_arrays(std::string signature);

}  // namespace refrain::format
