#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "patch/apply/type.h"

namespace apiserver::inline v0::patch::apply {

// Returns the element that identifies an item of a set or of a list of type map. False with
// `error`: there is none, and `element` is PathElement::Unknown().
bool ListItemToPathElement(const Type& list, const runtime::Value& item, runtime::Arena& arena,
                           PathElement& element, std::string& error);

// Numbers `elements` from 0 up without gaps, equal ones alike; returns the number of distinct ones.
// Time is near linear for all inputs.
std::size_t NumberElements(std::span<const PathElement> elements, std::vector<std::uint32_t>& ids);

}  // namespace apiserver::inline v0::patch::apply
