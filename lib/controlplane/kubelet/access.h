#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/controlplane/kubelet.h"
#include "apiserver/http/exchange.h"
#include "apiserver/proxy/location.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/proxy/upstream_pool.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::controlplane {

// The stores that subresources read. The server owns them, and they go with it.
struct ReadStores {
  std::weak_ptr<registry::Store> pods;
  std::weak_ptr<registry::Store> nodes;
  std::weak_ptr<registry::Store> services;
  std::weak_ptr<registry::Store> endpoints;
};

// Kinds of the options in queries.
struct OptionKinds {
  runtime::KindPtr exec;
  runtime::KindPtr attach;
  runtime::KindPtr port_forward;
  runtime::KindPtr log;
  runtime::KindPtr pod_proxy;
  runtime::KindPtr service_proxy;
  runtime::KindPtr node_proxy;
};

// Told the code of a request, on a loop.
using CountCode = std::function<void(int code)>;

// The parts that the subresources share. Its members but `stores` never change.
struct Access {
  OptionKinds kinds;
  std::shared_ptr<ConnectionInfoGetter> kubelets;
  // Reaches pods, services and ports of nodes that are not the kubelet's. Verifies nobody.
  std::shared_ptr<proxy::UpstreamPool> proxy_pool;
  std::shared_ptr<proxy::Pipes> pipes;
  std::size_t max_bytes_per_sec = 0;
  std::shared_ptr<MemoryBudget> memory;
  CountCode count_translation;
  CountCode count_tunnel;
  std::function<void(bool skip_tls_verify)> count_log;
  std::function<void()> count_log_tls_failure;
  Guarded<ReadStores> stores;
};
using AccessPtr = std::shared_ptr<Access>;

// Reads an object of one of the stores. kNotFound; kServiceUnavailable: there is no such store.
Result<runtime::ObjectPtr> Read(const std::weak_ptr<registry::Store>& store, const Context& ctx,
                                std::string_view name);
Result<runtime::ObjectPtr> ReadPod(Access& access, const Context& ctx, std::string_view name);

// Returns the name of the request's user. Empty: it has none.
std::string UserOf(const http::Exchange& exchange);

// Returns the container that is meant: `wanted`, or the only one of the pod. kBadRequest: the pod
// has no such container, or has several. Follows pod.validateContainer.
Result<std::string> ContainerOf(const runtime::Object& pod, std::string_view wanted);

// A place on a kubelet that a request goes to.
struct KubeletTarget {
  proxy::Location location;
  ConnectionInfo kubelet;
};
// Returns the place `path` on the kubelet of a pod that is on a node.
Result<KubeletTarget> TargetOn(Access& access, const Context& ctx, const runtime::Object& pod,
                               std::string path, std::string query);

// Make the subresources.
std::shared_ptr<rest::Storage> NewPodExec(AccessPtr access);
std::shared_ptr<rest::Storage> NewPodAttach(AccessPtr access);
std::shared_ptr<rest::Storage> NewPodPortForward(AccessPtr access);
std::shared_ptr<rest::Storage> NewPodLog(AccessPtr access, runtime::KindPtr pod);
std::shared_ptr<rest::Storage> NewPodProxy(AccessPtr access);
std::shared_ptr<rest::Storage> NewServiceProxy(AccessPtr access);
std::shared_ptr<rest::Storage> NewNodeProxy(AccessPtr access);

}  // namespace apiserver::inline v0::controlplane
