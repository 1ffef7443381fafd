// FairNetwork: flows of bytes on routes of links, which they share max-min fair.
//
// Rates are those of progressive filling (D. Bertsekas, R. Gallager, "Data Networks", section
// 6.5.2): all flows grow alike until a link is full or a flow has its limit; its flows stay there,
// and the others grow on. Rates grow in the ratio of weights, where flows have other ones than 1.
// Where flows begin and end, only those get new rates whose old ones are not fair any more
// (fair_rates.cc).
//
// Times in ns, as fractions; a flow ends at the next whole ns. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace refrain::sim {

class FairNetwork {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  // Bytes per second; returns the link's number.
  uint32_t add_link(double bandwidth);
  size_t links() const { return links_.size(); }

  // A flow from `now` on. `most`: bytes per ns that it takes at most, 0: no limit. The same links
  // may not be twice in a route. `name` is given back at its end. A flow without bytes ends at
  // once.
  void start(int64_t now, uint32_t name, uint64_t bytes, double most,
             const std::vector<uint32_t>& route, double weight = 1);
  // When the next flow ends; kNever: there is none.
  int64_t next();
  // Takes that flow out; its name.
  uint32_t end();

  struct Use {
    double bytes = 0;    // that have gone through
    double busy_ns = 0;  // how long any flow was on it
  };
  Use use(uint32_t link) const { return links_[link].use; }
  // Calls visit(name, bytes that are left, bytes per ns) of each flow.
  template <class Visit>
  void for_each_flow(int64_t now, Visit visit) const {
    for (const Flow& flow : flows_)
      if (!flow.is_free)
        visit(flow.name, flow.left - flow.rate * (static_cast<double>(now) - flow.since),
              flow.rate);
  }

 private:
  static constexpr uint32_t kNoLink = UINT32_MAX;
  struct Link {
    double capacity = 0;  // bytes per ns
    std::vector<uint32_t> flows;
    Use use;
    int64_t busy_since = 0;
    uint32_t mark = 0;
    double left = 0;    // while rates are computed
    uint32_t open = 0;  // flows without a rate yet
    double weight = 0;  // ... theirs
    bool is_changed = false;
  };
  struct Flow {
    uint32_t name = 0;
    double left = 0, rate = 0, most = 0, weight = 1;
    double since = 0;  // `left` is of then
    uint64_t bytes = 0;
    uint32_t version = 0;
    uint32_t mark = 0;              // it gets a new rate
    uint32_t bottleneck = kNoLink;  // ...: it has its limit
    bool is_open = false, is_free = true;
    std::vector<uint32_t> route;
  };
  struct End {
    int64_t time = 0;
    uint64_t order = 0;
    uint32_t flow = 0, version = 0;
    bool operator<(const End& o) const {  // the first on top
      return time != o.time ? time > o.time : order > o.order;
    }
  };

  // What each flow of a link gets for a weight of 1, if nothing else stops it.
  struct Share {
    double share = 0;
    uint32_t place = 0;  // of links with one share, the first
    uint32_t link = 0;
    bool operator<(const Share& o) const {  // the least on top
      return share != o.share ? share > o.share : place > o.place;
    }
  };

  void note_change(uint32_t link);
  int64_t first_end();
  void set_rate(uint32_t flow, double rate);
  // fair_rates.cc
  void settle();
  void join(uint32_t flow);
  void join_connected();
  bool join_unfair(uint32_t link);
  void collect_links();
  void open_all();
  bool find_narrowest();
  void fill();
  void fix(uint32_t flow, double rate, uint32_t bottleneck);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> free_, changed_;
  std::vector<double> new_rate_;
  // While rates are computed: links of flows that get new ones, these flows, a heap, flows by their
  // limits.
  std::vector<uint32_t> linked_, flowing_;
  std::vector<Share> shares_;
  std::vector<uint32_t> limited_;
  std::priority_queue<End> ends_;
  int64_t now_ = 0;
  uint64_t order_ = 0;
  uint32_t mark_ = 0, link_mark_ = 0;
};

}  // namespace refrain::sim
