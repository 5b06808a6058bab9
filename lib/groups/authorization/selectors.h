#pragma once

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups::authorization {

// A selector of ResourceAttributes as an authorizer wants it. What is not understood is left out:
// then more is asked for, which errs on the safe side.
struct SelectorText {
  std::string text;  // As in a query; empty: no selector, or none that is understood.
  bool parse_error = false;
};

// `selector` is a FieldSelectorAttributes, or a LabelSelectorAttributes; null: no selector.
SelectorText FieldSelectorText(runtime::Value selector);
SelectorText LabelSelectorText(runtime::Value selector);

}  // namespace apiserver::inline v0::groups::authorization
