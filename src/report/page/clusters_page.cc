// Ranks that stand for others: who for whom, how like each other the leads are, and what each rank
// took itself beside what its lead shows for it.

#include <algorithm>

#include "analysis/clusters/dendrogram.h"
#include "reader/internal.h"
#include "report/page/section.h"
#include "report/stood_for.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<int64_t>;

namespace {

// Of each rank the mean time of a call: of its own total, and of its lead's.
void put_ranks(const PageView& view, const Clustering& clustering, PageData& out) {
  const auto ranks = static_cast<size_t>(view.trace.rank_count());
  const size_t block = std::max<size_t>(
      1, (ranks + view.options.most_rank_cells - 1) / view.options.most_rank_cells);
  const size_t cells = (ranks + block - 1) / block;
  const auto mean_ns = [&](size_t r) -> double {
    const auto& rows = view.answers.profile.ranks;
    return r < rows.size() && rows[r].calls > 0
               ? static_cast<double>(rows[r].in_mpi_ns) / static_cast<double>(rows[r].calls)
               : 0;
  };
  std::vector<uint64_t> sent(ranks);
  for (const analysis::MatrixEntry& e : view.answers.matrix.entries)
    if (e.source >= 0 && static_cast<size_t>(e.source) < ranks)
      sent[static_cast<size_t>(e.source)] += e.messages;
  std::vector<int64_t> number_of(ranks);
  for (size_t c = 0; c < clustering.list.size(); ++c)
    for (uint64_t i = 0; i < clustering.list[c].members.size(); ++i)
      number_of[static_cast<size_t>(clustering.list[c].members.at(i))] = static_cast<int64_t>(c);
  Numbers cluster(cells), own(cells), shown(cells), sends(cells), sends_of_lead(cells);
  std::vector<double> sums[2] = {std::vector<double>(cells), std::vector<double>(cells)};
  for (size_t r = ranks; r-- > 0;) {
    const size_t cell = r / block;
    const auto lead = static_cast<size_t>(view.trace.lead_of(static_cast<Rank>(r)));
    cluster[cell] = number_of[r];  // of the lowest rank of the cell
    sums[0][cell] += mean_ns(r);
    sums[1][cell] +=
        mean_ns(view.trace.times_rank(static_cast<Rank>(r)) == static_cast<Rank>(r) ? r : lead);
    sends[cell] += static_cast<int64_t>(sent[r]);
    sends_of_lead[cell] += static_cast<int64_t>(sent[lead]);
  }
  for (size_t cell = 0; cell < cells; ++cell) {
    const auto in_cell = static_cast<double>(std::min(block, ranks - cell * block));
    own[cell] = static_cast<int64_t>(sums[0][cell] / in_cell + 0.5);
    shown[cell] = static_cast<int64_t>(sums[1][cell] / in_cell + 0.5);
  }
  out.json["clusters"]["block"] = block;
  out.json["clusters"]["cells"] = cells;
  out.columns.put("clusters.of", std::move(cluster));
  out.columns.put("clusters.own_ns", std::move(own));
  out.columns.put("clusters.shown_ns", std::move(shown));
  out.columns.put("clusters.sends", std::move(sends));
  out.columns.put("clusters.lead_sends", std::move(sends_of_lead));
}

class ClustersSection : public PageSection {
 public:
  void ask(const PageQuestion& page) override {
    if (!page.trace.clustering()) return;
    page.say("clusters");
    if (auto joins = analysis::clusters::dendrogram(page.trace); joins.ok())
      joins_ = std::move(*joins);
  }
  void write(const PageView& view, PageData& out) const override {
    const auto clustering = view.trace.clustering();
    if (!clustering) return;
    out.json["clusters"] = clustering_json(view.trace);
    out.json["clusters"]["joins"] = Json::array();
    for (const analysis::clusters::Join& j : joins_)
      out.json["clusters"]["joins"].push_back({j.left, j.right, j.height});
    put_ranks(view, *clustering, out);
  }

 private:
  std::vector<analysis::clusters::Join> joins_;
};

}  // namespace

std::unique_ptr<PageSection> clusters_section() { return std::make_unique<ClustersSection>(); }

}  // namespace refrain::report
