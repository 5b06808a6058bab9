#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"

// From the bytes of an answer to objects and errors, and back.
namespace apiserver::inline v0::client {

// The error that an answer of 400 and more stands for.
Status ErrorOf(std::string_view method, const Target& target, const http::ClientResponse& answer);

// kInternalError: not a JSON object with kind and apiVersion.
Result<std::unique_ptr<runtime::Object>> ObjectOf(std::string body);
// An object that stands inside of something parsed; it is copied.
Result<std::unique_ptr<runtime::Object>> ObjectOf(runtime::Value content);
// Items have their list's version, and its kind without "List".
Result<runtime::List> ListOf(std::string body);

// With kind and apiVersion.
std::string JsonOf(const runtime::Object& object);

}  // namespace apiserver::inline v0::client
