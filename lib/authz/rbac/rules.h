#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/rbac.h"

// What the words of a rule mean.
namespace apiserver::inline v0::authz::rbac {

bool HasText(const std::vector<std::string>& texts, std::string_view text);
bool HasTextOrAll(const std::vector<std::string>& texts, std::string_view text);

// What paths begin with that a URL ending in '*' stands for.
std::string_view UrlPrefix(std::string_view url);
// Whether `url` of a rule is `path`, or a prefix of it.
bool UrlCovers(std::string_view url, std::string_view path);

// Whether `rule` fits in all but the resource, of a request for one.
bool AllowsBesideResource(const auth::Attributes& asked, const PolicyRule& rule);

}  // namespace apiserver::inline v0::authz::rbac
