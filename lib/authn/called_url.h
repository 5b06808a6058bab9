#pragma once

#include <string>
#include <string_view>

// Checks URLs from tokens and issuers' documents, from which keys and claims are fetched.
namespace apiserver::inline v0::authn {

// Returns a URL without its user, query and fragment, which may be credentials, for messages.
std::string ShownUrl(const std::string& url);

// Returns why `url`, which messages call `what`, must not be called. Empty: it is https, names a
// host and has no user.
std::string CalledUrlProblem(std::string_view what, const std::string& url);

}  // namespace apiserver::inline v0::authn
