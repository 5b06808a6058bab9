#include "apiserver/controlplane/identity_lease.h"

#include <openssl/sha.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>

#include "apiserver/client/client.h"
#include "apiserver/runtime/time.h"
#include "base/status_macros.h"
#include "controlplane/control/hooks.h"
#include "controlplane/control/objects.h"

namespace apiserver::v0::controlplane {
namespace {

using runtime::Object;
using std::chrono::milliseconds;

constexpr char kIdentityLabel[] = "apiserver.kubernetes.io/identity";
constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

// Base32 of RFC 4648 in lower case, without padding.
std::string Base32(const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    bits = bits << 8 | bytes[i];
    for (count += 8; count >= 5; count -= 5) text += kDigits[bits >> (count - 5) & 31];
  }
  if (count > 0) text += kDigits[bits << (5 - count) & 31];
  return text;
}

// As cryptobyte.Builder.AddUint16LengthPrefixed.
void AddPrefixed(std::string_view text, std::string& out) {
  out += static_cast<char>(text.size() >> 8);
  out += static_cast<char>(text.size() & 0xff);
  out += text;
}

Result<std::string> Hostname() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) return std::string(name.data());
  return Status(Reason::kInternalError, "error getting hostname for apiserver identity");
}

client::Target LeasesOf(const std::string& ns, std::string name = "") {
  return {.resource = {"coordination.k8s.io", "v1", "leases"},
          .namespace_ = ns,
          .name = std::move(name)};
}

Status DeleteIfThere(const Context& ctx, client::Client& api, const client::Target& lease) {
  const Status deleted = api.Delete(ctx, lease).status();
  return deleted.reason() == Reason::kNotFound ? Status() : deleted;
}

// Keeps one Lease: lease.Controller of component-helpers. Used by one step at a time.
class Renewal {
 public:
  Renewal(IdentityLeaseOptions options, std::string name, std::string holder)
      : options_(std::move(options)), name_(std::move(name)), holder_(std::move(holder)) {}

  milliseconds Step(const Context& ctx, client::Client& api) {
    if (!std::exchange(started_, true)) {
      // One of a server before this one would still say that it lives.
      Tell("error deleting old lease", DeleteIfThere(ctx, api, Target()));
    }
    const Status renewed = Renew(ctx, api);
    if (renewed.ok()) return options_.renew_period;
    if (!ctx.done()) Tell("failed to renew the lease, will retry", renewed);
    return options_.pause_after_failure;
  }
  void Delete(client::Client& api) const {
    constexpr std::chrono::seconds kShutdownTimeout(10);
    const Context ctx = Context::Child(Context::Background(), RealClock().Now() + kShutdownTimeout);
    Tell("Unable to delete lease", DeleteIfThere(ctx, api, Target()));
  }

 private:
  client::Target Target() const { return LeasesOf(options_.lease_namespace, name_); }
  void Tell(const char* what, const Status& why) const {
    if (why.ok()) return;
    Log(*options_.log, LogLevel::kError, what,
        {{"lease", options_.lease_namespace + "/" + name_}, {"err", std::string(why.message())}});
  }

  // Writes over what was written last, and reads it only if somebody else has changed it.
  Status Renew(const Context& ctx, client::Client& api) {
    if (latest_) {
      if (Update(ctx, api).ok()) return {};
      latest_.reset();
    }
    client::Client::ObjectResult found = api.Get(ctx, Target());
    if (found.ok()) {
      latest_ = *std::move(found);
      return Update(ctx, api);
    }
    if (found.status().reason() != Reason::kNotFound) return found.status();
    const auto lease =
        NewObject({"coordination.k8s.io", "v1", "Lease"}, options_.lease_namespace, name_);
    lease->Edit("spec", "holderIdentity") = holder_;
    lease->Edit("spec", "leaseDurationSeconds") = std::int64_t{options_.duration.count()};
    Fill(*lease);
    return Keep(api.Create(ctx, LeasesOf(options_.lease_namespace), *lease));
  }
  Status Update(const Context& ctx, client::Client& api) {
    Fill(*latest_);
    return Keep(api.Update(ctx, Target(), *latest_));
  }
  void Fill(Object& lease) const {
    lease.Edit("spec", "renewTime") =
        runtime::FormatMicroTime(runtime::UnixTime::From(options_.clock->WallNow()));
    lease.Edit("metadata", "labels", kIdentityLabel) = options_.server;
    lease.Edit("metadata", "labels", kHostnameLabel) = options_.hostname;
  }
  Status Keep(client::Client::ObjectResult written) {
    if (!written.ok()) return written.status();
    latest_ = *std::move(written);
    return {};
  }

