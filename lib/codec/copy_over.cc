#include "codec/copy_over.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
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

class Copier {
 public:
  Copier(std::string_view text, Arena& arena) : strings_(text), arena_(arena) {}

  // In the order of the text.
  Value Copy(Value value) {
    Own(value);
    while (!open_.empty()) {
      Frame& frame = open_.back();
      if (frame.left == 0) {
        open_.pop_back();
        continue;
      }
      --frame.left;
      if (frame.member == nullptr) {
        Own(*frame.item++);
        continue;
      }
      Member& member = *frame.member++;
      member.key = Text(member.key);
      Own(member.value);
    }
    return value;
  }

 private:
  // The rest of a container whose own array is a copy, and what is in it is not yet.
  struct Frame {
    Member* member;
    Value* item;
    std::size_t left;
  };

  template <class T>
  std::span<T> Array(std::span<const T> from) {
    if (from.empty()) return {};
    auto* const to = static_cast<T*>(arena_.Allocate(from.size_bytes(), alignof(T)));
    std::uninitialized_copy(from.begin(), from.end(), to);
    return {to, from.size()};
  }

  std::string_view Text(std::string_view text) {
    if (text.empty()) return {};
    const std::string_view found = strings_.Next(text);
    return found.empty() ? arena_.Copy(text) : found;
  }

  // Invalidates references to frames.
  void Own(Value& value) {
    switch (value.type()) {
      case Value::Type::kString:
        value = Value::String(Text(value.AsString()));
        return;
      case Value::Type::kRaw:
        value = Value::Raw(arena_.Copy(value.AsString()));
        return;
      case Value::Type::kBytes:
        value = Value::Bytes(arena_.Copy(value.AsString()));
        return;
      case Value::Type::kList: {
        const std::span<Value> items = Array(value.items());
        value = Value::List(items);
        open_.push_back({nullptr, items.data(), items.size()});
        return;
      }
      case Value::Type::kMap: {
        const std::span<Member> members = Array(value.members());
        value = Value::Map(members);
        open_.push_back({members.data(), nullptr, members.size()});
        return;
      }
      default:
        return;
    }
  }

  Strings strings_;
  Arena& arena_;
  std::vector<Frame> open_;
};

}  // namespace

Value CopyOver(std::string_view text, const Value& value, Arena& arena) {
  return Copier(text, arena).Copy(value);
}

}  // namespace apiserver::v0::codec
