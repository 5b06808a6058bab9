#pragma once

#include <string>

#include "apiserver/admission/admission.h"
#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// A request's view of the admission chain. Copyable; borrows the exchange and the scope.
class Admitter {
 public:
  Admitter(const RequestScope& scope, const http::Exchange& exchange, bool dry_run);

  // Runs the mutating phase; `old` null: a create.
  Status Admit(const Context& ctx, runtime::Object& object, const runtime::Object* old) const;

  // The validating phase, as the storage wants it.
  rest::ValidateObject ValidateCreate() const;
  rest::ValidateObjectUpdate ValidateUpdate() const;
  // Mutating and validating phase of a delete: neither changes anything.
  rest::ValidateObject ValidateDelete() const;
  // As ValidateCreate, after asking whether the user may create at all: for PUT and apply of what
  // does not exist.
  rest::ValidateObject AuthorizeAndValidateCreate() const;

  Status Connect(const Context& ctx) const;

 private:
  admission::Attributes For(admission::Operation operation) const;

  const RequestScope* scope_;
  const request::RequestInfo* info_;
  auth::UserInfoPtr user_;
  bool dry_run_;
};

}  // namespace apiserver::inline v0::endpoints
