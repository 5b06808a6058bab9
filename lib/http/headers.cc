#include "apiserver/http/headers.h"

#include <algorithm>

namespace apiserver::v0::http {
namespace {

// The number of fields that an answer usually has.
constexpr std::size_t kUsualFields = 8;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

bool EqualIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Headers::Get(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualIgnoreCase(field.name, name)) return field.value;
  }
  return {};
}

bool Headers::Has(std::string_view name) const {
  for (const Field& field : fields_) {
    if (EqualIgnoreCase(field.name, name)) return true;
  }
  return false;
}

std::vector<std::string_view> Headers::GetAll(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Field& field : fields_) {
    if (EqualIgnoreCase(field.name, name)) values.emplace_back(field.value);
  }
  return values;
}

// Makes room at once for the fields that an answer usually has, instead of growing one by one.
void Headers::Add(std::string name, std::string value) {
  if (fields_.capacity() == 0) fields_.reserve(kUsualFields);
  fields_.push_back({std::move(name), std::move(value)});
}

void Headers::Set(std::string name, std::string value) {
  const auto first = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return EqualIgnoreCase(field.name, name);
  });
  if (first == fields_.end()) return Add(std::move(name), std::move(value));
  first->value = std::move(value);
  const auto same = [&](const Field& field) { return EqualIgnoreCase(field.name, name); };
  fields_.erase(std::remove_if(first + 1, fields_.end(), same), fields_.end());
}

// Most names that are removed from requests are not there, so that nothing is moved.
std::size_t Headers::Remove(std::string_view name) {
  if (!Has(name)) return 0;
  return std::erase_if(fields_,
                       [&](const Field& field) { return EqualIgnoreCase(field.name, name); });
}

std::size_t Headers::RemovePrefix(std::string_view prefix) {
  return std::erase_if(fields_, [&](const Field& field) {
    return EqualIgnoreCase(std::string_view(field.name).substr(0, prefix.size()), prefix);
  });
}

}  // namespace apiserver::v0::http
