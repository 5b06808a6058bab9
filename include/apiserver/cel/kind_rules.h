#pragma once

#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/cel/rules.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// The rules of a kind's versions.
namespace apiserver::inline v0::cel {

// Validates objects of a kind by the rules of their version's schema. Those of a version are
// compiled when one of its objects is first validated. Thread-safe.
class KindRules {
 public:
  // Compiles nothing yet.
  explicit KindRules(runtime::KindPtr kind);
  KindRules(const KindRules&) = delete;
  KindRules& operator=(const KindRules&) = delete;
  ~KindRules();

  // Tells if a version has rules; if none has, validating costs nothing.
  bool empty() const;

  // Runs the rules about `object`, a new one or the replacement of `old`, which is in the same
  // version. Values that an update leaves unchanged are ratcheted (RuleSubject::ratchet). The
  // budgets are those of Kubernetes: 1,000,000 for one rule, 10,000,000 for the object. Takes up to
  // half a second: not for an event loop.
  RuleFindings Validate(const Context& context, const runtime::Object& object,
                        const runtime::Object* old = nullptr) const;

 private:
  class State;
  std::unique_ptr<State> state_;  // Null: no version has rules.
};

}  // namespace apiserver::inline v0::cel
