#include "openapi/operation_ids.h"

namespace apiserver::v0::openapi {

namespace {

bool IsIdLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsIdDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string ValidOperationId(std::string_view text, bool capitalize) {
  std::string id;
  for (const char c : text) {
    if (!IsIdLetter(c) && (id.empty() || !IsIdDigit(c))) {
      capitalize = true;
      continue;
    }
    id += capitalize && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    capitalize = false;
  }
  return id;
}

std::string_view OperationWordOf(std::string_view group) {
  constexpr std::string_view kSuffix = ".k8s.io";
  if (group.empty()) return "core";
  if (group.ends_with(kSuffix)) group.remove_suffix(kSuffix.size());
  return group;
}

}  // namespace apiserver::v0::openapi
