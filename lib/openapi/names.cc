#include <string>
#include <string_view>
#include <vector>

#include "apiserver/openapi/spec.h"

namespace apiserver::v0::openapi {

// As ToOpenAPIDefinitionName does with Go packages: the group's labels turned round, then version
// and kind.
std::string DefinitionName(const runtime::Kind& kind, std::string_view version) {
  const runtime::KindVersion* found = kind.FindVersion(version);
  if (found && found->schema && !found->schema->name().empty()) {
    return std::string(found->schema->name());
  }
  std::string name;
  std::string_view group = kind.group();
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    name += group.substr(dot == std::string_view::npos ? 0 : dot + 1);
    name += '.';
    group = dot == std::string_view::npos ? "" : group.substr(0, dot);
  }
  return name + std::string(version) + "." + kind.kind();
}

}  // namespace apiserver::v0::openapi
