#include "endpoints/field_managers.h"

#include <utility>

namespace apiserver::v0::endpoints {

namespace {

// Reads need no field manager.
bool Writes(const rest::Capabilities& can) {
  return can.creater || can.named_creater || can.async_creater || can.updater;
}

// Excludes the fields that a strategy resets: a client cannot own what it cannot write.
patch::apply::FieldFilter FilterOf(const std::vector<std::vector<std::string>>& fields) {
  runtime::Arena arena;
  patch::apply::FieldSet set;
  for (const std::vector<std::string>& names : fields) {
    patch::apply::Path path;
    for (const std::string& name : names) {
      path.push_back(patch::apply::PathElement::FieldName(name));
    }
    set = set.Insert(path, arena);
  }
  return patch::apply::FieldFilter::Exclude(set);
}

}  // namespace

patch::apply::FieldManagerPtr FieldManagers::For(const RequestScope& scope) {
  if (!Writes(scope.capabilities)) return nullptr;
  auto& types = types_[scope.kind];
  // Shared by all resources of a kind, so that its schema is converted once.
  if (types == nullptr) types = std::make_shared<patch::apply::TypeConverter>(scope.kind);
  patch::apply::FieldManager::Options options{.types = types,
                                              .version = scope.version,
                                              .subresource = scope.subresource,
                                              .clock = environment_.clock};
  if (const auto* provider = scope.capabilities.reset_fields) {
    for (const auto& [api_version, fields] : provider->GetResetFields()) {
      options.reset_fields.emplace(api_version, FilterOf(fields));
    }
  }
  return std::make_shared<patch::apply::FieldManager>(std::move(options));
}

}  // namespace apiserver::v0::endpoints
