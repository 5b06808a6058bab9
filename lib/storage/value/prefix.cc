#include <algorithm>
#include <utility>

#include "apiserver/storage/value/transformer.h"
#include "base/status_macros.h"

namespace apiserver::v0::storage::value {
namespace {

// One message is printed alone, several as "[a, b]", each once: Go's errors.Reduce(NewAggregate()).
Status Reduce(const std::vector<std::string>& messages) {
  if (messages.size() == 1) return Status(Reason::kInternalError, messages.front());
  std::vector<std::string> seen;
  std::string text;
  for (const std::string& message : messages) {
    if (std::find(seen.begin(), seen.end(), message) != seen.end()) continue;
    seen.push_back(message);
    text.append(text.empty() ? "" : ", ").append(message);
  }
  return Status(Reason::kInternalError, seen.size() > 1 ? "[" + text + "]" : text);
}

class PrefixTransformers final : public Transformer {
 public:
  PrefixTransformers(std::string no_match, std::vector<Prefixed> transformers)
      : no_match_(Reason::kInternalError, std::move(no_match)),
        transformers_(std::move(transformers)) {}

  Result<FromStorage> TransformFromStorage(std::string_view data,
                                           std::string_view authenticated_data) const override {
    std::vector<std::string> errors;
    for (const Prefixed& one : transformers_) {
      if (!data.starts_with(one.prefix)) continue;
      auto read =
          one.transformer->TransformFromStorage(data.substr(one.prefix.size()), authenticated_data);
      if (read.ok()) {
        read->stale = read->stale || &one != &transformers_.front();
        return read;
      }
      // The same prefix may come again with another key, so a failure decides nothing; an identity
      // that stands first only says that the value is encrypted.
      if (!one.prefix.empty()) errors.emplace_back(read.status().message());
    }
    if (errors.empty()) return no_match_;
    return Reduce(errors);
  }

  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view authenticated_data) const override {
    const Prefixed& first = transformers_.front();
    ASSIGN_OR_RETURN(std::string written,
                     first.transformer->TransformToStorage(data, authenticated_data));
    return first.prefix.empty() ? std::move(written) : first.prefix + written;
  }

 private:
  const Status no_match_;
  const std::vector<Prefixed> transformers_;
};

}  // namespace

TransformerPtr NewPrefixTransformers(std::string no_match, std::vector<Prefixed> transformers) {
  return std::make_shared<PrefixTransformers>(std::move(no_match), std::move(transformers));
}

}  // namespace apiserver::v0::storage::value
