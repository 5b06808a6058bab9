#pragma once

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::authorization {

// A selector of ResourceAttributes as text for an authorizer. A requirement that cannot be parsed
// is left out: the authorizer is then asked about more objects, which errs on the safe side.
struct SelectorText {
  std::string text;  // As in a query. Empty: there is no selector, or no part that can be parsed.
  bool parse_error = false;
};

// Return the text of `selector`, a FieldSelectorAttributes or a LabelSelectorAttributes. Null:
// there is no selector.
SelectorText FieldSelectorText(runtime::Value selector);
SelectorText LabelSelectorText(runtime::Value selector);

}  // namespace apiserver::inline v0::groups::authorization
