#include "apiserver/testing/storage/engine_conformance_catch2.h"
#include "hosts.h"

namespace apiserver::inline v0 {
namespace {

testing::storage::EngineHost Host() {
  return {.open = testing::EtcdEngine(),
          .reopen = nullptr,
          .observers = false,
          .remote = true,
          .value_bytes_max = 0};
}

const bool kRegistered = testing::storage::RegisterEngineConformance("storage.etcd", Host());

}  // namespace
}  // namespace apiserver::inline v0
