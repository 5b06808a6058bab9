#include "authz/aggregate.h"

#include <algorithm>

namespace apiserver::inline v0::authz {

std::string Aggregate(const std::vector<std::string>& messages) {
  std::vector<std::string> distinct;
  for (const std::string& message : messages) {
    if (std::ranges::find(distinct, message) == distinct.end()) distinct.push_back(message);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return distinct.front();
  std::string text = "[";
  for (const std::string& message : distinct) {
    if (text.size() > 1) text += ", ";
    text += message;
  }
  return text + "]";
}

}  // namespace apiserver::inline v0::authz
