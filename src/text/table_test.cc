#include "text/table.h"

#include <gtest/gtest.h>

namespace refrain::text {
namespace {

TEST(Table, AlignsItsColumns) {
  Table table({"<name", "n"});
  EXPECT_EQ(table.text(), "");
  table.add({"a", "100"});
  table.add({"long", "1"});
  EXPECT_EQ(table.text(), "  name    n\n  a     100\n  long    1\n");
}

}  // namespace
}  // namespace refrain::text
