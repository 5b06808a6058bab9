#include "apiserver/testing/storage/engine_conformance_catch2.h"
#include "hosts.h"

namespace apiserver::inline v0 {
namespace {

testing::storage::EngineHost EtcdHost() {
  return {.open = testing::EtcdEngine(),
          .reopen = nullptr,
          .observers = false,
          .remote = true,
          .value_bytes_max = 0};
}

const bool kEtcdRegistered =
    testing::storage::RegisterEngineConformance("storage.etcd", EtcdHost());

}  // namespace
}  // namespace apiserver::inline v0
