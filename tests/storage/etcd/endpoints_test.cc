#include <catch2/catch.hpp>

#include "storage/etcd/endpoints.h"
#include "storage/etcd/errors.h"
#include "storage/etcd/members.h"

namespace apiserver::inline v0::storage::etcd {
namespace {

std::string PlaceOf(const std::string& text) {
  const auto endpoints = ParseEndpoints({text});
  if (!endpoints.ok()) return std::string(endpoints.status().message());
  const Endpoint& endpoint = (*endpoints)[0];
  return endpoint.host + " " + std::to_string(endpoint.port) + (endpoint.tls ? " tls" : "");
}

TEST_CASE("storage.etcd: servers are addresses or names, with or without a scheme",
          "[storage.etcd]") {
  CHECK(PlaceOf("http://127.0.0.1:2379") == "127.0.0.1 2379");
  CHECK(PlaceOf("https://127.0.0.1:2379/") == "127.0.0.1 2379 tls");
  CHECK(PlaceOf("https://[::1]:4001") == "::1 4001 tls");
  CHECK(PlaceOf("etcd-0.etcd") == "etcd-0.etcd 2379");
  CHECK(PlaceOf("http://etcd-0:4001") == "etcd-0 4001");
  CHECK(PlaceOf("unix:///run/etcd.sock") == "unix:/run/etcd.sock 0");
}

TEST_CASE("storage.etcd: a wrong server is named with what is wrong", "[storage.etcd]") {
  const std::string hint = "; write it as http://127.0.0.1:2379";
  CHECK(PlaceOf("ftp://a:1") == "the etcd server \"ftp://a:1\" has an unknown scheme" + hint);
  CHECK(PlaceOf("http://a:x") == "the etcd server \"http://a:x\" has no port" + hint);
  CHECK(PlaceOf("http://a:70000") == "the etcd server \"http://a:70000\" has no port" + hint);
  CHECK(PlaceOf("http://:2379") == "the etcd server \"http://:2379\" names no host" + hint);
  CHECK(PlaceOf("http://[::1:1") == "the etcd server \"http://[::1:1\" lacks a ]" + hint);
  CHECK(PlaceOf("http://a:1/v3") ==
        "the etcd server \"http://a:1/v3\" is more than a host and a port" + hint);
  CHECK(ParseEndpoints({}).status().message() == "no etcd server is named");
}

TEST_CASE("storage.etcd: progress is believed from 3.4.31 and 3.5.13 on", "[storage.etcd]") {
  for (const char* good : {"3.4.31", "3.4.40", "3.5.13", "3.5.21", "3.6.0", "3.7.1", "4.0.0"}) {
    INFO(good);
    CHECK(TellsTrueProgress(good));
  }
  for (const char* bad :
       {"3.4.30", "3.4.23", "3.5.0", "3.5.12", "3.3.27", "2.3.8", "", "x", "3.5", "3.5.13-rc.0"}) {
    INFO(bad);
    CHECK_FALSE(TellsTrueProgress(bad));
  }
}

TEST_CASE("storage.etcd: the engine works with etcd from 3.4 on", "[storage.etcd]") {
  for (const char* good : {"3.4.0", "3.4.0-rc.1", "3.5.21", "3.6.0", "4.0.0"}) {
    INFO(good);
    CHECK(IsSupported(good));
  }
  for (const char* bad : {"3.3.27", "2.3.8", "", "3", "x.y.z"}) {
    INFO(bad);
    CHECK_FALSE(IsSupported(bad));
  }
}

TEST_CASE("storage.etcd: what etcd says becomes what our callers know", "[storage.etcd]") {
  const auto reason = [](RpcCode code, const std::string& message) {
    return ToStatus({code, message}, "http://a:1").reason();
  };
  CHECK(reason(RpcCode::kUnavailable, "failed to connect to all addresses") ==
        Reason::kServiceUnavailable);
  CHECK(reason(RpcCode::kDeadlineExceeded, "Deadline Exceeded") == Reason::kTimeout);
  CHECK(reason(RpcCode::kInvalidArgument, "etcdserver: request is too large") ==
        Reason::kRequestEntityTooLarge);
  CHECK(reason(RpcCode::kResourceExhausted, "grpc: received message larger than max (3 vs. 2)") ==
        Reason::kRequestEntityTooLarge);
  CHECK(reason(RpcCode::kResourceExhausted, "etcdserver: too many requests") ==
        Reason::kServiceUnavailable);
  const Status full =
      ToStatus({RpcCode::kResourceExhausted, "etcdserver: mvcc: database space exceeded"}, "a");
  CHECK(full.message() ==
        "etcd (a) has no space left: compact and defragment it or raise --quota-backend-bytes, "
        "then disarm its alarm");
  const Status denied =
      ToStatus({RpcCode::kPermissionDenied, "etcdserver: permission denied"}, "a");
  CHECK(denied.reason() == Reason::kInternalError);
  CHECK(denied.message() ==
        "etcd (a) refuses our credentials: etcdserver: permission denied; check the client "
        "certificate and the rights of its user in etcd");
  CHECK(IsCompacted(
      {RpcCode::kOutOfRange, "etcdserver: mvcc: required revision has been compacted"}));
  CHECK(IsFutureRevision(
      {RpcCode::kOutOfRange, "etcdserver: mvcc: required revision is a future revision"}));
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
