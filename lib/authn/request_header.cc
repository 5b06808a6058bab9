#include "apiserver/authn/request_header.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/http/message.h"
#include "authn/client_certificates.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;
using auth::UserInfo;
using Strings = std::vector<std::string>;

bool HasPrefixIgnoreCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         http::EqualIgnoreCase(text.substr(0, prefix.size()), prefix);
}

// Returns the first value that is not empty. Only the first value of each header counts, as in Go's
// Header.Get.
std::string_view FirstValue(const Strings& names, const http::Headers& headers) {
  for (const std::string& name : names) {
    if (const std::string_view value = headers.Get(name); !value.empty()) return value;
  }
  return "";
}

// Takes the values of all headers, since groups may be spread over several.
Strings AllValues(const Strings& names, const http::Headers& headers) {
  Strings values;
  for (const std::string& name : names) {
    for (const std::string_view value : headers.GetAll(name)) {
      if (!value.empty()) values.emplace_back(value);
    }
  }
  return values;
}

// Decodes the key of an extra. One that is not well encoded is used as it is, so that nothing is
// lost.
std::string ExtraKey(std::string_view encoded) {
  std::string lower(encoded);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return http::PercentDecode(lower).value_or(lower);
}

std::map<std::string, Strings> ExtraOf(const Strings& prefixes, const http::Headers& headers) {
  std::map<std::string, Strings> extra;
  for (const std::string& prefix : prefixes) {
    if (prefix.empty()) continue;  // An empty prefix would match every header.
    for (const http::Headers::Field& field : headers) {
      if (!HasPrefixIgnoreCase(field.name, prefix)) continue;
      extra[ExtraKey(std::string_view(field.name).substr(prefix.size()))].push_back(field.value);
    }
  }
  return extra;
}

class RequestHeader final : public auth::Authenticator {
 public:
  explicit RequestHeader(RequestHeaderOptions options)
      : certificates_({.ca = std::move(options.ca),
                       .clock = options.clock,
                       .connections_max = options.connections_max}),
        allowed_names_(std::move(options.allowed_names)),
        names_(std::move(options.names)) {}

  Result<std::optional<AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    ASSIGN_OR_RETURN(const auto certificate, certificates_.Verify(request));
    if (certificate == nullptr) return std::optional<AuthenticateResponse>();
    RETURN_IF_ERROR(CheckName(certificate->common_name));
    std::optional<UserInfo> user = UserFromHeaders(*names_->Get(), request.headers);
    if (!user) return std::optional<AuthenticateResponse>();
    return std::optional(AuthenticateResponse{std::make_shared<const UserInfo>(*std::move(user))});
  }

 private:
  // An empty list allows every certificate of the authority.
  Status CheckName(const std::string& common_name) const {
    if (allowed_names_ == nullptr) return {};
    const std::shared_ptr<const Strings> allowed = allowed_names_->Get();
    if (allowed->empty() || std::ranges::find(*allowed, common_name) != allowed->end()) return {};
    return Status(Reason::kUnauthorized,
                  "x509: subject with cn=" + common_name + " is not in the allowed list");
  }

  const ClientCertificates certificates_;
  const std::shared_ptr<const Source<Strings>> allowed_names_;
  const RequestHeaderNamesSource names_;
};

}  // namespace

const RequestHeaderNames& StandardRequestHeaders() {
  static const RequestHeaderNames names{.uid = {"X-Remote-Uid"}};
  return names;
}

void RemoveRequestHeaders(const RequestHeaderNames& names, http::Headers& headers) {
  for (const Strings* list : {&names.username, &names.uid, &names.group}) {
    for (const std::string& name : *list) (void)headers.Remove(name);
  }
  for (const std::string& prefix : names.extra_prefix) {
    if (!prefix.empty()) (void)headers.RemovePrefix(prefix);
  }
}

std::optional<UserInfo> UserFromHeaders(const RequestHeaderNames& names,
                                        const http::Headers& headers) {
  const std::string_view name = FirstValue(names.username, headers);
  if (name.empty()) return std::nullopt;
  return UserInfo{.name = std::string(name),
                  .uid = std::string(FirstValue(names.uid, headers)),
                  .groups = AllValues(names.group, headers),
                  .extra = ExtraOf(names.extra_prefix, headers)};
}

std::unique_ptr<auth::Authenticator> NewRequestHeader(RequestHeaderOptions options) {
  return std::make_unique<RequestHeader>(std::move(options));
}

}  // namespace apiserver::v0::authn
