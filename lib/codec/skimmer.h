#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "text/scan.h"

namespace apiserver::inline v0::codec {

// Steps over JSON as our encoder and Go's write it: without white space. nullopt: another form.
class Skimmer {
 public:
  explicit Skimmer(std::string_view text) : text_(text) {}

  // Goes to the value of the member `key` of the map that is next; false: it has none. nullopt:
  // not of this form.
  std::optional<bool> Enter(std::string_view key) {
    if (!Take('{')) return std::nullopt;
    while (!text_.empty() && text_.front() == '"') {
      const std::string_view name = text_;
      if (!TakeString()) return std::nullopt;
      const bool found = name.substr(1, name.size() - text_.size() - 2) == key;
      if (!Take(':')) return std::nullopt;
      if (found) return true;
      if (!Value()) return std::nullopt;
      (void)Take(',');
    }
    return Take('}') ? std::optional(false) : std::nullopt;
  }

  // Steps over the next value and returns it.
  std::optional<std::string_view> Value() {
    const std::string_view all = text_;
    int depth = 0;
    do {
      if (text_.empty()) return std::nullopt;
      const char c = text_.front();
      if (c == '"') {
        if (!TakeString()) return std::nullopt;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      text_.remove_prefix(1);
      if (depth == 0 && c != '}' && c != ']') {
        // A number or a word.
        text_.remove_prefix(std::min(text_.find_first_of(",}]"), text_.size()));
      }
    } while (depth > 0);
    return all.substr(0, all.size() - text_.size());
  }

 private:
  // Steps over a string literal; text_ begins with its first quote.
  bool TakeString() {
    text_.remove_prefix(1);
    for (;;) {
      text_.remove_prefix(text::PlainPrefix(text_));
      if (text_.empty()) return false;
      const bool escape = text_.front() == '\\';
      const bool end = text_.front() == '"';
      if (escape && text_.size() < 2) return false;
      text_.remove_prefix(escape ? 2 : 1);
      if (end) return true;
    }
  }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
};

}  // namespace apiserver::inline v0::codec
