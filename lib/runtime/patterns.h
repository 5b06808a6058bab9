#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}  // namespace re2

namespace apiserver::inline v0::runtime {

// A regular expression that takes no more memory than its text until it is first matched. Any
// thread, several at a time.
class Pattern {
 public:
  explicit Pattern(std::string text) : text_(std::move(text)) {}
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  const std::string& text() const { return text_; }
  // Returns the compile error of the text; empty if it compiles. The compiled form is not kept.
  std::string Problem() const;
  // Returns true if the pattern is found anywhere in `text`, or if it does not compile.
  bool Matches(std::string_view text) const;
  // Returns true if the compiled form exists, which is from the first match on.
  bool compiled() const { return compiled_.load() != nullptr; }

  // The schemas and pools that hold it.
  mutable std::atomic<std::uint32_t> owners = 1;

 private:
  const std::string text_;
  mutable std::atomic<bool> sound_ = false;  // The text is known to compile.
  mutable std::atomic<const re2::RE2*> compiled_ = nullptr;
};

// Compiled regular expressions by their text. Filled first, constant afterwards.
class Patterns {
 public:
  Patterns();
  ~Patterns();

  // Adds `pattern`. Returns its compile error; empty if it was added.
  std::string Add(const std::string& pattern);
  // Returns true if `pattern` is found anywhere in `text`, or if it was not added.
  bool Matches(std::string_view pattern, std::string_view text) const;

 private:
  std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>> compiled_;
};

}  // namespace apiserver::inline v0::runtime
