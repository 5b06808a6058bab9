#pragma once

#include <string>

#include "apiserver/admission/admission.h"
#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// A request's view of the admission chain. Copyable; borrows the exchange and the scope.
class Admitter {
 public:
  // Makes the view of a create, update or patch.
  Admitter(const RequestScope& scope, const http::Exchange& exchange,
           const meta::CreateOptions& options);
  Admitter(const RequestScope& scope, const http::Exchange& exchange,
           const meta::DeleteOptions& options);
  // Makes the view of a connect.
  Admitter(const RequestScope& scope, const http::Exchange& exchange);

  // Runs the mutating phase. A null `old`: a create.
  Status Admit(const Context& ctx, runtime::Object& object, const runtime::Object* old) const;

  // Return the validating phase, in the form for the storage.
  rest::ValidateObject ValidateCreate() const;
  rest::ValidateObjectUpdate ValidateUpdate() const;
  // Returns the mutating and the validating phase of a delete: neither changes anything.
  rest::ValidateObject ValidateDelete() const;
  // Does what ValidateCreate does after checking that the user may create at all: for PUT and apply
  // of an object that does not exist.
  rest::ValidateObject AuthorizeAndValidateCreate() const;

  // Runs both phases of a connect. `options` are the object, which plugins may change. Null: there
  // is none.
  Status Connect(const Context& ctx, runtime::Object* options) const;

 private:
  // Returns null if no plugin handles such an operation.
  const admission::Chain* ChainFor(admission::Operation operation) const;
  admission::Attributes For(admission::Operation operation) const;
  admission::Attributes ForCreate(const runtime::Object& object) const;

  const RequestScope* scope_;
  const request::RequestInfo* info_;
  auth::UserInfoPtr user_;
  admission::OperationOptions options_;
  bool dry_run_ = false;
};

}  // namespace apiserver::inline v0::endpoints
