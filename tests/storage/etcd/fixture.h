#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "apiserver/storage/etcd/engine.h"
#include "storage/etcd/etcd_server.h"
#include "storage/etcd/http_rpc.h"
#include "storage/etcd/lossy_rpc.h"
#include "storage/etcd/open.h"
#include "testing/storage/subject.h"

// What the tests of the engine over a real etcd begin with.
namespace apiserver::inline v0::storage::etcd {

using kv::Revision;
using testing::storage::Eventually;
using testing::storage::ManualClock;
using testing::storage::Subject;
using testing::storage::TailReader;
using testing::storage::TextOf;

inline std::unique_ptr<EtcdServer> StartEtcd(int members = 1,
                                             const EtcdServerOptions& options = {}) {
  auto server = EtcdServer::Start(members, options);
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return std::move(*server);
}

// No compaction by itself.
inline Options OptionsFor(const std::vector<std::string>& servers) {
  Options options;
  options.servers = servers;
  options.compaction_interval = std::chrono::milliseconds(0);
  return options;
}

// An engine with the kit's short words for what one does with it.
inline std::unique_ptr<Subject> OpenSubject(const Options& options) {
  testing::storage::EngineHost host;
  host.open = [options](const Clock&) { return Open(options); };
  auto subject = Subject::Open(host);
  INFO(subject.status().ToString());
  REQUIRE(subject.ok());
  return std::move(*subject);
}

// The same over a transport that loses things.
struct Lossy {
  std::shared_ptr<LossyRpc> rpc;
  std::unique_ptr<Subject> subject;
};
inline Lossy OpenLossy(const EtcdServer& server, const std::string& version = "") {
  Lossy lossy;
  HttpRpcOptions transport;
  transport.endpoints = *ParseEndpoints(server.urls());
  lossy.rpc = std::make_shared<LossyRpc>(NewHttpRpc(transport));
  lossy.rpc->PretendVersion(version);
  testing::storage::EngineHost host;
  host.open = [rpc = lossy.rpc, urls = server.urls()](const Clock&) {
    return OpenOver(rpc, urls[0], OptionsFor(urls));
  };
  auto subject = Subject::Open(host);
  INFO(subject.status().ToString());
  REQUIRE(subject.ok());
  lossy.subject = std::move(*subject);
  return lossy;
}

template <class T>
T Must(Result<T> result) {
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return std::move(*result);
}

}  // namespace apiserver::inline v0::storage::etcd
