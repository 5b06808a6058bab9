#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::authn {

// What validation asks of a URL. Borrows the text.
struct GoUrl {
  std::string_view scheme = {};  // As written.
  bool has_user = false;
  std::string_view host = {};  // With its port.
  std::string_view query = {};
  std::string_view fragment = {};
};

// As net/url.Parse, with its words. kInvalid.
Result<GoUrl> ParseGoUrl(std::string_view text);

}  // namespace apiserver::inline v0::authn
