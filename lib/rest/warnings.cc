#include "apiserver/rest/warnings.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::rest {

void WarningRecorder::Add(std::string text) {
  // Webhooks and validators warn as often as they like; a client sees 4 KiB of it.
  constexpr std::size_t kTextsMax = 1'000;
  text = field::Shorten(text);
  auto texts = texts_.Lock();
  if (texts->size() >= kTextsMax) return;
  if (std::find(texts->begin(), texts->end(), text) != texts->end()) return;
  texts->push_back(std::move(text));
}

std::vector<std::string> WarningRecorder::Take() const { return *texts_.Lock(); }

void AddWarning(const Context& ctx, std::string text) {
  if (const auto* recorder = ctx.Get<WarningRecorderPtr>()) (*recorder)->Add(std::move(text));
}

}  // namespace apiserver::v0::rest
