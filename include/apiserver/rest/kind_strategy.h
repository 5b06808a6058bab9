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

// The default strategy of ordinary kinds, after customResourceStrategy of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource.
namespace apiserver::inline v0::rest {

// A host's additions to the strategy of a kind. The functions run with writes on pool threads,
// where they may block, several at a time. They see objects in the hub version, after the kind's
// schema has been checked (registry::StoreOptions::validate_schema). The response lists their
// errors together with the schema's.
struct KindStrategyOptions {
  // Checks an object that is created or replaced. Null: only the schema validates.
  std::function<field::ErrorList(const Context&, const runtime::Object& object)> validate = nullptr;
  // Checks an object that replaces `old`, also by the status subresource. Null: `validate` does.
  std::function<field::ErrorList(const Context&, const runtime::Object& object,
                                 const runtime::Object& old)>
      validate_update = nullptr;
  // Warnings about a created object, sent as Warning headers. Null: none.
  std::function<std::vector<std::string>(const Context&, const runtime::Object& object)> warnings =
      nullptr;
  // Makes a PUT create an object that does not exist.
  bool allow_create_on_update = false;
  // Makes a PUT without resourceVersion overwrite the stored object.
  bool allow_unconditional_update = false;
};

// Returns the strategy of `kind`, which is in namespaces if Kind::namespaced() says so:
//
// - metadata.generation is 1 at first, and one more whenever an update changes anything outside of
//   metadata.
// - If the kind has a status subresource (KindVersion::status_subresource of the request's
// version),
//   a create drops the status, an update keeps the stored one, and a client that sends one does not
//   become its field manager. Without the subresource the status is a field like any other.
//
// NewStatusStrategy() (status.h) makes the strategy of the subresource of it.
std::shared_ptr<const Strategy> NewKindStrategy(runtime::KindPtr kind,
                                                KindStrategyOptions options = {});

}  // namespace apiserver::inline v0::rest
