#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace apiserver::inline v0::storage::store {

// The calls of an engine that are told apart, by what they are for: the operations of
// k8s.io/apiserver/pkg/storage/etcd3/metrics.
enum class Call : std::uint8_t {
  kGet,
  kList,
  kListWithCount,
  kGetCurrentResourceVersion,
  kCreate,
  kUpdate,
  kDelete,
};
inline constexpr std::size_t kCalls = 7;

// An observer of the calls that a store makes of its engine; it hears of each once the engine has
// answered.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // `took`: the time from the call to its answer. `failed`: the engine gave no answer; a write that
  // was refused because its key had changed is none of these. Called on any thread, several at a
  // time; must not block and must not throw.
  virtual void OnCall(Call call, std::chrono::nanoseconds took, bool failed) = 0;
};

}  // namespace apiserver::inline v0::storage::store
