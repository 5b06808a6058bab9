#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::authn {

// An object that a token is bound to: it exists, or is being deleted.
struct StoredObject {
  std::string uid;
  std::optional<Clock::Wall> deleted_at = {};  // metadata.deletionTimestamp.
};

// A Secret, as far as tokens need it.
struct StoredSecret {
  std::string uid = {};
  std::optional<Clock::Wall> deleted_at = {};
  std::string type = {};
  std::map<std::string, std::string> data = {};  // Decoded.
  std::map<std::string, std::string> labels = {};
};

// Reads Secrets. Called from any thread.
class SecretGetter {
 public:
  virtual ~SecretGetter() = default;
  // Returns a Secret. kNotFound: there is none. kWouldBlock: it must be requested, and `ctx` may
  // not wait; see auth/look_up.h.
  virtual Result<StoredSecret> GetSecret(const Context& ctx, std::string_view namespace_,
                                         std::string_view name) const = 0;
};

}  // namespace apiserver::inline v0::authn
