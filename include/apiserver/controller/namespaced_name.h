#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tuple>

namespace apiserver::inline v0::controller {

// The name of one object of a collection: k8s.io/apimachinery/pkg/types.NamespacedName. Work queues
// hold names, not objects: who works on one reads the object as it is by then.
struct NamespacedName {
  std::string namespace_;  // Empty for kinds that belong to the whole cluster.
  std::string name;

  // Returns "namespace/name" as logs of Kubernetes have it, or the name alone where there is no
  // namespace.
  std::string ToString() const { return namespace_.empty() ? name : namespace_ + "/" + name; }

  friend bool operator==(const NamespacedName&, const NamespacedName&) = default;
  // By namespace, then by name.
  friend bool operator<(const NamespacedName& a, const NamespacedName& b) {
    return std::tie(a.namespace_, a.name) < std::tie(b.namespace_, b.name);
  }
};

// Hashes both parts.
struct NamespacedNameHash {
  std::size_t operator()(const NamespacedName& key) const {
    const std::hash<std::string> hash;
    return hash(key.namespace_) * 31 + hash(key.name);
  }
};

}  // namespace apiserver::inline v0::controller
