#include "apiserver/controlplane/token_request.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "apiserver/audit/context.h"
#include "apiserver/groups/authentication.h"
#include "apiserver/meta/errors.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "text/quote.h"

namespace apiserver::v0::controlplane {
namespace {

using authn::ServiceAccountTokenRequest;
using runtime::Object;
using runtime::ObjectPtr;
using runtime::Value;
using Reference = ServiceAccountTokenRequest::Reference;
using StorePtr = std::shared_ptr<registry::Store>;

constexpr std::int64_t kMinSeconds = std::int64_t{10} * 60;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32;
constexpr char kIssuedCredentialId[] = "authentication.kubernetes.io/issued-credential-id";

runtime::GroupKind RequestKind() { return {"authentication.k8s.io", "TokenRequest"}; }
runtime::GroupResource RequestResource() { return {"authentication.k8s.io", "TokenRequest"}; }

// As ValidateTokenRequest of pkg/apis/authentication/validation.
field::ErrorList Validate(const Object& request) {
  field::ErrorList errors;
  const field::Path path("spec.expirationSeconds");
  const std::int64_t seconds = request["spec"]["expirationSeconds"].AsInt();
  if (seconds < kMinSeconds) {
    errors.InvalidPrinted(path, std::to_string(seconds),
                          "may not specify a duration less than 10 minutes");
  }
  if (seconds > kMaxSeconds) {
    errors.InvalidPrinted(path, std::to_string(seconds),
                          "may not specify a duration larger than 2^32 seconds");
  }
  return errors;
}

// A field of the metadata that the URL has already.
Status MatchesUrl(const Object& request, const char* field, std::string_view in_url,
                  std::string_view account) {
  const std::string_view in_body = request.metadata()[field].AsString();
  if (in_body.empty() || in_body == in_url) return {};
  field::ErrorList errors;
  errors.Invalid(field::Path("metadata").Child(field), in_body,
                 "must match the service account " + std::string(field) + " if specified");
  return meta::NewInvalid(RequestKind(), account, errors);
}

Reference ReferenceTo(const Object& object) {
  return {.name = std::string(object.name()), .uid = std::string(object.uid())};
}

// Group, version and kind as schema.FromAPIVersionAndKind reads them.
runtime::GroupVersionKind KindOf(Value reference) {
  runtime::GroupVersionKind kind{.kind = std::string(reference["kind"].AsString())};
  const std::string_view api_version = reference["apiVersion"].AsString();
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) {
    kind.version = api_version;
  } else if (api_version.find('/', slash + 1) == std::string_view::npos) {
    kind.group = api_version.substr(0, slash);
    kind.version = api_version.substr(slash + 1);
  }
  return kind;
}

class TokenRequests final : public rest::Storage,
                            public rest::Scoper,
                            public rest::NamedCreater,
                            public rest::GroupVersionKindProvider,
                            public rest::SubresourceObjectMetaPreserver {
 public:
  TokenRequests(StorePtr accounts, TokenRequestOptions options, runtime::KindPtr kind)
      : accounts_(std::move(accounts)), options_(std::move(options)), kind_(std::move(kind)) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(kind_, kind_->hub_version());
  }
  bool NamespaceScoped() const override { return true; }
  runtime::GroupVersionKind GetGroupVersionKind(const runtime::GroupVersion&) const override {
    return kind_->gvk(kind_->hub_version());
  }
  bool PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() const override { return true; }

