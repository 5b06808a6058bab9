#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The text of an expression and what is wrong with it: common/source.go and common/errors.go of
// cel-go.
namespace apiserver::inline v0::cel::syntax {

// The offset of what has no place in the source.
inline constexpr std::uint32_t kNoOffset = 0xFFFF'FFFF;

// A place as people count it. Without a place: -1, -1.
struct Location {
  std::int32_t line = -1;    // From 1.
  std::int32_t column = -1;  // Code points from 0; displayed from 1.

  friend bool operator==(const Location&, const Location&) = default;
};

// The text of an expression with its lines. Bytes that are not UTF-8 become U+FFFD each.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  std::string_view text() const { return text_; }
  // The length in code points.
  std::uint32_t size() const { return size_; }
  // The place of the code point `offset`, which may be size(): the end.
  Location LocationOf(std::uint32_t offset) const;
  // Line `line` without its LF; nullopt if there is no such line or no text at all.
  std::optional<std::string_view> Line(std::int32_t line) const;

 private:
  struct LineStart {
    std::uint32_t offset;  // Code points.
    std::size_t byte;
  };

  std::string text_;
  std::uint32_t size_ = 0;
  std::vector<LineStart> lines_;
};

// One reason why an expression is refused.
struct Issue {
  std::uint32_t offset = kNoOffset;  // Code points.
  std::string message;               // "undeclared reference to 'x' (in container '')".
};

// The issues of one expression. At most kIssuesMax are kept, the others are counted.
class Issues {
 public:
  static constexpr std::size_t kIssuesMax = 100;

  void Add(std::uint32_t offset, std::string message);

  bool empty() const { return count_ == 0; }
  // The number of issues, with those that are not kept.
  std::size_t count() const { return count_; }
  // Those kept, in the order in which they were found.
  const std::vector<Issue>& all() const { return issues_; }
  // The text that Kubernetes' clients see, sorted by place:
  //   ERROR: <input>:1:5: MESSAGE
  //    | a + b
  //    | ....^
  std::string Display(const SourceText& source) const;

 private:
  std::vector<Issue> issues_;
  std::size_t count_ = 0;
};

}  // namespace apiserver::inline v0::cel::syntax
