#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::rest {

// A warning and how a response says it. Immutable; made once and shared where many requests get it.
struct Warning {
  // `text` longer than field::kTextBytesMax is shortened.
  explicit Warning(std::string text);

  std::string text;
  // `299 - "text"` with quotes escaped, as k8s.io/apimachinery/pkg/util/net NewWarningHeader writes
  // it. Empty: no header can say the text, which is empty, no UTF-8 or has control characters.
  std::string header;
  std::size_t characters = 0;  // Of `text`.
};
using WarningPtr = std::shared_ptr<const Warning>;

// Warnings for the client of one request, each text once. Thread-safe. The server puts one into
// the request's Context (as a shared pointer) and sends what it holds as `Warning: 299 - "text"`.
class WarningRecorder {
 public:
  void Add(std::string text);
  void Add(WarningPtr warning);
  // In the order in which they were added.
  std::vector<WarningPtr> Warnings() const { return *warnings_.Lock(); }
  // The texts of Warnings().
  std::vector<std::string> Take() const;

 private:
  Guarded<std::vector<WarningPtr>> warnings_;
};
using WarningRecorderPtr = std::shared_ptr<WarningRecorder>;

// Records `text` if somebody listens; does nothing otherwise.
void AddWarning(const Context& ctx, std::string text);

}  // namespace apiserver::inline v0::rest
