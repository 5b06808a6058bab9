#include "runtime/patterns.h"

#include <re2/re2.h>

#include <utility>

namespace apiserver::v0::runtime {

Patterns::Patterns() = default;
Patterns::~Patterns() = default;

std::string Patterns::Add(const std::string& pattern) {
  if (compiled_.contains(pattern)) return "";
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok()) return compiled->error();
  compiled_.emplace(pattern, std::move(compiled));
  return "";
}

bool Patterns::Matches(std::string_view pattern, std::string_view text) const {
  const auto found = compiled_.find(pattern);
  if (found == compiled_.end()) return true;
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *found->second);
}

}  // namespace apiserver::v0::runtime
