#pragma once

#include <memory>
#include <utility>

#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/scope.h"

namespace apiserver::inline v0::endpoints {

// A PUT or PATCH, for as long as it takes. Derived classes have what makes the new object.
class UpdateWork {
 public:
  UpdateWork(ScopePtr scope_of, http::Exchange& from, const meta::UpdateOptions& wanted)
      : scope(std::move(scope_of)),
        exchange(from),
        options(wanted),
        admitter(*scope, exchange, options),
        validate_create(admitter.AuthorizeAndValidateCreate()),
        validate_update(admitter.ValidateUpdate()) {}
  virtual ~UpdateWork() = default;
  UpdateWork(const UpdateWork&) = delete;
  UpdateWork& operator=(const UpdateWork&) = delete;

  // Returns what makes the new object, which this owns. With `track_fields` false the object has no
  // owners.
  virtual const rest::UpdatedObjectInfo& Info(bool track_fields) const = 0;
  // True for an apply, which may create the object and has no meaning without owners.
  virtual bool applies() const { return false; }

  const ScopePtr scope;
  http::Exchange& exchange;
  const meta::UpdateOptions options;
  const Admitter admitter;
  const rest::ValidateObject validate_create;
  const rest::ValidateObjectUpdate validate_update;
};

// Updates the object of the request's name and answers. If the storage can, no thread waits for the
// write.
http::Step RunUpdate(std::shared_ptr<const UpdateWork> work);

}  // namespace apiserver::inline v0::endpoints