  const IdentityLeaseOptions options_;
  const std::string name_;
  const std::string holder_;
  bool started_ = false;
  std::unique_ptr<Object> latest_;
};

// Leases without a time of renewal or a duration are invalid, and go as well.
bool IsExpired(const Object& lease, const Clock& clock) {
  const auto renewed = runtime::ParseTime(lease["spec"]["renewTime"].AsString());
  const runtime::Value duration = lease["spec"]["leaseDurationSeconds"];
  if (!renewed.ok() || duration.is_null()) return true;
  return renewed->ToSystem() + std::chrono::seconds(duration.AsInt()) < clock.WallNow();
}

// Looks at each Lease once more before it deletes it, as it is stored.
Status DeleteExpired(const Context& ctx, client::Client& api, const IdentityLeaseOptions& options) {
  meta::ListOptions selection;
  ASSIGN_OR_RETURN(selection.label_selector,
                   meta::LabelSelector::Parse(std::string(kIdentityLabel) + "=" + options.server));
  ASSIGN_OR_RETURN(const runtime::List leases,
                   api.List(ctx, LeasesOf(options.lease_namespace), selection));
  for (const runtime::ObjectPtr& each : leases.items) {
    if (!IsExpired(*each, *options.clock)) continue;
    const client::Target target = LeasesOf(options.lease_namespace, std::string(each->name()));
    const auto now = api.Get(ctx, target);
    if (now.status().reason() == Reason::kNotFound) continue;
    RETURN_IF_ERROR(now.status());
    if (IsExpired(**now, *options.clock)) RETURN_IF_ERROR(DeleteIfThere(ctx, api, target));
  }
  return {};
}

}  // namespace

std::string ApiServerId(std::string_view hostname, std::string_view server) {
  std::string text;
  AddPrefixed(hostname, text);
  AddPrefixed(server, text);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  constexpr std::size_t kHashBytes = 16;
  return "apiserver-" + Base32(hash.data(), kHashBytes);
}

Status AddIdentityLease(server::GenericAPIServer& server, IdentityLeaseOptions options) {
  if (options.hostname.empty()) {
    ASSIGN_OR_RETURN(options.hostname, Hostname());
  }
  const std::string id = ApiServerId(options.hostname, options.server);
  const auto renewal = std::make_shared<Renewal>(options, id, id + "_" + NewUuid(*options.random));
  RETURN_IF_ERROR(AddController(
      server, {.start_hook = "start-kube-apiserver-identity-lease-controller",
               .stop_hook = "stop-kube-apiserver-identity-lease-controller",
               .step = [renewal](const Context& ctx,
                                 client::Client& api) { return renewal->Step(ctx, api); },
               .stop = [renewal](client::Client& api) { renewal->Delete(api); }}));
  const auto collect = [options = std::move(options)](const Context& ctx, client::Client& api) {
    const Status collected = DeleteExpired(ctx, api, options);
    if (!collected.ok() && !ctx.done()) {
      Log(*options.log, LogLevel::kError, "Error while deleting expired apiserver leases",
          {{"err", std::string(collected.message())}});
    }
    return options.gc_period;
  };
  return AddController(server,
                       {.start_hook = "start-kube-apiserver-identity-lease-garbage-collector",
                        .stop_hook = "stop-kube-apiserver-identity-lease-garbage-collector",
                        .step = collect});
}

}  // namespace apiserver::v0::controlplane
