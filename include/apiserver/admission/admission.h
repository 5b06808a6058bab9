#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/user.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// What may change or refuse a write: k8s.io/apiserver/pkg/admission.
namespace apiserver::inline v0::admission {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

// What is about to happen.
struct Attributes {
  Operation operation = Operation::kCreate;
  runtime::GroupVersionKind kind;
  runtime::GroupVersionResource resource;
  std::string subresource;
  std::string namespace_;
  // Empty on a create with generateName, and for each object that a deletecollection deletes.
  std::string name;
  // The new state in the hub version; null for deletes. Mutating plugins may change it.
  runtime::Object* object = nullptr;
  // The state in storage; null for creates.
  const runtime::Object* old_object = nullptr;
  bool dry_run = false;
  const auth::UserInfo* user = nullptr;
};

// One plugin. Thread-safe. Errors are API errors and end the request; a plugin that refuses
// returns meta::NewForbidden.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  virtual bool Handles(Operation operation) const = 0;
  // May change attributes.object. All plugins' Admit run before any Validate.
  virtual Status Admit(const Context&, Attributes&) const { return {}; }
  virtual Status Validate(const Context&, const Attributes&) const { return {}; }
};

// Plugins in order. Immutable once the server runs.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::vector<std::shared_ptr<const Plugin>> plugins)
      : plugins_(std::move(plugins)) {}

  bool empty() const { return plugins_.empty(); }
  Status Admit(const Context& ctx, Attributes& attributes) const;
  Status Validate(const Context& ctx, const Attributes& attributes) const;

 private:
  std::vector<std::shared_ptr<const Plugin>> plugins_;
};

}  // namespace apiserver::inline v0::admission
