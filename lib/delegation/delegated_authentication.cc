#include "apiserver/delegation/delegated_authentication.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apiserver/authn/delegating.h"
#include "apiserver/authn/token_review.h"
#include "apiserver/authn/union.h"
#include "apiserver/authn/x509.h"
#include "apiserver/base/reload.h"
#include "apiserver/client/client.h"
#include "apiserver/delegation/cluster_client.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/headers.h"
#include "base/status_macros.h"
#include "delegation/authentication_config_map.h"

namespace apiserver::v0::delegation {

namespace {

using Bundle = std::shared_ptr<const Source<std::string>>;
using Options = DelegatedAuthenticationOptions;

// Two bundles as one; the text stays the same object as long as neither changes.
class JoinedBundles final : public Source<std::string> {
 public:
  JoinedBundles(Bundle a, Bundle b) : a_(std::move(a)), b_(std::move(b)) {}

  std::shared_ptr<const std::string> Get() const override {
    auto a = a_->Get();
    auto b = b_->Get();
    // Get() is called for each handshake and by several threads, hence the lock.
    const auto last = last_.Lock();
    // The same pointer while nothing changes, so that its readers need not parse it again.
    if (last->joined && last->a == a && last->b == b) return last->joined;
    last->joined = std::make_shared<const std::string>(*a + (a->ends_with('\n') ? "" : "\n") + *b);
    last->a = std::move(a);
    last->b = std::move(b);
    return last->joined;
  }

 private:
  struct Last {
    std::shared_ptr<const std::string> a, b, joined;
  };
  const Bundle a_;
  const Bundle b_;
  mutable Guarded<Last> last_;
};

// Either may be null.
Bundle Joined(const Bundle& a, const Bundle& b) {
  if (a && b) return std::make_shared<JoinedBundles>(a, b);
  return a ? a : b;
}

// Names flag and file, since the reason alone does not tell an administrator where to look.
Status OfFlag(const Status& why, const std::string& flag, const std::string& file) {
  return why.WithMessage(flag + ": " + file + ": " + std::string(why.message()));
}

// Follows RequestHeaderAuthenticationOptions.Validate of apiserver/server/options.
Status CheckNames(const std::string& flag, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name.find_first_not_of(" \t") == std::string::npos) {
      return Status(Reason::kInvalid, "empty value in \"" + flag + "\"");
    }
  }
  return {};
}

Status CheckRequestHeaderOptions(const Options& options) {
  const authn::RequestHeaderNames& names = options.request_header_names;
  RETURN_IF_ERROR(CheckNames("requestheader-username-headers", names.username));
  RETURN_IF_ERROR(CheckNames("requestheader-group-headers", names.group));
  RETURN_IF_ERROR(CheckNames("requestheader-extra-headers-prefix", names.extra_prefix));
  RETURN_IF_ERROR(CheckNames("requestheader-allowed-names", options.request_header_allowed_names));
  RETURN_IF_ERROR(CheckNames("requestheader-uid-headers", names.uid));
  // The aggregator sends the standard header whatever other names are configured.
  const bool standard = std::ranges::any_of(names.uid, [](const std::string& name) {
    return http::EqualIgnoreCase(name, "X-Remote-Uid");
  });
  if (names.uid.empty() || standard) return {};
  return Status(Reason::kInvalid,
                "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
                "header - API aggregation will not work");
}

// The parts that keep authorities up to date; shared by everything that reads them.
class Following {
 public:
  explicit Following(const Options& options) : options_(options) {}

  // Each step needs the ones before it: the cluster, its ConfigMap, authorities, the authenticator.
  Result<DelegatedAuthentication> Begin(const Context& ctx,
                                        const std::shared_ptr<Following>& self) {
    metrics_ = options_.metrics ? options_.metrics : metrics::NewRegistry();
    RETURN_IF_ERROR(CheckRequestHeaderOptions(options_));
    if (options_.executor == nullptr) {
      return Status(Reason::kInvalid, "delegated authentication needs an executor");
    }
    RETURN_IF_ERROR(OpenCluster());
    RETURN_IF_ERROR(LookUp(ctx));
    RETURN_IF_ERROR(FindAuthorities());
    RETURN_IF_ERROR(Make());
    return DelegatedAuthentication{
        // The authenticator keeps all of this alive.
        .authenticator = {self, authenticator_.get()}, .request_headers = header_names_,
        .client_ca = Joined(client_ca_, proxy_ca_),    .user_ca = client_ca_,
        .api_audiences = options_.api_audiences,       .metrics = metrics_};
  }

