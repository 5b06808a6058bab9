#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"

// The meaning of the words in a rule.
namespace apiserver::inline v0::authz::rbac {

bool HasText(const std::vector<std::string>& texts, std::string_view text);
bool HasTextOrAll(const std::vector<std::string>& texts, std::string_view text);

// Returns the prefix that a URL ending in '*' stands for.
std::string_view UrlPrefix(std::string_view url);
// True if `url` of a rule is `path`, or a prefix of it.
bool UrlCovers(std::string_view url, std::string_view path);

// True if everything but the resource of `rule` fits a request for one.
bool AllowsBesideResource(const auth::Attributes& asked, const PolicyRule& rule);

}  // namespace apiserver::inline v0::authz::rbac
