// samples FOLDER: programs made of traces whose texts would like to be code, each in a folder of
// its own. tests/proxy/builds.py configures and builds them.
#include <cstdio>
#include <string>
#include <vector>

#include "proxy/test_maker.h"

namespace refrain::proxy {
namespace {

// Ends of strings, comments, lines and characters; trigraphs; bytes that are no text.
const std::vector<std::string> kHostile = {
    "x\"); std::abort(); //",
    "*/ int main() { return 1; } /*",
    "line\nend\r\v\f",
    "?\?/ ?\?= ?\?' backslash at the end \\",
    "%s%n%d",
    std::string("zero\0inside", 11),
    "\x80\xff\xfe \xc3\xa4 \xe2\x80\xae",
    "\\u0022); \\N{QUOTATION MARK}",
    "R\"(raw)\" u8\"\"",
    std::string(300, '"'),
    "",
};

// Names of objects, keys and values of infos, paths of files, names of modules.
bool hostile_texts(const std::string& folder) {
  Maker m(2);
  std::vector<uint32_t> calls;
  for (const std::string& text : kHostile) {
    const uint32_t site = m.builder.site("/bin/" + text, text, 0x10);
    ShapeWriter name("MPI_Comm_set_name");
    name.object(site).object(m.world).string(FieldTag::kString, text);
    calls.push_back(m.builder.signature(name));
    ShapeWriter port("MPI_Comm_get_name");
    port.object(site).object(m.world).string(FieldTag::kString, text).integer(3);
    calls.push_back(m.builder.signature(port));
    ShapeWriter file("MPI_File_delete");
    file.object(site).string(FieldTag::kString, text).constant("MPI_INFO_NULL");
    calls.push_back(m.builder.signature(file));
  }
  m.builder.data().meta.text["program"] = kHostile[1];
  m.builder.data().meta.text["command"] = kHostile[2];
  m.group(m.all, calls, 3);
  m.options.output = folder + "/texts";
  return m.write().lines > 0;
}

// Numbers at their ends.
bool large_numbers(const std::string& folder) {
  Maker m(4);
  const int64_t table = m.builder.table_of({INT32_MAX, INT32_MIN, 0, -1});
  ShapeWriter split("MPI_Comm_split");
  const uint32_t comm = m.builder.comm(40, m.all);
  split.none().object(m.world).integer(reader::table(table)).integer(INT32_MIN).object(comm);
  const uint32_t made = m.builder.signature(split);
  m.group(m.all, {made, m.send(me_plus_mod_size(1)), m.receive(me_plus_mod_size(-1))}, 2);
  m.options.output = folder + "/numbers";
  return m.write().lines > 0;
}

// Threads, a grid, kinds that differ.
bool threads_and_grid(const std::string& folder) {
  Maker m(16);
  std::vector<int64_t> first, rest;
  for (const int64_t r : m.all) (r % 4 == 0 ? first : rest).push_back(r);
  const uint32_t comm = m.builder.comm(3, m.all);
  ShapeWriter dup("MPI_Comm_dup"), free("MPI_Comm_free"), isend("MPI_Isend"), wait("MPI_Wait");
  const uint32_t made = m.builder.signature(dup.none().object(m.world).object(comm));
  free.none().tag(FieldTag::kChanged).constant("MPI_COMM_NULL").object(comm);
  const uint32_t freed = m.builder.signature(free);
  isend.none().heap(-1, 0).integer(4).object(m.type).integer(me_plus_mod_size(1)).integer(5);
  const uint32_t begun = m.builder.signature(isend.object(comm).new_request(0));
  wait.none().tag(FieldTag::kChanged).constant("MPI_REQUEST_NULL").request(begun);
  const uint32_t ended = m.builder.signature(wait.constant("MPI_STATUS_IGNORE"));
  for (const auto* ranks : {&first, &rest}) {
    const int64_t step = ranks == &first ? 3 : -1;
    m.group(*ranks, {made, begun, m.send(me_plus(step)), m.receive(me_plus(step)), freed}, 1);
    m.thread(1, {ended});
  }
  m.options.output = folder + "/threads";
  return m.write().lines > 0;
}

// A persistent collective under its name from before MPI 4.
bool old_names(const std::string& folder) {
  Maker m(2);
  ShapeWriter init("MPIX_Barrier_init"), start("MPI_Start"), wait("MPI_Wait"),
      free("MPI_Request_free");
  const uint32_t made =
      m.builder.signature(init.none().object(m.world).constant("MPI_INFO_NULL").new_request(0));
  const uint32_t started = m.builder.signature(start.none().request(made));
  const uint32_t ended =
      m.builder.signature(wait.none().request(made).constant("MPI_STATUS_IGNORE"));
  free.none().tag(FieldTag::kChanged).constant("MPI_REQUEST_NULL").request(made);
  const uint32_t freed = m.builder.signature(free);
  m.group(m.all, {made, started, ended, freed}, 1);
  m.options.output = folder + "/old_names";
  return m.write().lines > 0;
}

}  // namespace
}  // namespace refrain::proxy

int main(int argc, char** argv) {
  using namespace refrain::proxy;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const bool good = hostile_texts(folder) && large_numbers(folder) && threads_and_grid(folder) &&
                    old_names(folder) && !testing::Test::HasFailure();
  if (!good) std::fprintf(stderr, "samples: not all of them were written\n");
  return good ? 0 : 1;
}
