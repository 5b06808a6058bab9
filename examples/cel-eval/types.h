#pragma once

#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/cel/type.h"
#include "apiserver/runtime/schema_node.h"

// Types that variables are declared with.
namespace cel_eval {

// A type whose values can be read from JSON.
struct DataType {
  apiserver::cel::Type type;
  // The schema that its values are seen through. Null: they are plain JSON.
  apiserver::runtime::SchemaPtr schema;
};

// Reads a type as messages print it: dyn, bool, int, double, string, bytes, timestamp, duration,
// list(T), map(string, T). Bytes are base64 in JSON, times RFC 3339. kInvalid: another type.
apiserver::Result<DataType> ReadDataType(std::string_view text);

// Reads a type that an expression may have: those and uint, null_type, optional_type(T), type.
apiserver::Result<apiserver::cel::Type> ReadType(std::string_view text);

}  // namespace cel_eval
