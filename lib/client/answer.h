#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/scheme.h"

// Converts the bytes of responses to objects and errors, and objects to bytes.
namespace apiserver::inline v0::client {

// Returns the error for a response of 400 and more.
Status ErrorOf(std::string_view method, const Target& target, const http::ClientResponse& answer);

// `scheme` has the kinds of objects; null, or without the kind: they are of an untyped one.
//
// kInternalError: not a JSON object with kind and apiVersion.
Result<std::unique_ptr<runtime::Object>> ObjectOf(std::string body,
                                                  const runtime::Scheme* scheme = nullptr);
// Copies an object out of a parsed document. `kind` is that of the last object, which objects of
// the same kind share, or null; it becomes the object's.
Result<std::unique_ptr<runtime::Object>> ObjectOf(runtime::Value content, runtime::KindPtr& kind,
                                                  const runtime::Scheme* scheme);
// Items have their list's version, and the kind of `scheme` whose lists are of that kind, or else
// the list's without "List".
Result<runtime::List> ListOf(std::string body, const runtime::Scheme* scheme = nullptr);

// Returns the JSON of an object, with kind and apiVersion.
std::string JsonOf(const runtime::Object& object);

}  // namespace apiserver::inline v0::client