 private:
  // Returns the cluster's configuration. nullopt: there is none.
  Result<std::optional<client::ClientConfig>> ClusterConfig() const {
    const std::string& file = options_.kubeconfig_file;
    if (file.empty()) return options_.cluster;
    auto config = client::ReadClientConfigFile(*options_.file_system, file,
                                               client::Cleartext::kRefused, options_.exec_plug_ins);
    if (config.ok()) {
      config->origin = file;  // The code that connects names the flag.
      return std::optional(*std::move(config));
    }
    return config.status().WithMessage("--authentication-kubeconfig: " +
                                       std::string(config.status().message()));
  }

  // Without a cluster only the authorities in files are known, which may be meant.
  Status OpenCluster() {
    ASSIGN_OR_RETURN(const auto config, ClusterConfig());
    if (!config) {
      if (!options_.skip_lookup) {
        Log(*options_.log, LogLevel::kWarning,
            "no --authentication-kubeconfig: authorities that are not given as files are not "
            "looked up in the cluster, and tokens are not reviewed");
      }
      return {};
    }
    dialer_ = http::NewDialer();
    auto cluster =
        NewClusterClient(*config, *dialer_, *options_.file_system, {.log = options_.log});
    if (!cluster.ok()) return OfCluster(cluster.status());
    cluster_ = *std::move(cluster);
    const Status reviews = OpenTokenReviews(*config);
    return reviews.ok() ? reviews : OfCluster(reviews);
  }

  static Status OfCluster(const Status& why) {
    return why.WithMessage("the cluster of --authentication-kubeconfig: " +
                           std::string(why.message()));
  }

  Status OpenTokenReviews(const client::ClientConfig& config) {
    ASSIGN_OR_RETURN(auto http_client,
                     client::NewFollowedClient(config, {.new_client = options_.http_client,
                                                        .files = options_.file_system,
                                                        .executor = options_.executor,
                                                        .clock = options_.clock,
                                                        .log = options_.log,
                                                        .period = options_.file_period}));
    std::string server = config.server;
    // URLs in kubeconfigs may end in a slash.
    while (server.ends_with('/')) server.pop_back();
    ASSIGN_OR_RETURN(tokens_, authn::NewTokenReview(
                                  {.client = std::move(http_client),
                                   .url = server + "/apis/authentication.k8s.io/v1/tokenreviews",
                                   .implicit_audiences = options_.api_audiences,
                                   .timeout = options_.token_review_timeout,
                                   .executor = options_.executor,
                                   .success_ttl = options_.token_cache_ttl,
                                   .failure_ttl = options_.token_cache_ttl,
                                   .clock = options_.clock,
                                   .random = options_.random,
                                   .log = options_.log,
                                   .metrics = metrics_.get()}));
    return {};
  }

  // Begins to follow the ConfigMap, if a value of it is needed.
  // Follows the look-up in DelegatingAuthenticationOptions.ApplyTo. It waits for the cluster, so
  // that no request is answered before the authorities are known.
  Status LookUp(const Context& ctx) {
    const bool all_given =
        !options_.client_ca_file.empty() && !options_.request_header_ca_file.empty();
    if (cluster_ == nullptr || options_.skip_lookup || all_given) return {};
    map_.emplace(*cluster_, *options_.random, *options_.log);
    const Status read = map_->ReadNow(ctx);
    if (!read.ok() && !options_.tolerate_lookup_failure) {
      return read.WithMessage(
          std::string(read.message()) +
          (read.reason() == Reason::kForbidden
               ? ""
               : "; to start all the same, set --authentication-tolerate-lookup-failure"));
    }
    if (!read.ok()) {
      Log(*options_.log, LogLevel::kWarning,
          "goes on without the cluster's authentication configuration: until it can be read, "
          "neither users' certificates nor the front proxy are known",
          {{"err", std::string(read.message())}});
    }
    // The ConfigMap may be written or changed later, so it is followed after a failure too.
    map_->Follow();
    return {};
  }

