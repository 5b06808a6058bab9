#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <string_view>

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// The conditions of an object, in status.conditions.
namespace apiserver::inline v0::meta {

// A condition to be set.
struct Condition {
  std::string_view type;
  std::string_view status;  // "True", "False" or "Unknown".
  std::string_view reason;
  std::string_view message;
};

// Returns the condition of a type. Null: there is none.
runtime::Value FindCondition(const runtime::Object& object, std::string_view type);
// Tells if there is a condition of the type, and it is True.
bool IsConditionTrue(const runtime::Object& object, std::string_view type);
// Sets a condition, in place of that of the same type, whose observedGeneration it keeps, or behind
// all others. The time of its last transition becomes `now` if the status differs.
void SetCondition(runtime::Object& object, const Condition& condition,
                  std::chrono::system_clock::time_point now);
// Removes a condition if it is there.
void RemoveCondition(runtime::Object& object, std::string_view type);

}  // namespace apiserver::inline v0::meta
