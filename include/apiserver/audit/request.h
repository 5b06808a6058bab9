#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apiserver/audit/context.h"
#include "apiserver/audit/event.h"
#include "apiserver/base/context.h"

// What handlers tell of the objects of a request: k8s.io/apiserver/pkg/audit/request.go. All of it
// does nothing where the request is not audited, or not at that level. Any thread.
namespace apiserver::inline v0::audit {

// An object whose JSON is longer is left out, and the event annotated with
// "audit.k8s.io/truncated": "true". Go has no such limit.
inline constexpr std::size_t kObjectBytesMax = 10 << 20;

// Whether the request's, or the answer's object is wanted, so that somebody should make its JSON.
bool WantsRequestObject(const Context& ctx);
bool WantsResponseObject(const Context& ctx);

// The request's object, in the version in which it was sent. `about` fills what the event's
// objectRef does not know from the URL. `json` is asked only if the level wants objects.
void LogRequestObject(const Context& ctx, const ObjectReference& about,
                      const std::function<std::string()>& json);
// The body of a PATCH as JSON.
void LogRequestPatch(const Context& ctx, std::string json);
// The name that an object got which was created without one.
void LogCreatedName(const Context& ctx, std::string_view name);
// The Status that is answered, of an error or a success.
void LogResponseStatus(const Context& ctx, ResponseStatus status);
// The answer as JSON, in whatever form it is sent.
void LogResponseObject(const Context& ctx, std::string json);
// In place of an object that is longer than kObjectBytesMax.
void LogObjectTooLarge(const Context& ctx);

}  // namespace apiserver::inline v0::audit
