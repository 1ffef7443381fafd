// Which sections the page has, and the one that repeats what other verbs say.

#include "report/page/section.h"
#include "report/profile/profile_report.h"
#include "report/trace/info_text.h"

namespace refrain::report {
namespace {

class Summary : public PageSection {
 public:
  void ask(const PageQuestion& page) override {
    page.say("profile");
    page.answers.profile = analysis::profile(page.trace);
  }
  void write(const PageView& view, PageData& out) const override {
    using Json = nlohmann::ordered_json;
    // The same text that the other verbs print, so that the page cannot say anything else.
    out.json["info"] = Json::parse(info_json(view.trace));
    out.json["profile"] =
        Json::parse(profile_json({view.trace, view.answers.profile, view.symbols}));
  }
};

}  // namespace

std::unique_ptr<PageSection> summary_section() { return std::make_unique<Summary>(); }

std::vector<std::unique_ptr<PageSection>> page_sections() {
  std::vector<std::unique_ptr<PageSection>> all;
  all.push_back(summary_section());
  all.push_back(verdict_section());
  all.push_back(timeline_section());
  all.push_back(messages_section());
  all.push_back(matrix_section());
  all.push_back(density_section());
  all.push_back(waits_section());
  all.push_back(iterations_section());
  all.push_back(clusters_section());
  all.push_back(posix_section());
  return all;
}

}  // namespace refrain::report