  Result<ObjectPtr> Create(const Context& ctx, std::string_view name,
                           std::unique_ptr<Object> request, const rest::ValidateObject& validate,
                           const meta::CreateOptions& /*options*/) override {
    const std::string_view ns = rest::NamespaceOf(ctx);
    if (ns.empty()) return meta::NewBadRequest("namespace is required");
    RETURN_IF_ERROR(MatchesUrl(*request, "name", name, name));
    RETURN_IF_ERROR(MatchesUrl(*request, "namespace", ns, name));
    ASSIGN_OR_RETURN(const ObjectPtr account, accounts_->Get(ctx, name, {}));
    RETURN_IF_ERROR(Complete(*account, *request));
    const Clock::Wall now = options_.clock->WallNow();
    request->Edit("metadata", "creationTimestamp") =
        runtime::FormatTime(runtime::UnixTime::From(now));
    request->Erase("status");
    const field::ErrorList errors = Validate(*request);
    if (!errors.empty()) return meta::NewInvalid(RequestKind(), "", errors);
    if (validate) RETURN_IF_ERROR(validate(ctx, *request));

    ServiceAccountTokenRequest token{.namespace_ = std::string(ns),
                                     .service_account = ReferenceTo(*account)};
    RETURN_IF_ERROR(Bind(ctx, (*request)["spec"]["boundObjectRef"], token));
    SetExpiration(ctx, *request, token);
    return Issue(ctx, now, std::move(token), std::move(request));
  }

 private:
  // Fills in what the client left to the server.
  Status Complete(const Object& account, Object& request) const {
    if (!request.uid().empty() && request.uid() != account.uid()) {
      return meta::NewConflict(RequestResource(), account.name(),
                               "the UID in the token request (" + std::string(request.uid()) +
                                   ") does not match the UID of the service account (" +
                                   std::string(account.uid()) + ")");
    }
    if (request["spec"]["audiences"].size() == 0) {
      runtime::ListBuilder audiences(request.arena());
      for (const std::string& audience : options_.api_audiences) {
        audiences.Add(Value::String(request.arena().Copy(audience)));
      }
      request.Edit("spec", "audiences") = audiences.Build();
    }
    request.Edit("metadata", "name") = account.name();
    request.Edit("metadata", "namespace") = account.namespace_();
    request.Edit("metadata", "uid") = account.uid();
    return {};
  }

  // Reads the stored object: a cached one may have been deleted already.
  Result<ObjectPtr> Read(const Context& ctx, StorePtr groups::TokenObjects::Stores::*which,
                         const runtime::GroupResource& resource, std::string_view ns,
                         std::string_view name) const {
    const groups::TokenObjects::Stores stores =
        options_.objects ? options_.objects->stores() : groups::TokenObjects::Stores();
    const StorePtr& store = stores.*which;
    if (!store) return meta::NewNotFound(resource, name);
    Context inner = Context::Child(ctx).WithMayBlock(ctx.may_block());
    inner.Set(rest::Namespace{std::string(ns)});
    return store->Get(inner, name, {});
  }

  Status Bind(const Context& ctx, Value reference, ServiceAccountTokenRequest& token) const {
    if (reference.is_null()) return {};
    using Stores = groups::TokenObjects::Stores;
    const runtime::GroupVersionKind kind = KindOf(reference);
    const std::string_view name = reference["name"].AsString();
    Reference* bound = nullptr;
    if (kind.group.empty() && kind.kind == "Pod") {
      ASSIGN_OR_RETURN(const ObjectPtr pod,
                       Read(ctx, &Stores::pods, {"", "pods"}, token.namespace_, name));
      RETURN_IF_ERROR(BindPod(ctx, *pod, token));
      bound = &token.pod;
    } else if (kind.group.empty() && kind.kind == "Node") {
      ASSIGN_OR_RETURN(const ObjectPtr node, Read(ctx, &Stores::nodes, {"", "nodes"}, "", name));
      token.node = ReferenceTo(*node);
      bound = &token.node;
    } else if (kind.group.empty() && kind.kind == "Secret") {
      ASSIGN_OR_RETURN(const ObjectPtr secret,
                       Read(ctx, &Stores::secrets, {"", "secrets"}, token.namespace_, name));
      token.secret = ReferenceTo(*secret);
      bound = &token.secret;
    } else {
      return meta::NewBadRequest("cannot bind token to object of type " + kind.group + "/" +
                                 kind.version + ", Kind=" + kind.kind);
    }
    const std::string_view uid = reference["uid"].AsString();
    if (uid.empty() || uid == bound->uid) return {};
    return meta::NewConflict(
        {kind.group, kind.kind}, name,
        "the UID in the bound object reference (" + std::string(uid) +
            ") does not match the UID in record. The object might have been deleted and then "
            "recreated");
  }

