#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "client/object_sink.h"

namespace apiserver::inline v0::client {

// An informer's copy of a collection, and its handlers. Written by the informer's thread alone,
// read by any.
class Mirror final : public ObjectSink {
 public:
  explicit Mirror(std::vector<InformerHandler> handlers) : handlers_(std::move(handlers)) {}

  void Put(const runtime::ObjectPtr& object) override;
  void Remove(const runtime::ObjectPtr& object) override;
  // Replaces all objects and tells the handlers about the differences.
  void Replace(ObjectMap objects) override;

  runtime::ObjectPtr Get(std::string_view namespace_, std::string_view name) const;
  std::vector<runtime::ObjectPtr> List() const;

 private:
  void TellAdd(const runtime::ObjectPtr& object) const;
  void TellUpdate(const runtime::ObjectPtr& before, const runtime::ObjectPtr& now) const;
  void TellDelete(const runtime::ObjectPtr& object) const;

  const std::vector<InformerHandler> handlers_;
  Guarded<ObjectMap> objects_;
};

}  // namespace apiserver::inline v0::client
