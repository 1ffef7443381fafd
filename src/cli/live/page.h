// The page of a folder of jobs, for `live serve` and for `live analyze` in a job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cli/output/common.h"
#include "online/job_folder.h"
#include "online/show/service.h"

namespace refrain::cli {

// Starts it with the token of the folder, and writes its address beside the token. Without a port:
// that of last time, so that pages that are open find us again, or any that is free.
Result<std::unique_ptr<online::Service>> open_page(const online::JobFolder& jobs,
                                                   std::optional<uint16_t> port, uint32_t viewers);

}  // namespace refrain::cli
