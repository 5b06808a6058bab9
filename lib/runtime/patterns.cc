#include "runtime/patterns.h"

#include <re2/re2.h>

#include <utility>

#include "runtime/go_regexp.h"

namespace apiserver::v0::runtime {

namespace {

// Compiles a pattern. One that does not compile matches everything: the check of the schema has
// reported it.
std::unique_ptr<re2::RE2> CompileOrAny(const std::string& text) {
  std::string error;
  std::unique_ptr<re2::RE2> compiled = CompileGoRegexp(text, error);
  return compiled != nullptr ? std::move(compiled) : std::make_unique<re2::RE2>("");
}

bool Found(const re2::RE2& pattern, std::string_view text) {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace

Pattern::~Pattern() { delete compiled_.load(); }

std::string Pattern::Problem() const {
  if (sound_) return "";
  // Compiled anew at its first use, since many patterns are never used.
  std::string error;
  if (CompileGoRegexp(text_, error) == nullptr) return error;
  sound_ = true;
  return "";
}

bool Pattern::Matches(std::string_view text) const {
  const re2::RE2* pattern = compiled_.load(std::memory_order_acquire);
  if (pattern == nullptr) {
    std::unique_ptr<re2::RE2> made = CompileOrAny(text_);
    // Another thread may have been quicker; its form is as good, and in use.
    if (compiled_.compare_exchange_strong(pattern, made.get())) pattern = made.release();
  }
  return Found(*pattern, text);
}

Patterns::Patterns() = default;
Patterns::~Patterns() = default;

std::string Patterns::Add(const std::string& pattern) {
  if (compiled_.contains(pattern)) return "";
  std::string error;
  std::unique_ptr<re2::RE2> compiled = CompileGoRegexp(pattern, error);
  if (compiled == nullptr) return error;
  compiled_.emplace(pattern, std::move(compiled));
  return "";
}

bool Patterns::Matches(std::string_view pattern, std::string_view text) const {
  const auto found = compiled_.find(pattern);
  return found == compiled_.end() || Found(*found->second, text);
}

}  // namespace apiserver::v0::runtime
