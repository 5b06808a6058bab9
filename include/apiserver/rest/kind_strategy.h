#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// The strategy of an ordinary kind, ready made, after customResourceStrategy of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
namespace apiserver::inline v0::rest {

// What a host adds to the strategy of a kind. Functions run with writes, on the pool, where they
// may wait, several at a time. They see objects in the hub version, after the kind's schema has
// been checked (registry::StoreOptions::validate_schema); their findings stand in the same answer.
struct KindStrategyOptions {
  // Checks an object that is created or replaced. Null: the schema alone says what is valid.
  std::function<field::ErrorList(const Context&, const runtime::Object& object)> validate = nullptr;
  // Checks an object that replaces `old`, also by the status subresource. Null: `validate` does.
  std::function<field::ErrorList(const Context&, const runtime::Object& object,
                                 const runtime::Object& old)>
      validate_update = nullptr;
  // Warnings about a created object, sent as Warning headers. Null: none.
  std::function<std::vector<std::string>(const Context&, const runtime::Object& object)> warnings =
      nullptr;
  // Whether a PUT of a name that does not exist creates it.
  bool allow_create_on_update = false;
  // Whether a PUT without resourceVersion overwrites whatever is there.
  bool allow_unconditional_update = false;
};

// Returns the strategy of `kind`, which is in namespaces if Kind::namespaced() says so:
//
// - metadata.generation is 1 at first, and one more whenever an update changes anything outside of
//   metadata.
// - If the kind has a status subresource (KindVersion::status_subresource of the request's
// version),
//   a create drops the status, an update keeps the one that is stored, and clients that send one do
//   not come to own it. Without the subresource the status is a field like any other.
//
// NewStatusStrategy() (status.h) makes the strategy of the subresource of it.
std::shared_ptr<const Strategy> NewKindStrategy(runtime::KindPtr kind,
                                                KindStrategyOptions options = {});

}  // namespace apiserver::inline v0::rest
