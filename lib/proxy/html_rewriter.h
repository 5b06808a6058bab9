#pragma once

#include <string>
#include <string_view>

#include "proxy/location_rewriter.h"

namespace apiserver::inline v0::proxy {

// Returns `page` with its links rewritten: the attributes of HTML that hold a URL, as
// k8s.io/apimachinery/pkg/util/proxy.Transport lists them. Everything else stays byte for byte.
// Scripts, styles and comments are not looked into. Takes time in proportion to the page.
std::string RewriteHtml(std::string_view page, const LocationRewriter& rewriter);

}  // namespace apiserver::inline v0::proxy
