#include "storage/etcd/grpc_channels.h"

#include <chrono>
#include <string>

#include "apiserver/base/file_system.h"
#include "text/ip.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::seconds kSuspicion{5};
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

std::shared_ptr<grpc::ChannelCredentials> CredentialsOf(const GrpcOptions& options, bool tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.ca;
  if (options.ca.empty()) {
    // Debian's gRPC has no authorities of its own.
    const auto system = RealFileSystem().Read(kSystemAuthorities);
    if (system.ok()) ssl.pem_root_certs = *system;
  }
  ssl.pem_cert_chain = options.certificate;
  ssl.pem_private_key = options.key;
  return grpc::SslCredentials(ssl);
}

grpc::ChannelArguments ArgumentsOf(const GrpcOptions& options) {
  grpc::ChannelArguments arguments;
  // Otherwise two channels to one member share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive_time.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(options.keepalive_timeout.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  // Pings go on without any data: a quiet watch is the usual case.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  if (!options.server_name.empty()) arguments.SetSslTargetNameOverride(options.server_name);
  return arguments;
}

// Addresses are named as such, so that gRPC asks no resolver for them.
std::string TargetOf(const Endpoint& endpoint) {
  if (endpoint.port == 0) return endpoint.host;
  const std::string port = ":" + std::to_string(endpoint.port);
  if (text::IsIpv6(endpoint.host)) return "ipv6:[" + endpoint.host + "]" + port;
  return (text::IsIpv4(endpoint.host) ? "ipv4:" : "dns:///") + endpoint.host + port;
}

bool IsConnected(grpc::Channel& channel) {
  return channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
}

}  // namespace

bool Member::suspect() const {
  const auto now = RealClock().Now().time_since_epoch().count();
  return now < suspect_until.load(std::memory_order_relaxed);
}

void Member::Suspect() {
  suspect_until.store((RealClock().Now() + kSuspicion).time_since_epoch().count(),
                      std::memory_order_relaxed);
}

Channels::Channels(const GrpcOptions& options) {
  const grpc::ChannelArguments arguments = ArgumentsOf(options);
  for (const Endpoint& endpoint : options.endpoints) {
    const auto credentials = CredentialsOf(options, endpoint.tls);
    auto member = std::make_unique<Member>();
    const std::string target = TargetOf(endpoint);
    member->calls = grpc::CreateCustomChannel(target, credentials, arguments);
    member->streams = grpc::CreateCustomChannel(target, credentials, arguments);
    member->call_stub = std::make_unique<grpc::GenericStub>(member->calls);
    member->stream_stub = std::make_unique<grpc::GenericStub>(member->streams);
    members_.push_back(std::move(member));
  }
}

Member* Channels::Connected() {
  const std::size_t first = next_call_.fetch_add(1, std::memory_order_relaxed);
  Member* found = nullptr;
  Member* suspect = nullptr;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    // The turns begin at another member each time, so that calls are spread over all that are
    // connected.
    Member& member = *members_[(first + i) % members_.size()];
    if (!IsConnected(*member.calls)) continue;
    Member*& place = member.suspect() ? suspect : found;
    if (place == nullptr) place = &member;
  }
  return found != nullptr ? found : suspect;
}

Member& Channels::ForStream() {
  const std::size_t first = next_stream_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[(first + i) % members_.size()];
    if (IsConnected(*member.streams)) return member;
  }
  // A member that answers calls will take a stream too.
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[(first + i) % members_.size()];
    if (IsConnected(*member.calls)) return member;
  }
  return *members_[first % members_.size()];
}

}  // namespace apiserver::v0::storage::etcd
