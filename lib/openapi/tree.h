#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/openapi/fragment.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::openapi {

// Builds the Values of a document; their text lives in one arena.
class Tree {
 public:
  explicit Tree(runtime::Arena& arena) : arena_(arena) {}

  runtime::Arena& arena() const { return arena_; }
  std::string_view Text(std::string_view text) const { return arena_.Copy(text); }
  runtime::Value String(std::string_view text) const {
    return runtime::Value::String(arena_.Copy(text));
  }
  template <class Text = std::string>
  runtime::Value Strings(const std::vector<Text>& texts) const {
    runtime::ListBuilder list(arena_);
    for (const Text& text : texts) list.Add(String(text));
    return list.Build();
  }
  // Returns {"$ref": "#/definitions/<name>"}, or v3's form of it.
  runtime::Value Ref(std::string_view definition, Format format) const {
    const std::string_view place =
        format == Format::kV2 ? "#/definitions/" : "#/components/schemas/";
    runtime::MapBuilder ref(arena_);
    ref.Add("$ref", String(std::string(place) + std::string(definition)));
    return ref.Build();
  }

 private:
  runtime::Arena& arena_;
};

}  // namespace apiserver::inline v0::openapi
