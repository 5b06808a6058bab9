#include <algorithm>
#include <optional>
#include <string_view>

#include "apiserver/codec/codec.h"
#include "codec/json_syntax.h"
#include "codec/text_scan.h"

namespace apiserver::inline v0::codec {
namespace {

// Steps over JSON as our encoder and Go's write it: no white space. Anything else is nullopt.
class Skimmer {
 public:
  explicit Skimmer(std::string_view text) : text_(text) {}

  // The value of the member `key` of the map that `text` begins with; empty: it has none.
  std::optional<std::string_view> Member(std::string_view key) {
    if (!Take('{')) return std::nullopt;
    while (!text_.empty() && text_.front() == '"') {
      const std::size_t length = JsonStringLength(text_);
      if (length == std::string_view::npos) return std::nullopt;
      const bool found = text_.substr(1, length - 2) == key;
      text_.remove_prefix(length);
      if (!Take(':')) return std::nullopt;
      const auto value = Value();
      if (!value || found) return value;
      (void)Take(',');
    }
    return Take('}') ? std::optional(std::string_view()) : std::nullopt;
  }

 private:
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  // The next value, stepped over.
  std::optional<std::string_view> Value() {
    const std::string_view all = text_;
    int depth = 0;
    do {
      if (text_.empty()) return std::nullopt;
      const char c = text_.front();
      if (c == '"') {
        const std::size_t length = JsonStringLength(text_);
        if (length == std::string_view::npos) return std::nullopt;
        text_.remove_prefix(length);
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

  std::string_view text_;
};

}  // namespace

runtime::Value LabelsOf(const runtime::Object& object, runtime::Arena& arena) {
  const bool json = object.stored_bytes() != nullptr && object.stored_bytes()->starts_with('{');
  if (object.loaded() || !json) return object.labels();
  const auto metadata = Skimmer(*object.stored_bytes()).Member("metadata");
  if (!metadata || metadata->empty()) return object.labels();
  const auto labels = Skimmer(*metadata).Member("labels");
  if (!labels) return object.labels();
  if (labels->empty()) return {};
  auto parsed = ParseJson(*labels, arena);
  return parsed.ok() ? *parsed : object.labels();
}

}  // namespace apiserver::inline v0::codec
