#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/cel/type.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Types of the variables that the oracle's lines declare.
namespace apiserver::celtest {

// Reads a type as CEL prints it: "list(map(string, dyn))". kInvalid: there is no such type.
Result<cel::Type> TypeOfText(std::string_view text);

// Returns the type of a variable with a schema, whose objects are named `name`, `name.field`.
// nullopt: expressions do not see values of it.
std::optional<cel::Type> TypeOfSchema(const runtime::Schema& schema, const std::string& name);

// Completes the schema of a resource (JSON) with apiVersion, kind, metadata.name and
// metadata.generateName, as Kubernetes does.
runtime::Value WithTypeAndObjectMeta(const runtime::Value& schema, runtime::Arena& arena);

}  // namespace apiserver::celtest
