#include "report/page/templates.h"

#include <charconv>

namespace refrain::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr char kHole = '\x01';
constexpr size_t kMostDigits = 15;  // that a number of JavaScript holds exactly

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number that reads back as it was: not too long, no zeros in front.
bool is_number(std::string_view digits) {
  return digits.size() <= kMostDigits && (digits.size() == 1 || digits[0] != '0');
}

bool is_same_everywhere(const base::RunList& numbers) {
  return numbers.runs().size() == 1 && (numbers.runs()[0].step == 0 || numbers.size() == 1);
}

}  // namespace

Json runs_json(const base::RunList& runs) {
  Json out = Json::array();
  for (const base::RunList::Run& run : runs.runs()) out.push_back({run.start, run.step, run.count});
  return out;
}

void TextTemplate::add(std::string_view text) {
  std::string form;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::string_view digits = text.substr(i, end - i);
    if (digits.empty() || !is_number(digits)) {
      form += digits.empty() ? text.substr(i, 1) : digits;
      i += digits.empty() ? 1 : digits.size();
      continue;
    }
    int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    numbers.push_back(number);
    form += kHole;
    i = end;
  }
  const auto [known, is_new] = known_.try_emplace(form, forms_.size());
  if (is_new) forms_.push_back({form, std::vector<base::RunList>(numbers.size())});
  Form& same = forms_[known->second];
  for (size_t i = 0; i < numbers.size(); ++i) same.holes[i].append(numbers[i]);
  which_.append(static_cast<int64_t>(known->second));
}

size_t TextTemplate::cost() const {
  size_t sum = which_.runs().size();
  for (const Form& form : forms_) {
    sum += 1 + form.text.size() / 8;
    for (const base::RunList& hole : form.holes) sum += hole.runs().size();
  }
  return sum;
}

// A number that all have is part of the text: most are.
Json TextTemplate::Form::filled() const {
  std::string out;
  size_t hole = 0;
  for (const char c : text) {
    if (c != kHole || !is_same_everywhere(holes[hole]))
      out += c;
    else
      out += std::to_string(holes[hole].runs()[0].start);
    if (c == kHole) ++hole;
  }
  return out;
}

Json TextTemplate::to_json() const {
  Json texts = Json::array(), holes = Json::array();
  for (const Form& form : forms_) {
    texts.push_back(form.filled());
    Json list = Json::array();
    for (const base::RunList& hole : form.holes)
      if (!is_same_everywhere(hole)) list.push_back(runs_json(hole));
    holes.push_back(std::move(list));
  }
  return {{"texts", std::move(texts)}, {"which", runs_json(which_)}, {"holes", std::move(holes)}};
}

}  // namespace refrain::report
