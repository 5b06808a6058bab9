#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::codec {

// Resolves references to other schemas, which OpenAPI documents have, and CustomResourceDefinitions
// have not.
class SchemaReferences {
 public:
  struct Target {
    runtime::SchemaPtr schema;          // Null: the schema is no reference.
    std::string_view description = {};  // Lives as long as this.
  };

  virtual ~SchemaReferences() = default;
  // Finds what `json` refers to. `depth` is that of the place where it stands. kInvalid: it leads
  // nowhere.
  virtual Result<Target> Find(const runtime::Value& json, int depth) = 0;
};

// Read a schema of such a document, whose types may be missing; see schema_loader.h. `depth` is
// that of the references that have led here.
Result<runtime::SchemaPtr> SchemaFromDocument(runtime::Value schema, runtime::SchemaPool& pool,
                                              SchemaReferences& references, int depth);
// The same for the schema of a whole object.
Result<runtime::SchemaPtr> RootSchemaFromDocument(runtime::Value schema, runtime::SchemaPool& pool,
                                                  SchemaReferences& references);

}  // namespace apiserver::inline v0::codec
