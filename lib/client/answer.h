#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"

// Converts the bytes of responses to objects and errors, and objects to bytes.
namespace apiserver::inline v0::client {

// Returns the error for a response of 400 and more.
Status ErrorOf(std::string_view method, const Target& target, const http::ClientResponse& answer);

// kInternalError: not a JSON object with kind and apiVersion.
Result<std::unique_ptr<runtime::Object>> ObjectOf(std::string body);
// Copies an object out of a parsed document. `kind` is that of the last object, which objects of
// the same kind share, or null; it becomes the object's.
Result<std::unique_ptr<runtime::Object>> ObjectOf(runtime::Value content, runtime::KindPtr& kind);
// Items have their list's version, and its kind without "List".
Result<runtime::List> ListOf(std::string body);

// Returns the JSON of an object, with kind and apiVersion.
std::string JsonOf(const runtime::Object& object);

}  // namespace apiserver::inline v0::client
