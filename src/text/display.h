// The display of text formats: its width, whether it has colours, and whether names are shortened.
// It is global: a verb sets it once, before it makes a text. By default nothing is cut, coloured or
// shortened; formats for programs always use the default.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace refrain::text {

struct Display {
  size_t columns = 0;        // 0: as wide as it needs
  bool has_colour = false;   // escape sequences for colours
  bool fold_names = false;   // "Grid<…>::exchange" in text
  bool fold_markup = false;  // the same in HTML, with the full name as a tooltip
};

const Display& display();
// Not while another thread makes a text.
void set_display(const Display& wanted);

// The name of a function, or text with several of them, as display() wants it.
std::string shown_name(std::string_view name);

// Parts of a text by what they are.
std::string heading(std::string_view text);  // of a section, without its newline
std::string titles(std::string_view text);   // of a table's columns
std::string bar(std::string_view text);      // a length
std::string good(std::string_view text);
std::string bad(std::string_view text);

// How many columns `text` takes, if every character takes one.
size_t text_width(std::string_view text);
// `text` in `width` columns: of one that is longer its begin and, as that says most of a path,
// twice as much of its end. An indentation stays, up to half of the width.
std::string shortened(std::string_view text, size_t width);
// Sentences, broken between words where display() is too narrow; a longer word stays whole. What is
// broken goes on `indent` columns from the left, and the first `indent` columns of a line, where it
// may have a label, are not broken.
std::string paragraph(std::string_view text, size_t indent = 0);

}  // namespace refrain::text
