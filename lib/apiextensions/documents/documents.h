#pragma once

#include <string_view>
#include <vector>

#include "apiserver/discovery/discovery.h"
#include "apiserver/openapi/fragment.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// Makes what discovery and OpenAPI say of custom resources: functions of one
// CustomResourceDefinition (apiextensions.k8s.io/v1), so that a new one costs no more than its own
// size.
namespace apiserver::inline v0::apiextensions {

// Returns what a version of a definition adds to the OpenAPI documents. Its texts are made from the
// definition's own JSON each time they are asked for. Null: the definition has no such version.
// `structural`: false if the version's schema is not structural, and so is not published.
openapi::FragmentPtr NewFragment(const runtime::ObjectPtr& definition, std::string_view version,
                                 bool structural = true);
// Does the same for a caller that has parsed the definition: `root` is its content, and is not
// kept.
openapi::FragmentPtr NewFragment(runtime::ObjectPtr definition, runtime::Value root,
                                 std::string_view version, bool structural);

// Returns the rows of discovery for a version of a definition: the resource and its subresources,
// under the accepted names. Empty: it does not serve the version.
std::vector<discovery::APIResource> DiscoveryRowsOf(runtime::Value definition,
                                                    std::string_view version);

}  // namespace apiserver::inline v0::apiextensions