  // A file wins over the ConfigMap, each authority by itself.
  Status FindAuthorities() {
    if (!options_.client_ca_file.empty()) {
      ASSIGN_OR_RETURN(client_ca_, FileBundle("--client-ca-file", options_.client_ca_file));
    } else if (map_) {
      client_ca_ = map_->client_ca();
    }
    if (!options_.request_header_ca_file.empty()) {
      ASSIGN_OR_RETURN(
          proxy_ca_, FileBundle("--requestheader-client-ca-file", options_.request_header_ca_file));
      // Names and headers belong to the authority, so they come from the same place.
      allowed_names_ = std::make_shared<Variable<std::vector<std::string>>>(
          options_.request_header_allowed_names);
      header_names_ =
          std::make_shared<Variable<authn::RequestHeaderNames>>(options_.request_header_names);
    } else if (map_) {
      proxy_ca_ = map_->request_header_ca();
      allowed_names_ = map_->allowed_names();
      header_names_ = map_->names();
    }
    return {};
  }

  // Returns the bundle in a file that may be replaced.
  Result<Bundle> FileBundle(const std::string& flag, const std::string& file) {
    const auto bundle = std::make_shared<Variable<std::string>>("");
    auto watched = WatchFiles({file}, options_.file_period,
                              {.files = *options_.file_system,
                               .executor = *options_.executor,
                               .clock = *options_.clock,
                               .log = *options_.log},
                              [bundle](const std::vector<std::string>& contents) -> Status {
                                // A file that is no bundle is refused here, so that the former
                                // bundle stays.
                                RETURN_IF_ERROR(authn::CheckCertificateBundle(contents.front()));
                                bundle->Set(contents.front());
                                return {};
                              });
    if (!watched.ok()) return OfFlag(watched.status(), flag, file);
    files_.push_back(*std::move(watched));
    return Bundle(bundle);
  }

  // Absent parts are left out of the authenticator; see authn::NewDelegating.
  Status Make() {
    authn::DelegatingOptions delegating{.client_ca = client_ca_,
                                        .tokens = tokens_,
                                        .anonymous = options_.anonymous,
                                        .anonymous_paths = options_.anonymous_paths,
                                        .clock = options_.clock,
                                        .metrics = metrics_.get()};
    if (proxy_ca_) {
      // Without an authority of the front proxy any client could claim to be any user.
      delegating.request_header = authn::RequestHeaderOptions{
          .ca = proxy_ca_, .allowed_names = allowed_names_, .names = header_names_};
    }
    ASSIGN_OR_RETURN(authenticator_, authn::NewDelegating(std::move(delegating)));
    return {};
  }

  const Options options_;
  std::shared_ptr<metrics::Registry> metrics_;
  std::unique_ptr<http::Dialer> dialer_;
  std::unique_ptr<client::Client> cluster_;  // Null: there is no cluster.
  std::shared_ptr<const auth::TokenAuthenticator> tokens_;
  std::optional<AuthenticationConfigMapFollower> map_;
  std::vector<std::unique_ptr<WatchedFiles>> files_;
  Bundle client_ca_;
  Bundle proxy_ca_;
  std::shared_ptr<const Source<std::vector<std::string>>> allowed_names_;
  authn::RequestHeaderNamesSource header_names_;
  std::shared_ptr<const auth::Authenticator> authenticator_;
};

}  // namespace

void DelegatedAuthentication::Apply(server::Config& config) const {
  config.authenticator = authenticator;
  config.request_headers = request_headers;
  config.client_ca = client_ca;
  config.user_ca = user_ca;
  config.api_audiences = api_audiences;
  config.metrics = metrics;
}

// The delegated authenticator comes first: a front proxy's request names another user than its
// certificate.
void DelegatedAuthentication::PutBefore(server::Config& config) const {
  config.authenticator = authn::NewUnion({authenticator, config.authenticator});
  config.request_headers = request_headers;
  // Clients of both authenticators must find their authority in the handshake.
  config.client_ca = Joined(config.client_ca, client_ca);
  config.user_ca = Joined(config.user_ca, user_ca);
}

Result<DelegatedAuthentication> NewDelegatedAuthentication(const Context& ctx,
                                                           const Options& options) {
  const auto following = std::make_shared<Following>(options);
  return following->Begin(ctx, following);
}

}  // namespace apiserver::v0::delegation
