// Calls of POSIX and stdio functions, of traces that have them.

#include "analysis/posix.h"
#include "report/page/section.h"
#include "report/profile/posix_report.h"

namespace refrain::report {
namespace {

class PosixSection : public PageSection {
 public:
  void ask(const PageQuestion& page) override {
    page.say("POSIX functions");
    profile_ = analysis::posix_profile(page.trace);
  }
  void write(const PageView&, PageData& out) const override {
    if (profile_.is_known) out.json["posix"] = posix_rows_json(profile_);
  }

 private:
  analysis::PosixProfile profile_;
};

}  // namespace

std::unique_ptr<PageSection> posix_section() { return std::make_unique<PosixSection>(); }

}  // namespace refrain::report
