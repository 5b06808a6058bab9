#include "codec/copy_over.h"

#include <cstddef>

#include "runtime/deep_copy.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;

// Strings that the text may hold between one of the value and the next: TypeMeta, which an object's
// content lacks, is four.
constexpr int kAheadMax = 4;

// Finds strings in a text of JSON, one after another.
class Strings {
 public:
  explicit Strings(std::string_view text) : text_(text) {}

  // Returns `wanted` where the text has it, after the string that was found last, or an empty view.
  std::string_view Next(std::string_view wanted) {
    const std::size_t began = at_;
    std::size_t second = began;
    for (int i = 0; i <= kAheadMax; ++i) {
      const std::size_t quote = text_.find('"', at_);
      if (quote == std::string_view::npos) break;
      const std::string_view rest = text_.substr(quote + 1);
      if (rest.size() > wanted.size() && rest[wanted.size()] == '"' && rest.starts_with(wanted)) {
        at_ = quote + wanted.size() + 2;
        return rest.substr(0, wanted.size());
      }
      at_ = quote + 1 + Length(rest) + 1;
      if (i == 0) second = at_;
    }
    // The next one of the value is probably the next one of the text.
    at_ = second;
    return {};
  }

 private:
  // Returns how much of `rest` belongs to the string that it begins with.
  static std::size_t Length(std::string_view rest) {
    std::size_t at = 0;
    while (true) {
      at = rest.find_first_of("\"\\", at);
      if (at == std::string_view::npos) return rest.size();
      if (rest[at] == '"') return at;
      at += 2;
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Value CopyOver(std::string_view text, const Value& value, Arena& arena) {
  Strings strings(text);
  const auto copy_text = [&](std::string_view wanted) {
    if (wanted.empty()) return std::string_view();
    const std::string_view found = strings.Next(wanted);
    return found.empty() ? arena.Copy(wanted) : found;
  };
  return runtime::DeepCopier(arena, copy_text).Copy(value);
}

}  // namespace apiserver::v0::codec
