#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The rules for writes of CustomResourceDefinitions, and their columns:
// pkg/registry/customresourcedefinition of k8s.io/apiextensions-apiserver.
namespace apiserver::inline v0::apiextensions {

// Returns the strategies of the resource and of its subresource status.
std::shared_ptr<const rest::Strategy> NewDefinitionStrategy();
std::shared_ptr<const rest::Strategy> NewDefinitionStatusStrategy();
// Returns the columns of `kubectl get crd`.
std::shared_ptr<const rest::TableConvertor> NewDefinitionColumns();

// Returns a warning for each format in the schemas that the server does not check, except those
// that the stored object `old` has too. Null: a create.
std::vector<std::string> FormatWarnings(const runtime::Object& definition,
                                        const runtime::Object* old);

}  // namespace apiserver::inline v0::apiextensions
