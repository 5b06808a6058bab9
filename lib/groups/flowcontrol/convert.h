#pragma once

#include <memory>

#include "apiserver/flowcontrol/config.h"
#include "apiserver/runtime/object.h"

// Conversions between API objects and the configuration of flow control.
namespace apiserver::inline v0::groups::flowcontrol {

namespace config = apiserver::flowcontrol;

config::PriorityLevelConfiguration LevelOf(const runtime::Object& object);
config::FlowSchema SchemaOf(const runtime::Object& object);

// Return the object, with the annotation that lets the server correct it.
std::unique_ptr<runtime::Object> ObjectOf(const config::PriorityLevelConfiguration& level);
std::unique_ptr<runtime::Object> ObjectOf(const config::FlowSchema& schema);

}  // namespace apiserver::inline v0::groups::flowcontrol
