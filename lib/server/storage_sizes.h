#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::server {

// Shows how large the files of a server's engines are, as the monitors of
// k8s.io/apiserver/pkg/storage/etcd3/metrics do. Thread-safe.
class StorageSizes final {
 public:
  explicit StorageSizes(std::shared_ptr<metrics::Registry> registry);

  // Shows `engine`, which must outlive this, from now on: "etcd-0" is the first of those that are
  // called etcd. A second call for the same engine changes nothing.
  void Show(const storage::kv::Engine& engine);

 private:
  struct Shown {
    const storage::kv::Engine* engine;
    std::string id;
  };
  void Refresh();

  const std::shared_ptr<metrics::Registry> registry_;
  metrics::Family<metrics::Gauge>& bytes_;
  Guarded<std::vector<Shown>> shown_;
  Context::Registration refresh_;  // The last member: it calls Refresh() until its end.
};

}  // namespace apiserver::inline v0::server
