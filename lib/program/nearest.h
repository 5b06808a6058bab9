#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::program {

// Returns the name among `known` that differs from `name` in the fewest inserted, removed, changed
// or swapped characters; of several the first. Empty: all differ in more than a third of `name`.
std::string Nearest(std::string_view name, const std::vector<std::string>& known);

}  // namespace apiserver::inline v0::program
