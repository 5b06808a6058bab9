#include "authn/issuer_keys.h"

#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "auth/config_hash.h"
#include "authn/called_url.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

constexpr std::size_t kDiscoveryBytesMax = 256 << 10;

Status FetchFailed(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

// Reads the URL of the keys from the issuer's document.
Result<std::string> KeysUrlOf(const std::string& document, const std::string& issuer) {
  runtime::Arena arena;
  codec::JsonLimits limits;
  limits.bytes_max = kDiscoveryBytesMax;
  limits.depth_max = 32;
  const auto root = codec::ParseJson(document, arena, nullptr, limits);
  if (!root.ok()) {
    return FetchFailed("oidc: failed to decode provider discovery object: " +
                       std::string(root.status().message()));
  }
  const std::string_view found = (*root)["issuer"].AsString();
  // The document of another issuer would let that issuer's keys sign for this one.
  if (found != issuer) {
    return FetchFailed("oidc: issuer did not match the issuer returned by provider, expected " +
                       field::Quote(issuer) + " got " + field::Quote(found));
  }
  const std::string url((*root)["jwks_uri"].AsString());
  if (url.empty()) return FetchFailed("provider did not return JWKS URL");
  // Keys that an attacker on the network could replace prove nothing.
  const std::string problem = CalledUrlProblem("oidc: jwks_uri", url);
  if (!problem.empty()) return FetchFailed(problem);
  return url;
}

// Returns the body of a successful response.
Result<std::string> BodyOf(Result<http::ClientResponse> answer, std::string_view what) {
  if (!answer.ok()) {
    return FetchFailed("oidc: get " + std::string(what) +
                       " failed: " + std::string(answer.status().message()));
  }
  if (answer->code != 200) {
    return FetchFailed("oidc: get " + std::string(what) + " failed: status " +
                       std::to_string(answer->code));
  }
  return std::move(answer->body);
}

struct KeyMetrics {
  metrics::Family<metrics::Gauge>* timestamps;
  metrics::Family<metrics::Gauge>* infos;
};

KeyMetrics KeyMetricsOf(metrics::Registry& registry) {
  return {&registry.Gauges(
              {.name = "apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_"
                       "seconds",
               .help = "[ALPHA] Timestamp of the last successful or failed JWKS fetch split by "
                       "result, api server identity and jwt issuer for the JWT authenticator.",
               .labels = {"result", "jwt_issuer_hash", "apiserver_id_hash"}}),
          &registry.Gauges(
              {.name = "apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info",
               .help = "[ALPHA] Information about the last JWKS fetched by the JWT authenticator "
                       "with hash as label, split by api server identity and jwt issuer.",
               .labels = {"jwt_issuer_hash", "apiserver_id_hash", "hash"}})};
}

}  // namespace

// Keeps the result of a fetch for the requests that wait for it.
struct IssuerKeys::Fetch final : auth::LookUp {
  using LookUp::LookUp;
  void End(Result<JwkSetPtr> result) {
    answer = std::move(result);
    Finish();
  }
  std::optional<Result<JwkSetPtr>> answer;
};

struct IssuerKeys::State : std::enable_shared_from_this<IssuerKeys::State> {
  State(IssuerKeysOptions given, std::shared_ptr<client::HttpClient> client)
      : options(std::move(given)), http(std::move(client)) {
    if (options.metrics == nullptr) return;
    counted = KeyMetricsOf(*options.metrics);
    issuer_hash = auth::ConfigHash(options.issuer);
    server_hash = auth::ConfigHash(options.server_id);
  }
  ~State() {
    // The metrics of a removed issuer are hidden.
    if (!counted) return;
    for (const char* result : {"success", "failure"}) {
      counted->timestamps->Remove({result, issuer_hash, server_hash});
    }
    if (!set_hash.empty()) counted->infos->Remove({issuer_hash, server_hash, set_hash});
  }

  // Its times are monotonic, so that a corrected wall clock neither stops fetches nor causes many.
  struct Known {
    JwkSetPtr keys;
    Clock::Monotonic fetched_at;
    Clock::Monotonic not_before = Clock::Monotonic::min();  // The earliest time of the next fetch.
    std::shared_ptr<Fetch> under_way;
    std::string keys_url;
    Status trouble = {Reason::kUnauthorized, "oidc: authenticator not initialized"};
  };

  // Returns the fetch in flight, or starts one. Null: it is too early for one.
  // Called without the lock on `known`; the fetch starts outside of it, since its callback takes it
  // too.
  std::shared_ptr<Fetch> Join() {
    std::shared_ptr<Fetch> fetch;
    std::string keys_url;
    {
      const auto locked = known.Lock();
      if (locked->under_way) return locked->under_way;
      if (options.clock->Now() < locked->not_before) return nullptr;
      fetch = locked->under_way = std::make_shared<Fetch>(this, "");
      keys_url = locked->keys_url;
    }
    if (keys_url.empty()) {
      Discover(fetch);
    } else {
      FetchKeys(fetch, keys_url);
    }
    return fetch;
  }

  // Requests `url` and calls `use` with the body. The call in flight does not keep this State
  // alive.
  void Get(const std::string& url, const char* what, const std::shared_ptr<Fetch>& fetch,
           void (State::*use)(const std::shared_ptr<Fetch>&, Result<std::string>)) {
    client::HttpRequest request;
    request.method = "GET";
    request.url = url;
    request.headers.Add("Accept", "application/json");
    request.timeout = options.timeout;
    http->Start(Context::Background(), std::move(request),
                [weak = weak_from_this(), fetch, what, use](Result<http::ClientResponse> answer) {
                  if (const auto state = weak.lock()) {
                    (state.get()->*use)(fetch, BodyOf(std::move(answer), what));
                  } else {
                    fetch->End(FetchFailed("oidc: the configuration has changed"));
                  }
                });
  }

