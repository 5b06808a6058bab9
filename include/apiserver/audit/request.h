#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apiserver/audit/context.h"
#include "apiserver/audit/event.h"
#include "apiserver/base/context.h"

// The objects of a request, added to its event by handlers: k8s.io/apiserver/pkg/audit/request.go.
// These functions do nothing if the request is not audited, or not at that level. Any thread.
namespace apiserver::inline v0::audit {

// The limit of an object's JSON; a longer one is left out, and the event annotated with
// "audit.k8s.io/truncated": "true". Go has no such limit.
inline constexpr std::size_t kObjectBytesMax = 10 << 20;

// True if the event wants the object of the request, so that its JSON should be made.
bool WantsRequestObject(const Context& ctx);
// The same for the object of the response.
bool WantsResponseObject(const Context& ctx);

// Adds the request's object, in the version in which it was sent. `about` fills the parts of the
// event's objectRef that the URL lacks. `json` is called on this thread, only if the level wants
// objects, and must not block.
void LogRequestObject(const Context& ctx, const ObjectReference& about,
                      const std::function<std::string()>& json);
// Adds the body of a PATCH as JSON.
void LogRequestPatch(const Context& ctx, std::string json);
// Adds the name of an object that was created without one. `name` is called on this thread, only if
// the record lacks it, and must not block.
void LogCreatedName(const Context& ctx, const std::function<std::string()>& name);
// Adds the Status of the response, of an error or a success.
void LogResponseStatus(const Context& ctx, ResponseStatus status);
// Adds the response as JSON, in whatever format it is sent.
void LogResponseObject(const Context& ctx, std::string json);
// Marks an object as left out, because it is longer than kObjectBytesMax.
void LogObjectTooLarge(const Context& ctx);

}  // namespace apiserver::inline v0::audit
