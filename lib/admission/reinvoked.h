#pragma once

#include <memory>
#include <set>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/runtime/object.h"

// The state that a mutating plugin keeps between the two rounds of one request:
// k8s.io/apiserver/pkg/admission/plugin/{webhook,policy}/mutating/reinvocationcontext.go.
namespace apiserver::inline v0::admission {

// The webhooks or policies, named by Key, that see the object again.
template <class Key>
struct Reinvoked final : Reinvocation::State {
  std::unique_ptr<runtime::Object> last_output;
  std::set<Key> previously_invoked;
  std::set<Key> reinvoke;

  // Called after a change: those that were called before, and allow a second call, get one.
  void RequirePrevious() {
    reinvoke.merge(previously_invoked);
    previously_invoked.clear();
  }
  // Two nulls are equal: a delete has no object.
  bool ChangedSince(const runtime::Object* object) const {
    if (last_output == nullptr || object == nullptr) return last_output.get() != object;
    return !(last_output->root() == object->root());
  }

  // Returns the plugin's state of the request, which is made when it is first asked for.
  static Reinvoked& Of(Reinvocation& reinvocation, std::string_view plugin) {
    Reinvocation::State* state = reinvocation.Find(plugin);
    if (state == nullptr) state = &reinvocation.Set(plugin, std::make_unique<Reinvoked>());
    return static_cast<Reinvoked&>(*state);
  }
};

}  // namespace apiserver::inline v0::admission