  Status BindPod(const Context& ctx, const Object& pod, ServiceAccountTokenRequest& token) const {
    const std::string& account = token.service_account.name;
    if (pod["spec"]["serviceAccountName"].AsString() != account) {
      return meta::NewBadRequest("cannot bind token for serviceaccount " + text::Quote(account) +
                                 " to pod running with different serviceaccount name.");
    }
    token.pod = ReferenceTo(pod);
    const std::string_view node_name = pod["spec"]["nodeName"].AsString();
    if (node_name.empty()) return {};
    const Result<ObjectPtr> node =
        Read(ctx, &groups::TokenObjects::Stores::nodes, {"", "nodes"}, "", node_name);
    if (node.ok()) {
      token.node = ReferenceTo(**node);
    } else if (node.status().reason() == Reason::kNotFound) {
      token.node.name = node_name;  // Tells at least where the pod is assigned.
    } else {
      return meta::NewInternalError(node.status().message());
    }
    return {};
  }

  bool IsForThisServer(const std::vector<std::string>& audiences) const {
    return std::ranges::all_of(audiences, [this](const std::string& each) {
      return std::ranges::find(options_.api_audiences, each) != options_.api_audiences.end();
    });
  }

  void SetExpiration(const Context& ctx, Object& request, ServiceAccountTokenRequest& token) const {
    for (const Value& audience : request["spec"]["audiences"].items()) {
      token.audiences.emplace_back(audience.AsString());
    }
    std::int64_t seconds = request["spec"]["expirationSeconds"].AsInt();
    const std::int64_t max = options_.max_expiration.count();
    if (max > 0 && seconds > max) {
      rest::AddWarning(ctx, "requested expiration of " + std::to_string(seconds) +
                                " seconds shortened to " + std::to_string(max) + " seconds");
      seconds = max;
      request.Edit("spec", "expirationSeconds") = max;
    }
    token.expires_after = std::chrono::seconds(seconds);
    if (options_.extend_expiration && !token.pod.name.empty() &&
        token.expires_after == kWarnOnlyExpiration && IsForThisServer(token.audiences)) {
      token.warn_after = token.expires_after;
      token.expires_after = options_.max_extended_expiration;
    }
  }

  // The client is told the expiration it asked for, not the extended one.
  Result<ObjectPtr> Issue(const Context& ctx, Clock::Wall now, ServiceAccountTokenRequest token,
                          std::unique_ptr<Object> request) const {
    token.id = NewUuid(*options_.random);
    const Result<std::string> signed_token = options_.issuer->GenerateToken(token);
    if (!signed_token.ok()) {
      return meta::NewInternalError("failed to generate token: " +
                                    std::string(signed_token.status().message()));
    }
    const runtime::UnixTime end{.seconds = runtime::UnixTime::From(now).seconds +
                                           (*request)["spec"]["expirationSeconds"].AsInt()};
    request->Edit("status", "token") = *signed_token;
    request->Edit("status", "expirationTimestamp") = runtime::FormatTime(end);
    audit::AddAnnotation(ctx, kIssuedCredentialId, "JTI=" + token.id);
    return ObjectPtr(std::move(request));
  }

  const StorePtr accounts_;
  const TokenRequestOptions options_;
  const runtime::KindPtr kind_;
};

}  // namespace

Result<std::shared_ptr<rest::Storage>> NewTokenRequests(StorePtr accounts,
                                                        TokenRequestOptions options) {
  if (!accounts || !options.issuer) {
    return Status(Reason::kInvalid, "token requests need the store of accounts and an issuer");
  }
  ASSIGN_OR_RETURN(runtime::KindPtr kind, groups::authentication::TokenRequestKind());
  return std::shared_ptr<rest::Storage>(
      std::make_shared<TokenRequests>(std::move(accounts), std::move(options), std::move(kind)));
}

}  // namespace apiserver::v0::controlplane
