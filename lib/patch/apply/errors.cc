#include "patch/apply/errors.h"

#include "apiserver/base/field_path.h"

namespace apiserver::v0::patch::apply {

void Errors::Add(PathView path, std::string_view message) {
  if (bytes_ > kBytesMax) {
    ++more_;
    return;
  }
  std::string text = field::Shorten(PathString(path));
  if (!text.empty()) text += ": ";
  text += field::Shorten(message);
  bytes_ += text.size();
  messages_.push_back(std::move(text));
}

void Errors::Truncate(std::size_t size) {
  while (messages_.size() > size) {
    bytes_ -= messages_.back().size();
    messages_.pop_back();
  }
}

Status Errors::ToStatus() const {
  if (messages_.size() == 1 && more_ == 0) return {Reason::kBadRequest, messages_[0]};
  std::string text = "errors:";
  for (const std::string& message : messages_) text.append("\n  ").append(message);
  if (more_ > 0) text += "\n  and " + std::to_string(more_) + " more";
  return {Reason::kBadRequest, std::move(text)};
}

}  // namespace apiserver::v0::patch::apply
