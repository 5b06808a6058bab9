#pragma once

#include <map>
#include <string>
#include <utility>

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::client {

// Namespace and name of an object.
using ObjectKey = std::pair<std::string, std::string>;
using ObjectMap = std::map<ObjectKey, runtime::ObjectPtr>;

inline ObjectKey KeyOf(const runtime::Object& object) {
  return {std::string(object.namespace_()), std::string(object.name())};
}

// The place to which a reflector brings what it sees. Called on the reflector's thread alone.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // A new or changed object.
  virtual void Put(const runtime::ObjectPtr& object) = 0;
  // The last state of an object that is gone.
  virtual void Remove(const runtime::ObjectPtr& object) = 0;
  // The whole collection, at first and after each new list.
  virtual void Replace(ObjectMap objects) = 0;
};

}  // namespace apiserver::inline v0::client
