#pragma once

#include <string>
#include <vector>

#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::testing {

// JSON values of a file in the test data: one a line, or the whole file as one.
class Recorded {
 public:
  // `file`: below the test data, "crds/istio.jsonl".
  static Recorded Lines(const std::string& file);
  static Recorded Whole(const std::string& file);

  const std::vector<runtime::Value>& values() const { return values_; }

 private:
  runtime::Arena arena_;
  std::vector<runtime::Value> values_;
};

// Returns JSON with the members of all objects sorted.
std::string Sorted(const std::string& json);
// Returns the document of a fragment's version in the form of the test data.
std::string Canonical(runtime::Value definition, const std::string& version, bool v2);

}  // namespace apiserver::inline v0::testing
