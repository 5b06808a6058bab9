#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/runtime/encoding.h"
#include "response/document.h"

namespace apiserver::inline v0::response {

// The parts of a list in YAML.
struct YamlListParts {
  std::string empty_list;  // The list without items, as compact JSON.
  std::string
      item_prefix;  // What comes before an item's encoding: `{`, and TypeMeta if it has any.
  std::vector<runtime::EncodingPtr> encodings;  // The items as JSON; at least one.
};
// Returns a list in YAML, which is parsed and written item by item.
std::unique_ptr<Document> NewYamlList(YamlListParts parts);

}  // namespace apiserver::inline v0::response
