#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "apiextensions/convert/none.h"
#include "apiextensions/convert/webhook.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Makes the converters for the definitions of one server. Any thread.
class Converters {
 public:
  // The objects that `options` point to must outlive it and the converters.
  explicit Converters(const ConversionOptions& options)
      : caller_(std::make_shared<ConversionCaller>(options)), none_(NewNoneConverter()) {}

  // Returns the converter for the strategy of `definition`, the content of a
  // CustomResourceDefinition of v1. As long as a webhook's converter is in use, the definition of
  // that uid gets the same one, which calls its current webhook from now on: objects that were read
  // under an earlier spec are not converted by a webhook that has been replaced. kInternalError:
  // the strategy is unknown.
  Result<std::shared_ptr<const runtime::VersionConverter>> For(const runtime::Value& definition);

 private:
  using ByUid = std::map<std::string, std::weak_ptr<WebhookConverter>, std::less<>>;
  static constexpr std::size_t kSweepMin = 64;

  const std::shared_ptr<ConversionCaller> caller_;
  const std::shared_ptr<const runtime::VersionConverter> none_;
  struct State {
    ByUid converters;
    std::size_t sweep_at = kSweepMin;  // Drops those that are gone once there are so many.
  };
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::apiextensions
