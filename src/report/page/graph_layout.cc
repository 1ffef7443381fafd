#include "report/page/graph_layout.h"

#ifdef REFRAIN_GRAPHVIZ
#include <graphviz/gvc.h>

#include <cstdlib>
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif
#endif

namespace refrain::report {

#ifdef REFRAIN_GRAPHVIZ

namespace {

constexpr uint32_t kMostForNeato = 150;

// The C library's functions take char*.
void set(void* object, std::string name, std::string value) {
  char nothing[] = "";
  agsafeset(object, name.data(), value.data(), nothing);
}

// Graphviz loses the text of its list of plugins, some thousand bytes, once for each context.
GVC_t* new_context() {
#ifdef SANITIZER_LSAN_INTERFACE_H
  const __lsan::ScopedDisabler ignored;
#endif
  return gvContext();
}

bool read_place(const char* text, Place& place) {
  char* end = nullptr;
  place.x = std::strtod(text, &end);
  if (end == text || *end != ',') return false;
  const char* second = end + 1;
  place.y = std::strtod(second, &end);
  return end != second;
}

}  // namespace

bool has_graphviz() { return true; }

std::vector<Place> graph_layout(uint32_t nodes, const std::vector<GraphEdge>& edges,
                                std::string& engine) {
  // Without an engine, which may be a package of its own, the page places the ranks itself.
  agseterr(AGMAX);
  engine = nodes <= kMostForNeato ? "neato" : "sfdp";
  GVC_t* const context = new_context();
  if (context == nullptr) return {};
  char name[] = "ranks";
  Agraph_t* const graph = agopen(name, Agundirected, nullptr);
  set(graph, "overlap", "true");  // a layout for a picture of our own: nothing may move it again
  set(graph, "splines", "none");
  std::vector<Agnode_t*> all;
  for (uint32_t i = 0; i < nodes; ++i) {
    std::string number = std::to_string(i);
    Agnode_t* const node = agnode(graph, number.data(), 1);
    set(node, "shape", "point");  // no text to be measured: no fonts are looked for
    set(node, "label", "");
    all.push_back(node);
  }
  for (const GraphEdge& edge : edges)
    if (edge.from < nodes && edge.to < nodes)
      agedge(graph, all[edge.from], all[edge.to], nullptr, 1);
  std::vector<Place> out;
  if (gvLayout(context, graph, engine.c_str()) == 0) {
    char kPos[] = "pos";
    attach_attrs(graph);
    for (Agnode_t* const node : all) {
      Place place;
      const char* const text = agget(node, kPos);
      if (text == nullptr || !read_place(text, place)) break;
      out.push_back(place);
    }
    if (out.size() != nodes) out.clear();
    gvFreeLayout(context, graph);
  }
  agclose(graph);
  gvFreeContext(context);
  return out;
}

#else

bool has_graphviz() { return false; }

std::vector<Place> graph_layout(uint32_t, const std::vector<GraphEdge>&, std::string&) {
  return {};
}

#endif

}  // namespace refrain::report
