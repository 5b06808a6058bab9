#pragma once

#include <memory>

#include "apiserver/flowcontrol/config.h"
#include "apiserver/runtime/object.h"

// Between API objects and what flow control is configured with.
namespace apiserver::inline v0::groups::flowcontrol {

namespace config = apiserver::flowcontrol;

config::PriorityLevelConfiguration LevelOf(const runtime::Object& object);
config::FlowSchema SchemaOf(const runtime::Object& object);

// The other way round, with the annotation that lets the server set it right.
std::unique_ptr<runtime::Object> ObjectOf(const config::PriorityLevelConfiguration& level);
std::unique_ptr<runtime::Object> ObjectOf(const config::FlowSchema& schema);

}  // namespace apiserver::inline v0::groups::flowcontrol
