#include "apiserver/rest/warnings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apiserver/base/field_path.h"
#include "text/utf8.h"

namespace apiserver::v0::rest {

namespace {

// Webhooks and validators warn as often as they like; a client sees 4 KiB of it.
constexpr std::size_t kWarningsMax = 1'000;

// True for the first byte of a character in UTF-8; its other bytes begin with the bits 10.
bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// U+0000 to U+001F and U+007F to U+009F.
bool HasControls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const bool two = byte == 0xC2 && i + 1 < text.size();
    if (two && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

// Formats RFC 7234's `299 - "text"`. Empty: the text may not stand in a header.
std::string HeaderOf(std::string_view text) {
  if (text.empty() || !text::ValidUtf8(text) || HasControls(text)) return {};
  std::string header = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') header += '\\';
    header += c;
  }
  return header + '"';
}

}  // namespace

Warning::Warning(std::string full)
    : text(full.size() > field::kTextBytesMax ? field::Shorten(full) : std::move(full)),
      header(HeaderOf(text)),
      characters(
          static_cast<std::size_t>(std::count_if(text.begin(), text.end(), StartsCharacter))) {}

void WarningRecorder::Add(std::string text) {
  Add(std::make_shared<const Warning>(std::move(text)));
}

// Duplicates are dropped: a webhook may repeat the warning of a validator. Linear, for a short
// list.
void WarningRecorder::Add(WarningPtr warning) {
  auto warnings = warnings_.Lock();
  if (warnings->size() >= kWarningsMax) return;
  const auto same = [&](const WarningPtr& other) { return other->text == warning->text; };
  if (std::any_of(warnings->begin(), warnings->end(), same)) return;
  warnings->push_back(std::move(warning));
}

std::vector<std::string> WarningRecorder::Take() const {
  std::vector<std::string> texts;
  for (const WarningPtr& warning : Warnings()) texts.push_back(warning->text);
  return texts;
}

void AddWarning(const Context& ctx, std::string text) {
  if (const auto* recorder = ctx.Get<WarningRecorderPtr>()) (*recorder)->Add(std::move(text));
}

}  // namespace apiserver::v0::rest
