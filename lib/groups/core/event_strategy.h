#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The strategy and columns of events of core/v1: k8s.io/kubernetes/pkg/registry/core/event.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewEventStrategy();
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewEventColumns(const Clock& clock);
// Returns the value of a field that selectors may name; "source" is who reported the event.
std::string EventField(const runtime::Object& event, std::string_view field);

}  // namespace apiserver::inline v0::groups::core
