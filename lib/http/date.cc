#include "http/date.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/ascii.h"

namespace apiserver::v0::http {
namespace {

using std::chrono::sys_days;

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
// The form of a date: a '0' stands for a digit, an 'a' for a letter of a name.
constexpr std::string_view kForm = "aaa, 00 aaa 0000 00:00:00 GMT";

void AppendNumber(unsigned number, std::size_t digits, std::string& out) {
  const std::string text = std::to_string(number);
  out.append(digits - std::min(digits, text.size()), '0').append(text);
}

bool HasForm(std::string_view text) {
  const auto fits = [](char form, char c) {
    if (form == '0') return text::IsDigit(c);
    return form == 'a' || form == c;
  };
  return text.size() == kForm.size() && std::equal(kForm.begin(), kForm.end(), text.begin(), fits);
}

unsigned NumberAt(std::string_view text, std::size_t at, std::size_t digits) {
  unsigned number = 0;
  for (const char c : text.substr(at, digits))
    number = 10 * number + static_cast<unsigned>(c - '0');
  return number;
}

// Returns the name's place; the size of `names` if it has none.
template <class Names>
unsigned PlaceOf(std::string_view name, const Names& names) {
  return static_cast<unsigned>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

std::string FormatDate(std::chrono::sys_seconds when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(when - day);
  std::string out(kDays.at(std::chrono::weekday(day).c_encoding()));
  out += ", ";
  AppendNumber(static_cast<unsigned>(date.day()), 2, out);
  out.append(" ").append(kMonths.at(static_cast<unsigned>(date.month()) - 1)).append(" ");
  AppendNumber(static_cast<unsigned>(static_cast<int>(date.year())), 4, out);
  char before = ' ';
  for (const auto part : {time.hours().count(), time.minutes().count(), time.seconds().count()}) {
    out += before;
    AppendNumber(static_cast<unsigned>(part), 2, out);
    before = ':';
  }
  return out + " GMT";
}

std::optional<std::chrono::sys_seconds> ParseDate(std::string_view text) {
  if (!HasForm(text)) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(static_cast<int>(NumberAt(text, 12, 4))),
      std::chrono::month(PlaceOf(text.substr(8, 3), kMonths) + 1),
      std::chrono::day(NumberAt(text, 5, 2)));
  const unsigned hour = NumberAt(text, 17, 2);
  const unsigned minute = NumberAt(text, 20, 2);
  const unsigned second = NumberAt(text, 23, 2);
  // A leap second is the next minute's first.
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const std::chrono::weekday weekday{sys_days(date)};
  if (text.substr(0, 3) != kDays.at(weekday.c_encoding())) return std::nullopt;
  return sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace apiserver::v0::http
