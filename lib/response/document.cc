#include "response/document.h"

#include <limits>
#include <utility>

#include "response/gzip.h"
#include "response/send.h"

namespace apiserver::v0::response {

namespace {

// The usual overshoot of a piece's last part.
constexpr std::size_t kUsualPartBytes = 4 << 10;

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
    std::string piece;
    piece.reserve(out.room() + kUsualPartBytes);
    const bool more = document_->AppendTo(piece, out.room());
    out.Take(std::move(piece));
    return more ? http::Pull::kMore : http::Pull::kEnd;
  }

 private:
  std::string begun_;
  const std::unique_ptr<Document> document_;
};

}  // namespace

std::string WholeOf(Document& document) {
  std::string text;
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
  http::ResponseHead head{.code = 200, .headers = {{"Content-Type", "application/json"}}};
  auto body = std::make_unique<DocumentBody>(std::move(begun), std::move(document));
  if (WantsGzip(exchange, "APIResponseCompression")) {
    AddGzipHeaders(head);
    exchange.writer().Stream(std::move(head), NewGzipBody(exchange, std::move(body)));
  } else {
    exchange.writer().Stream(std::move(head), std::move(body));
  }
  return http::Step::Done();
}

}  // namespace apiserver::v0::response
