#include "response/document.h"

#include <limits>
#include <utility>

#include "apiserver/codec/json.h"
#include "response/gzip.h"
#include "response/pool_body.h"
#include "response/send.h"

namespace apiserver::v0::response {

namespace {

// The usual overshoot of a piece's last part.
constexpr std::size_t kUsualPartBytes = 4 << 10;

// The bytes of indented JSON or YAML that take about a millisecond.
constexpr std::size_t kTurnBytes = 16 << 10;

class IndentedDocument final : public Document {
 public:
  IndentedDocument(std::string begun, std::unique_ptr<Document> compact)
      : piece_(std::move(begun)), compact_(std::move(compact)) {}

  bool AppendTo(std::string& text, std::size_t wanted) override {
    while (text.size() < wanted) {
      if (at_ == piece_.size()) {
        if (!more_) return false;
        piece_.clear();
        at_ = 0;
        more_ = compact_->AppendTo(piece_, kUsualPartBytes);
      }
      // The text that was begun may be long.
      const std::string_view part = std::string_view(piece_).substr(at_, kUsualPartBytes);
      indenter_.Append(part, text);
      at_ += part.size();
    }
    return more_ || at_ < piece_.size();
  }

 private:
  std::string piece_;  // Compact JSON, of which all before `at_` is indented.
  std::size_t at_ = 0;
  bool more_ = true;  // `compact_` is not complete.
  const std::unique_ptr<Document> compact_;
  codec::JsonIndenter indenter_;
};

// Sends first what was written to measure the document.
class DocumentBody final : public http::BodySource {
 public:
  DocumentBody(std::string begun, std::unique_ptr<Document> document)
      : begun_(std::move(begun)), document_(std::move(document)) {}

  http::Pull Next(http::ChunkWriter& out, const Waker&) override {
    if (!begun_.empty()) {
      out.Take(std::exchange(begun_, {}));
      return http::Pull::kMore;
    }
    bool more = true;
    out.Gather([&](std::string& text) {
      const std::size_t wanted = text.size() + out.room();
      if (text.empty()) text.reserve(wanted + kUsualPartBytes);
      more = document_->AppendTo(text, wanted);
    });
    return more ? http::Pull::kMore : http::Pull::kEnd;
  }

 private:
  std::string begun_;
  const std::unique_ptr<Document> document_;
};

}  // namespace

std::unique_ptr<Document> Indented(std::string begun, std::unique_ptr<Document> compact) {
  return std::make_unique<IndentedDocument>(std::move(begun), std::move(compact));
}

std::string WholeOf(Document& document, std::size_t expected_bytes) {
  std::string text;
  text.reserve(expected_bytes);
  while (document.AppendTo(text, std::numeric_limits<std::size_t>::max())) {
  }
  return text;
}

// Documents up to the threshold get a Content-Length; longer ones are streamed and may be
// compressed.
http::Step SendDocument(http::Exchange& exchange, std::unique_ptr<Document> document) {
  // Shorter documents are not compressed.
  constexpr std::size_t kShort = kGzipThresholdBytes + 1;
  std::string begun;
  if (!document->AppendTo(begun, kShort)) {
    return SendAs(exchange, 200, std::move(begun), "application/json");
  }
  const bool gzip = WantsGzip(exchange, "APIResponseCompression");
  return StreamDocument(exchange, std::move(begun), std::move(document), gzip);
}

http::Step StreamDocument(http::Exchange& exchange, std::string begun,
                          std::unique_ptr<Document> document, bool gzip) {
  http::ResponseHead head{.code = 200, .headers = {{"Content-Type", "application/json"}}};
  auto body = std::make_unique<DocumentBody>(std::move(begun), std::move(document));
  if (gzip) {
    AddGzipHeaders(head);
    exchange.writer().Stream(std::move(head), NewGzipBody(exchange, std::move(body)));
  } else {
    exchange.writer().Stream(std::move(head), std::move(body));
  }
  return http::Step::Done();
}

http::Step SendDocumentFromPool(http::Exchange& exchange, std::unique_ptr<Document> document,
                                std::string content_type) {
  http::ResponseHead head{.code = 200, .headers = {{"Content-Type", std::move(content_type)}}};
  auto body = std::make_unique<DocumentBody>(std::string(), std::move(document));
  if (WantsGzip(exchange, "APIResponseCompression")) {
    AddGzipHeaders(head);
    exchange.writer().Stream(std::move(head), NewGzipBody(exchange, std::move(body)));
  } else {
    exchange.writer().Stream(std::move(head), NewPoolBody(exchange, std::move(body), kTurnBytes));
  }
  return http::Step::Done();
}

}  // namespace apiserver::v0::response
