#include "controlplane/control/objects.h"

#include "apiserver/runtime/kind.h"

namespace apiserver::v0::controlplane {

std::unique_ptr<runtime::Object> NewObject(const runtime::GroupVersionKind& kind,
                                           std::string_view namespace_, std::string_view name) {
  auto object = std::make_unique<runtime::Object>(runtime::Kind::Untyped(kind), kind.version);
  object->Edit("metadata", "name") = name;
  if (!namespace_.empty()) object->Edit("metadata", "namespace") = namespace_;
  return object;
}

}  // namespace apiserver::v0::controlplane
