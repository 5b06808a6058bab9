#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::admissionregistration {

// The dependencies of ParamAccess.
struct ParamAccessOptions {
  // Decides what the writer may read. Null: everything.
  std::shared_ptr<const auth::Authorizer> authorizer = nullptr;
  // Returns the resource that serves a kind. Runs on the write's thread, may block. Null: no kind
  // can be resolved, so that rights on all resources of its version are required.
  std::function<Result<runtime::GroupVersionResource>(const Context& ctx,
                                                      const runtime::GroupVersionKind& kind)>
      resolve = nullptr;
  // Returns the policy of a binding, as ParamAccessOptions::resolve does.
  std::function<Result<runtime::ObjectPtr>(const Context& ctx, std::string_view name)> policy =
      nullptr;
};

// Checks that the writer of a policy or binding may read its parameters: authz.go of
// pkg/registry/admissionregistration/*. Members of system:masters are not checked, nor is the
// server itself. Any thread that may block.
class ParamAccess {
 public:
  explicit ParamAccess(ParamAccessOptions options) : options_(std::move(options)) {}

  // Returns an error, whose message is shown, if the user may not get all objects of the policy's
  // paramKind. An update that keeps the paramKind is not checked. `old` is null for a create.
  Status CheckPolicy(const Context& ctx, const runtime::Object& policy,
                     const runtime::Object* old) const;
  // Returns an error, whose message is shown, if the user may not get or list the objects of the
  // binding's paramRef.
  Status CheckBinding(const Context& ctx, const runtime::Object& binding) const;

 private:
  const ParamAccessOptions options_;
};

}  // namespace apiserver::inline v0::groups::admissionregistration
