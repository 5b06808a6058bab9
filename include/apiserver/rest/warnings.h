#pragma once

#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::rest {

// Warnings for the client of one request, each text once. Thread-safe. The server puts one into
// the request's Context (as a shared pointer) and sends what it holds as `Warning: 299 - "text"`.
class WarningRecorder {
 public:
  void Add(std::string text);
  std::vector<std::string> Take() const;

 private:
  Guarded<std::vector<std::string>> texts_;
};
using WarningRecorderPtr = std::shared_ptr<WarningRecorder>;

// Records `text` if somebody listens; does nothing otherwise.
void AddWarning(const Context& ctx, std::string text);

}  // namespace apiserver::inline v0::rest
