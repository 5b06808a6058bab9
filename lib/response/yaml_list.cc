#include "response/yaml_list.h"

#include <span>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::v0::response {

namespace {

using runtime::Value;

constexpr std::string_view kItems = "items";

// Appends the members of `list` whose keys come before `items`, or, without `before`, after it.
void AppendMembers(const Value& list, bool before, std::string& yaml) {
  runtime::Arena arena;
  runtime::MapBuilder some(arena, list.size());
  for (const runtime::Member& member : list.members()) {
    const bool is_before = member.key < kItems;
    if (member.key != kItems && is_before == before) some.Add(member.key, member.value);
  }
  if (some.size() > 0) codec::AppendYaml(some.Build(), yaml);
}

class YamlList final : public Document {
 public:
  explicit YamlList(YamlListParts parts) : parts_(std::move(parts)) {
    runtime::Arena arena;
    const auto list = codec::ParseJson(parts_.empty_list, arena);
    if (!list.ok()) return;
    AppendMembers(*list, /*before=*/true, head_);
    head_ += "items:\n";
    AppendMembers(*list, /*before=*/false, tail_);
  }

  bool AppendTo(std::string& text, std::size_t wanted) override {
    text += std::exchange(head_, {});
    for (; next_ < parts_.encodings.size(); ++next_) {
      if (text.size() >= wanted) return true;
      AppendItem(*parts_.encodings[next_], text);
    }
    text += tail_;
    return false;
  }

 private:
  // A list of one item is written as the item is in a longer one.
  void AppendItem(const runtime::Encoding& encoding, std::string& text) {
    json_ = parts_.item_prefix;
    encoding.AppendTo(json_);
    runtime::Arena arena;
    const auto item = codec::ParseJson(json_, arena);
    if (item.ok()) return codec::AppendYaml(Value::List(std::span(&*item, 1)), text);
    // An encoding of ours always parses. If it did not, it would be YAML as it is.
    text.append("- ").append(json_).append("\n");
  }

  const YamlListParts parts_;
  std::string head_;
  std::string tail_;
  std::string json_;  // One item; kept for its memory.
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Document> NewYamlList(YamlListParts parts) {
  return std::make_unique<YamlList>(std::move(parts));
}

}  // namespace apiserver::v0::response
