#include "runtime/patterns.h"

#include <re2/re2.h>

#include <utility>

namespace apiserver::v0::runtime {

namespace {

std::unique_ptr<re2::RE2> Compile(const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return std::make_unique<re2::RE2>(text, options);
}

bool Found(const re2::RE2& pattern, std::string_view text) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace

Pattern::~Pattern() { delete compiled_.load(); }

std::string Pattern::Problem() const {
  if (sound_) return "";
  // Compiled anew at its first use, since many patterns are never used.
  const std::unique_ptr<re2::RE2> compiled = Compile(text_);
  if (!compiled->ok()) return compiled->error();
  sound_ = true;
  return "";
}

bool Pattern::Matches(std::string_view text) const {
  const re2::RE2* pattern = compiled_.load(std::memory_order_acquire);
  if (pattern == nullptr) {
    std::unique_ptr<re2::RE2> made = Compile(text_);
    // Another thread may have been quicker; its form is as good, and in use.
    if (compiled_.compare_exchange_strong(pattern, made.get())) pattern = made.release();
  }
  // A pattern that cannot be compiled matches everything: the schema's check has reported it.
  return !pattern->ok() || Found(*pattern, text);
}

Patterns::Patterns() = default;
Patterns::~Patterns() = default;

std::string Patterns::Add(const std::string& pattern) {
  if (compiled_.contains(pattern)) return "";
  std::unique_ptr<re2::RE2> compiled = Compile(pattern);
  if (!compiled->ok()) return compiled->error();
  compiled_.emplace(pattern, std::move(compiled));
  return "";
}

bool Patterns::Matches(std::string_view pattern, std::string_view text) const {
  const auto found = compiled_.find(pattern);
  return found == compiled_.end() || Found(*found->second, text);
}

}  // namespace apiserver::v0::runtime
