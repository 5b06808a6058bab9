#pragma once

#include <string>

#include "apiserver/http/headers.h"

namespace proxy_test {

// Returns headers as "a: b; c: d".
inline std::string TextOf(const apiserver::http::Headers& headers) {
  std::string text;
  for (const auto& field : headers) {
    if (!text.empty()) text += "; ";
    text += field.name + ": " + field.value;
  }
  return text;
}

}  // namespace proxy_test
