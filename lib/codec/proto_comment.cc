#include "codec/proto_comment.h"

#include <algorithm>

namespace apiserver::v0::codec {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view TrimRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}
std::string_view TrimBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return TrimRight(text);
}

std::string_view Unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '`');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

Marker ParseMarker(std::string_view line) {
  const std::size_t equals = line.find('=');
  std::string_view name = TrimBlanks(line.substr(0, equals));
  // Also written with `:=`.
  if (name.ends_with(':')) name.remove_suffix(1);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : TrimBlanks(line.substr(equals + 1));
  return {
      .name = std::string(name), .value = std::string(Unquoted(value)), .raw = std::string(value)};
}

// Joins lines to a text as kube-openapi's generateDescription does: with spaces; an empty line ends
// a paragraph, an indented line is kept.
class Description {
 public:
  void Add(std::string_view line) {
    if (line.empty()) {
      DropLast();
      text_ += "\n\n";
    } else if (line.front() == ' ' || line.front() == '\t') {
      DropLast();
      text_.append("\n").append(line).append("\n");
    } else {
      text_.append(line).append(" ");
    }
  }

  std::string Take() {
    const std::size_t end = text_.find_last_not_of(" \t\r\n");
    text_.resize(end == std::string::npos ? 0 : end + 1);
    text_.erase(0, text_.find_first_not_of(" \t\r\n"));
    return std::move(text_);
  }

 private:
  void DropLast() {
    if (!text_.empty()) text_.pop_back();
  }

  std::string text_;
};

}  // namespace

bool ProtoComment::Has(std::string_view name) const {
  return std::any_of(markers.begin(), markers.end(),
                     [name](const Marker& marker) { return marker.name == name; });
}

ProtoComment ParseProtoComment(std::string_view text) {
  ProtoComment comment;
  Description description;
  bool described = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = TrimRight(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    // A line of dashes ends the documentation; markers behind it still count.
    if (line == "---") described = false;
    const std::string_view content = TrimBlanks(line);
    if (content.starts_with('+')) {
      comment.markers.push_back(ParseMarker(content.substr(1)));
    } else if (described && !content.starts_with("TODO")) {
      description.Add(line);
    }
  }
  comment.description = description.Take();
  return comment;
}

}  // namespace apiserver::v0::codec
