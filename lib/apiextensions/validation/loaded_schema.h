#pragma once

#include <optional>

#include "apiserver/base/status.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// A schema of a definition, which is loaded once for all checks that need it so, and only for them.
class LoadedSchema {
 public:
  explicit LoadedSchema(const runtime::Value& json) : json_(json) {}

  const runtime::Value& json() const { return json_; }
  const Result<runtime::SchemaPtr>& Get() {
    if (!loaded_) loaded_ = codec::SchemaFromOpenApi(json_);
    return *loaded_;
  }

 private:
  const runtime::Value json_;
  std::optional<Result<runtime::SchemaPtr>> loaded_;
};

}  // namespace apiserver::inline v0::apiextensions
