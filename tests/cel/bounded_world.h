#pragma once

#include <string>
#include <vector>

#include "cel/generate.h"

// Random schemas with bounds, and data within them.
namespace cel_test {

// An object's schema in OpenAPI, an object that fits it, and expressions for its parts, which begin
// with the variable self. Every string, list and map has a bound.
struct BoundedWorld {
  std::string schema;
  std::string data;
  std::vector<Term> terms;
};
BoundedWorld MakeBoundedWorld(Random& random);

}  // namespace cel_test
