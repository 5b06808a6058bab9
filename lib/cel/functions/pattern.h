#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

// Regular expressions as Go's regexp package has them, on RE2.
namespace apiserver::inline v0::cel::functions {

// A compiled pattern. Immutable, any thread. Matching takes at most 8 MiB a pattern, and time that
// is linear in the text; how fast depends on the pattern.
class Pattern {
 public:
  // Compiles a pattern. Null: `error` has Go's words, "error parsing regexp: missing closing ):
  // `(`".
  static std::shared_ptr<const Pattern> Compile(std::string_view text, std::string& error);
  explicit Pattern(std::unique_ptr<const re2::RE2> compiled);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The most work (Arena::TakeWork) that finding the pattern in a text takes.
  std::uint64_t WorkIn(std::string_view text) const;
  // Tells if the pattern is found anywhere.
  bool FoundIn(std::string_view text) const;
  // Finds the first match that begins at or behind `from`. nullopt: there is none.
  std::optional<std::string_view> FindFrom(std::string_view text, std::size_t from) const;

 private:
  bool has_few_positions() const;

  std::unique_ptr<const re2::RE2> compiled_;
  mutable std::atomic<int> positions_ = 0;  // 0: not counted yet.
};

}  // namespace apiserver::inline v0::cel::functions
