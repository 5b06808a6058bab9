#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// Files that flags name, and the part of them at a path.
namespace cel_eval {

// Reads a file; "-" is standard input, once.
apiserver::Result<std::string> ReadFile(const std::string& path);

// Parses JSON or YAML. `name` begins the error.
apiserver::Result<apiserver::runtime::Value> ParseData(const std::string& name,
                                                       std::string_view text,
                                                       apiserver::runtime::Arena& arena);

// Reads the schema of a CustomResourceDefinition's version (empty: the storage version), completed
// as expressions see it, or a schema that stands alone. The file may have several documents: the
// first CustomResourceDefinition counts.
apiserver::Result<apiserver::runtime::SchemaPtr> ReadSchema(const std::string& path,
                                                            const std::string& version);

// Return the part at a path of property names, keys and indexes: "spec.ports.0". Empty: the whole.
// kInvalid: there is none; for data that is an error of the caller's choice.
apiserver::Result<apiserver::runtime::SchemaPtr> PartOf(const apiserver::runtime::SchemaPtr& schema,
                                                        std::string_view path);
// nullptr: the data has no such part.
const apiserver::runtime::Value* PartOf(const apiserver::runtime::Value& data,
                                        std::string_view path);

}  // namespace cel_eval
