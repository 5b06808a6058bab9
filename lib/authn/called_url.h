#pragma once

#include <string>
#include <string_view>

// URLs that tokens and the documents of issuers name, where keys and claims are fetched.
namespace apiserver::inline v0::authn {

// What may be told of a URL: not the credentials that users, queries and fragments can be.
std::string ShownUrl(const std::string& url);

// Why `url`, which messages call `what`, is not called; empty: it is https, names a host and no
// user.
std::string CalledUrlProblem(std::string_view what, const std::string& url);

}  // namespace apiserver::inline v0::authn
