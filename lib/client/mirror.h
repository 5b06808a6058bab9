#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"

namespace apiserver::inline v0::client {

// An informer's copy of a collection, and its handlers. Written by the informer's thread alone,
// read by any.
class Mirror {
 public:
  using Objects = std::map<std::pair<std::string, std::string>, runtime::ObjectPtr>;

  explicit Mirror(std::vector<InformerHandler> handlers) : handlers_(std::move(handlers)) {}

  void Put(const runtime::ObjectPtr& object);
  void Remove(const runtime::ObjectPtr& object);
  // Replaces all objects and tells the handlers about the differences.
  void Replace(Objects objects);

  runtime::ObjectPtr Get(std::string_view namespace_, std::string_view name) const;
  std::vector<runtime::ObjectPtr> List() const;

  static Objects::key_type KeyOf(const runtime::Object& object);

 private:
  void TellAdd(const runtime::ObjectPtr& object) const;
  void TellUpdate(const runtime::ObjectPtr& before, const runtime::ObjectPtr& now) const;
  void TellDelete(const runtime::ObjectPtr& object) const;

  const std::vector<InformerHandler> handlers_;
  Guarded<Objects> objects_;
};

}  // namespace apiserver::inline v0::client
