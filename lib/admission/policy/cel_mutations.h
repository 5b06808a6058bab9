#pragma once

#include <memory>
#include <string>

#include "admission/policy/cel_expressions.h"
#include "admission/policy/mutator.h"

// Mutations in the Common Expression Language: plugin/policy/mutating/patch/{smd,json_patch}.go.
namespace apiserver::inline v0::admission::policy {

// Returns the mutation of an applyConfiguration. An error of its expression is that of each
// Apply().
std::shared_ptr<const Mutation> NewApplyMutation(const std::shared_ptr<Composition>& composition,
                                                 std::string_view text);
// Returns the mutation of a jsonPatch, in the same way.
std::shared_ptr<const Mutation> NewJSONPatchMutation(
    const std::shared_ptr<Composition>& composition, std::string_view text);

}  // namespace apiserver::inline v0::admission::policy
