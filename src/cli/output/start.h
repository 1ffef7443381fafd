// Common start of both executables: `refrain`, which records, and `refrain-verbs`, which has the
// other verbs.
#pragma once

namespace refrain::cli {

// A standard stream that the caller closed must not become a file that is opened later, or output
// would go there. Writing to stdout fails as it should; what is executed later finds closed streams
// again.
void keep_standard_streams();

}  // namespace refrain::cli
