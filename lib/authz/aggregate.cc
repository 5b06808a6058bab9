#include "authz/aggregate.h"

#include <string_view>
#include <unordered_set>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::authz {

// Follows utilerrors.NewAggregate: distinct messages in their first order, in brackets if several.
std::string Aggregate(const std::vector<std::string>& messages) {
  std::vector<std::string_view> distinct;
  std::unordered_set<std::string_view> seen;
  for (const std::string& message : messages) {
    if (seen.insert(message).second) distinct.push_back(message);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return std::string(distinct.front());
  std::string text = "[";
  std::size_t told = 0;
  for (const std::string_view message : distinct) {
    // Bounds the text: one message for each of thousands of broken bindings would fill the
    // response.
    if (text.size() > field::kTextBytesMax) {
      text += ", and " + std::to_string(distinct.size() - told) + " more";
      break;
    }
    if (told++ > 0) text += ", ";
    text += message;
  }
  return text + "]";
}

}  // namespace apiserver::v0::authz
