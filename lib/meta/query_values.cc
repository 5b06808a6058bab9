#include "meta/query_values.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/errors.h"

namespace apiserver::v0::meta {
namespace {

// Returns the message of strconv's functions.
std::string NumberError(std::string_view function, std::string_view text, std::errc error) {
  return "strconv." + std::string(function) + ": parsing " + field::Quote(text) +
         (error == std::errc::result_out_of_range ? ": value out of range" : ": invalid syntax");
}

template <class Number>
std::errc ParseNumber(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return stop == end && !text.empty() ? error : std::errc::invalid_argument;
}

}  // namespace

bool IsTrue(std::string_view text) {
  constexpr std::string_view kFalse = "false";
  return text != "0" && !std::ranges::equal(text, kFalse, {}, [](char c) {
           return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
         });
}

Result<std::int64_t> ParseInt(std::string_view text) {
  std::string_view digits = text;
  // Unlike from_chars, Go takes a plus sign.
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  std::int64_t number = 0;
  const std::errc error = ParseNumber(digits, number);
  if (error != std::errc()) return NewBadRequest(NumberError("ParseInt", text, error));
  return number;
}

Result<std::uint64_t> ParseUint(std::string_view text, std::uint64_t max) {
  std::uint64_t number = 0;
  std::errc error = ParseNumber(text, number);
  if (error == std::errc() && number > max) error = std::errc::result_out_of_range;
  if (error != std::errc()) return NewBadRequest(NumberError("ParseUint", text, error));
  return number;
}

}  // namespace apiserver::v0::meta
