#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::rest {

// A warning text with its response header. Immutable; shared if many requests get the same one.
struct Warning {
  // Shortens a `text` that is longer than field::kTextBytesMax.
  explicit Warning(std::string text);

  std::string text;
  // `299 - "text"` with quotes escaped, as k8s.io/apimachinery/pkg/util/net NewWarningHeader writes
  // it. Empty: the text cannot be sent, since it is empty, not UTF-8 or has control characters.
  std::string header;
  std::size_t characters = 0;  // The length of `text`.
};
using WarningPtr = std::shared_ptr<const Warning>;

// Warnings for the client of one request, each text once. Thread-safe. The server puts one into
// the request's Context (as a shared pointer) and sends what it holds as `Warning: 299 - "text"`.
class WarningRecorder {
 public:
  // Add a warning unless its text was added before; the number of warnings is limited.
  void Add(std::string text);
  void Add(WarningPtr warning);
  // Returns the warnings in the order in which they were added.
  std::vector<WarningPtr> Warnings() const { return *warnings_.Lock(); }
  // The texts of Warnings().
  std::vector<std::string> Take() const;

 private:
  Guarded<std::vector<WarningPtr>> warnings_;
};
using WarningRecorderPtr = std::shared_ptr<WarningRecorder>;

// Records `text` if the request's Context has a recorder; does nothing otherwise.
void AddWarning(const Context& ctx, std::string text);

}  // namespace apiserver::inline v0::rest
