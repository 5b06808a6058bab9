#pragma once

#include "apiserver/runtime/validate.h"

namespace apiserver::inline v0::cel {
class KindRules;  // cel/kind_rules.h
}

namespace apiserver::inline v0::rest {

// The checks of an object by its kind's schema.
struct SchemaCheck {
  // The part whose types and constraints are validated. kNone: no check at all.
  runtime::SchemaPart part = runtime::SchemaPart::kObject;
  // The rules in CEL of the object's kind, about the whole object whatever the part is. Borrowed.
  // Null: none run.
  const cel::KindRules* rules = nullptr;
};

}  // namespace apiserver::inline v0::rest
