#include "text/display.h"

#include <gtest/gtest.h>

#include "text/table.h"

namespace refrain::text {
namespace {

// Nothing of a test stays behind it.
struct Shown {
  explicit Shown(const Display& wanted) { set_display(wanted); }
  ~Shown() { set_display({}); }
};

TEST(Display, ShortensInTheMiddle) {
  EXPECT_EQ(shortened("solver.cc:41", 12), "solver.cc:41");
  EXPECT_EQ(shortened("Grid<…>::exchange solver.cc:41", 16), "Grid<…lver.cc:41");
  EXPECT_EQ(shortened("    abcdefghijklmnop", 11), "    ab…mnop");
  EXPECT_EQ(shortened("ééééééé", 4), "é…éé");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
  for (size_t width = 0; width < 20; ++width)
    EXPECT_EQ(text_width(shortened("          äöü and more", width)), width);
}

Table wide_table() {
  Table table({"<called from", "time", "<"});
  table.add(
      {"main solver.cc:120 > Grid<…>::exchange solver.cc:41", "1.5 s", "####################"});
  table.add({"main", "2.5 s", "#"});
  return table;
}

TEST(Display, CutsNothingWhereNoWidthIsKnown) {
  EXPECT_EQ(wide_table().text(),
            "  called from                                           time\n"
            "  main solver.cc:120 > Grid<…>::exchange solver.cc:41  1.5 s  ####################\n"
            "  main                                                 2.5 s  #\n");
}

TEST(Display, FitsATableIntoItsColumns) {
  for (const size_t columns : {80U, 60U, 50U, 40U, 30U}) {
    const Shown shown({.columns = columns});
    const std::string text = wide_table().text();
    for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      EXPECT_LE(text_width(std::string_view(text).substr(begin, end - begin)), columns) << text;
    }
    EXPECT_NE(text.find("1.5 s"), std::string::npos);  // numbers stay
    EXPECT_NE(text.find("…"), std::string::npos);
    EXPECT_NE(text.find(":41"), std::string::npos) << text;
  }
}

TEST(Display, BarsGoBeforeNamesBecomeUnreadable) {
  const Shown shown({.columns = 40});
  EXPECT_EQ(wide_table().text().find('#'), std::string::npos);
}

TEST(Display, NamesOfFunctionsAreShortenedLast) {
  Table table({"<site", "<<function", "calls"});
  table.add({"/home/somebody/solver/src/exchange.cc:41", "MPI_Reduce", "1000000"});
  table.add({"/home/somebody/solver/src/exchange.cc:52", "MPI_Allreduce", "1000000"});
  {
    const Shown shown({.columns = 36});
    EXPECT_NE(table.text().find("MPI_Reduce "), std::string::npos) << table.text();
    EXPECT_NE(table.text().find("MPI_Allreduce "), std::string::npos) << table.text();
  }
  const Shown shown({.columns = 28});
  EXPECT_EQ(table.text().find("MPI_Allreduce "), std::string::npos) << table.text();
}

TEST(Display, NumbersThatAreNotNeededGoBeforeNamesBecomeUnreadable) {
  Table table({"<site", "<<function", "calls", "min", "mean", "max"});
  table.can_leave_out({"min", "max", "median"});
  table.add({"libPstream.so+0x55c4", "MPI_Allreduce", "100", "1.25 us", "3.25 us", "7.25 us"});
  const auto at = [&](size_t columns) {
    const Shown shown({.columns = columns});
    return table.text();
  };
  EXPECT_EQ(at(0).find("no room"), std::string::npos);
  EXPECT_EQ(at(73).find("no room"), std::string::npos) << at(73);
  // Names may become a little shorter for it.
  EXPECT_EQ(at(67).find("no room"), std::string::npos) << at(67);
  EXPECT_NE(at(66).find("  no room for: min\n"), std::string::npos) << at(66);
  EXPECT_NE(at(66).find("libPstream.so+0x55c4"), std::string::npos) << at(66);
  EXPECT_NE(at(57).find("  no room for: min, max\n"), std::string::npos) << at(57);
  EXPECT_EQ(at(57).find("7.25 us"), std::string::npos);
  // Then there is nothing but the names.
  EXPECT_NE(at(40).find("3.25 us"), std::string::npos) << at(40);
  EXPECT_EQ(at(40).find("libPstream.so+0x55c4"), std::string::npos) << at(40);
}

TEST(Display, BreaksSentencesBetweenWords) {
  constexpr const char* kText = "Rank 2 waits\nfor rank é in solver.cc:41, a_word_without_any_end";
  EXPECT_EQ(paragraph(kText), kText);
  const Shown shown({.columns = 12});
  EXPECT_EQ(paragraph(kText),
            "Rank 2 waits\nfor rank é\nin\nsolver.cc:41,\na_word_without_any_end");
  EXPECT_EQ(paragraph(""), "");
  EXPECT_EQ(paragraph("a b c d e f g"), "a b c d e f\ng");
}

// A label stays before its value, whose lines are below each other.
TEST(Display, BreaksValuesBehindTheirLabels) {
  constexpr const char* kText = "  cost  one two three four\n  path  /a/long/one/without/end is\n";
  EXPECT_EQ(paragraph(kText, 8), kText);
  const Shown shown({.columns = 16});
  EXPECT_EQ(paragraph(kText, 8),
            "  cost  one two\n        three\n        four\n  path  /a/long/one/without/end\n       "
            " is\n");
}

TEST(Display, ColoursTakeNoColumns) {
  Table table({"<name", "n"});
  table.add({"a", "1"});
  const std::string plain = table.text();
  const Shown shown({.has_colour = true});
  EXPECT_EQ(table.text(), "\033[2m  name  n\033[0m\n" + plain.substr(plain.find('\n') + 1));
  EXPECT_EQ(bad("x"), "\033[31mx\033[0m");
}

TEST(Display, FoldsNamesWhenAsked) {
  EXPECT_EQ(shown_name("A<int>::f"), "A<int>::f");
  const Shown shown({.fold_names = true});
  EXPECT_EQ(shown_name("A<int>::f"), "A<…>::f");
}

}  // namespace
}  // namespace refrain::text
