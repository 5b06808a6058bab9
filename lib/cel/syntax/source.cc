#include "cel/syntax/source.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace apiserver::v0::cel::syntax {
namespace {

// A longer line is not repeated below a message.
constexpr std::size_t kSnippetBytesMax = 16384;

// Appends the line of an issue and a line that points at its column. Under characters of several
// bytes the pointer has wide dots, which take as much room on a screen as they do.
void AppendSnippet(std::string_view line, std::int32_t column, std::string& out) {
  out += "\n | ";
  for (const char c : line) out += c == '\t' ? ' ' : c;
  out += "\n | ";
  for (std::int32_t i = 0; i < column && !line.empty(); ++i) {
    const std::size_t bytes = text::FirstRune(line).text.size();
    out += bytes > 1 ? "\uFF0E" : ".";
    line.remove_prefix(bytes);
  }
  const bool wide = !line.empty() && text::FirstRune(line).text.size() > 1;
  out += wide ? "\uFF3E" : "^";
}

void AppendIssue(const SourceText& source, const Issue& issue, std::string& out) {
  const Location at = source.LocationOf(issue.offset);
  out += "ERROR: <input>:" + std::to_string(at.line) + ":" + std::to_string(at.column + 1) + ": " +
         issue.message;
  const std::optional<std::string_view> line = source.Line(at.line);
  if (line && line->size() <= kSnippetBytesMax) AppendSnippet(*line, at.column, out);
}

}  // namespace

SourceText::SourceText(std::string_view text) : text_(text::ReplaceInvalidUtf8(text)) {
  lines_.push_back({0, 0});
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80;
    if (!continues) ++size_;
    if (text_[i] == '\n') lines_.push_back({size_, i + 1});
  }
}

Location SourceText::LocationOf(std::uint32_t offset) const {
  if (offset == kNoOffset) return {};
  // cel-go places what is missing in an empty text before its first column.
  if (text_.empty()) return {1, -1};
  const auto after =
      std::upper_bound(lines_.begin(), lines_.end(), offset,
                       [](std::uint32_t at, const LineStart& line) { return at < line.offset; });
  return {static_cast<std::int32_t>(after - lines_.begin()),
          static_cast<std::int32_t>(offset - std::prev(after)->offset)};
}

std::optional<std::string_view> SourceText::Line(std::int32_t line) const {
  if (text_.empty() || line < 1 || static_cast<std::size_t>(line) > lines_.size()) return {};
  const auto index = static_cast<std::size_t>(line);
  const std::size_t begin = lines_[index - 1].byte;
  const std::size_t end = index < lines_.size() ? lines_[index].byte - 1 : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

void Issues::Add(std::uint32_t offset, std::string message) {
  if (++count_ <= kIssuesMax) issues_.push_back({offset, std::move(message)});
}

std::string Issues::Display(const SourceText& source) const {
  std::vector<const Issue*> sorted;
  for (const Issue& issue : issues_) sorted.push_back(&issue);
  // Adding one puts kNoOffset before every place, as line -1 is.
  std::stable_sort(sorted.begin(), sorted.end(), [](const Issue* left, const Issue* right) {
    return left->offset + 1 < right->offset + 1;
  });
  std::string out;
  for (const Issue* issue : sorted) {
    if (!out.empty()) out += '\n';
    AppendIssue(source, *issue, out);
  }
  if (count_ > kIssuesMax) {
    out += '\n' + std::to_string(count_ - kIssuesMax) + " more errors were truncated";
  }
  return out;
}

}  // namespace apiserver::v0::cel::syntax