  void Discover(const std::shared_ptr<Fetch>& fetch) {
    Get(options.discovery_url, "provider configuration", fetch, &State::HasDiscovered);
  }

  void HasDiscovered(const std::shared_ptr<Fetch>& fetch, Result<std::string> document) {
    if (!document.ok()) return End(fetch, document.status());
    const Result<std::string> url = KeysUrlOf(*document, options.issuer);
    if (!url.ok()) return End(fetch, url.status());
    known.Lock()->keys_url = *url;
    FetchKeys(fetch, *url);
  }

  void FetchKeys(const std::shared_ptr<Fetch>& fetch, const std::string& url) {
    Get(url, "keys", fetch, &State::HasKeys);
  }

  void HasKeys(const std::shared_ptr<Fetch>& fetch, Result<std::string> body) {
    Result<JwkSet> set = body.ok() ? ParseJwkSet(*body) : Result<JwkSet>(body.status());
    Count(set.ok() ? *body : "", set.ok());
    if (!set.ok()) {
      // The keys may have moved to another URL.
      known.Lock()->keys_url.clear();
      return End(fetch, FetchFailed(std::string(set.status().message())));
    }
    for (const std::string& why : set->skipped) {
      Log(*options.log, LogLevel::kWarning, "A key of an issuer cannot be used",
          {{"issuer", options.issuer}, {"why", why}});
    }
    End(fetch, std::make_shared<const JwkSet>(*std::move(set)));
  }

  void End(const std::shared_ptr<Fetch>& fetch, Result<JwkSetPtr> result) {
    if (!result.ok()) {
      Log(*options.log, LogLevel::kWarning, "The keys of an issuer could not be fetched",
          {{"issuer", options.issuer}, {"why", std::string(result.status().message())}});
    }
    {
      const auto locked = known.Lock();
      const Clock::Monotonic now = options.clock->Now();
      locked->under_way = nullptr;
      // This holds after a failure too: tokens must not make the server flood the issuer with
      // requests.
      locked->not_before = now + options.refetch_interval;
      if (result.ok()) {
        locked->keys = *result;
        locked->fetched_at = now;
        locked->trouble = {};
      } else if (locked->keys) {
        result = locked->keys;  // Old keys are better than none.
      } else {
        locked->trouble = result.status();
      }
    }
    fetch->End(std::move(result));
  }

  // Runs for one fetch at a time, so `set_hash` needs no lock.
  void Count(const std::string& set, bool success) {
    if (!counted) return;
    const std::chrono::duration<double> now = options.clock->WallNow().time_since_epoch();
    counted->timestamps->With({success ? "success" : "failure", issuer_hash, server_hash})
        .Set(now.count());
    if (!success) return;
    // An issuer has one series, not one for each set of keys that it ever had.
    if (!set_hash.empty()) counted->infos->Remove({issuer_hash, server_hash, set_hash});
    set_hash = auth::ConfigHash(set);
    counted->infos->With({issuer_hash, server_hash, set_hash}).Set(1);
  }

  const IssuerKeysOptions options;
  const std::shared_ptr<client::HttpClient> http;
  Guarded<Known> known;
  std::optional<KeyMetrics> counted;
  std::string issuer_hash;
  std::string server_hash;
  std::string set_hash;  // Used by the one fetch in flight.
};

IssuerKeys::IssuerKeys(IssuerKeysOptions options, std::shared_ptr<client::HttpClient> http)
    : state_(std::make_shared<State>(std::move(options), std::move(http))) {}

// Never waits: keys that are too old are returned while the fetch for their successors runs.
JwkSetPtr IssuerKeys::Known() const {
  JwkSetPtr keys;
  bool old = false;
  {
    const auto locked = state_->known.Lock();
    keys = locked->keys;
    old = keys && state_->options.clock->Now() - locked->fetched_at > state_->options.lifetime;
  }
  if (old) state_->Join();
  return keys;
}

// Tokens with an unknown key all join one fetch, however many requests bring them.
Result<JwkSetPtr> IssuerKeys::Newer(const Context& ctx) const {
  const auth::WaitingPtr* const waiting = ctx.Get<auth::WaitingPtr>();
  // The request was parked by this look-up before: its result is taken instead of a second fetch.
  if (waiting && *waiting) {
    auth::LookUp* const asked = (*waiting)->Find(state_.get(), "");
    if (asked && asked->done()) return *static_cast<Fetch*>(asked)->answer;
  }
  const std::shared_ptr<Fetch> fetch = state_->Join();
  if (fetch == nullptr) {
    const auto locked = state_->known.Lock();
    if (locked->keys) return locked->keys;
    return locked->trouble;
  }
  if (ctx.may_block()) {
    RETURN_IF_ERROR(fetch->Wait(ctx));
  } else if (!fetch->done()) {
    if (waiting && *waiting) (*waiting)->Add(fetch);
    return Status(Reason::kWouldBlock, "the keys of an issuer are being fetched");
  }
  return *fetch->answer;
}

void IssuerKeys::Begin() const {
  if (!state_->known.Lock()->keys) state_->Join();
}

Status IssuerKeys::Healthy() const { return state_->known.Lock()->trouble; }

}  // namespace apiserver::v0::authn
