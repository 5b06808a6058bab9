#include "server/openapi_handlers.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/codec/negotiate.h"
#include "apiserver/meta/errors.h"
#include "http/date.h"
#include "response/pool_body.h"

namespace apiserver::v0::server {

namespace {

constexpr std::string_view kJson = "application/json";

struct Form {
  std::string_view media_type;    // As in the Accept header.
  std::string_view content_type;  // As in the response.
  bool protobuf;
};
// kubectl sends a name with '@', which is no valid media type, so the response does not use it.
constexpr std::string_view kV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr Form kV2Forms[] = {
    {kJson, kJson, false},
    {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", kV2Protobuf, true},
    {kV2Protobuf, kV2Protobuf, true},
};
constexpr Form kV3Forms[] = {{kJson, kJson, false}};

// Returns the form of the first clause of the Accept header that has one. Null: none has.
const Form* Choose(std::string_view accept, std::span<const Form> forms) {
  if (accept.empty()) return &forms[0];
  for (const codec::AcceptClause& clause : codec::ParseAccept(accept)) {
    const std::string name = clause.type + "/" + clause.subtype;
    if (name == "*/*" || name == "application/*") return &forms[0];
    for (const Form& form : forms) {
      if (name == form.media_type) return &form;
    }
  }
  return nullptr;
}

void SendDocument(http::Exchange& exchange, const Form& form,
                  std::shared_ptr<const openapi::Document> document, http::Headers headers) {
  const std::string quoted = "\"" + document->etag + "\"";
  headers.Set("Etag", quoted);
  if (exchange.request().headers.Get("If-None-Match") == quoted) {
    exchange.writer().Send({.code = 304, .headers = std::move(headers)}, {});
    return;
  }
  headers.Set("Content-Type", std::string(form.content_type));
  const std::string_view text = form.protobuf ? document->protobuf : document->json;
  exchange.writer().Send({.code = 200, .headers = std::move(headers)},
                         http::Bytes(std::move(document), text));
}

// Makes the document piece by piece. On the pool: a piece may take long, and may be as large as a
// schema. It is made in one buffer and handed over in slices of one size: pieces of all sizes,
// freed on another thread than made, would leave the allocator more holes than the document is
// large.
class V2Body final : public http::BodySource {
 public:
  V2Body(std::shared_ptr<const openapi::V2Base> base,
         std::shared_ptr<const std::vector<openapi::FragmentPtr>> fragments, bool protobuf)
      : writer_(std::move(base), std::move(fragments), protobuf) {}

  http::Pull Next(http::ChunkWriter& out, const Waker&) override {
    if (left_.empty()) {
      piece_.clear();
      if (!writer_.Append(piece_)) return http::Pull::kEnd;
      left_ = piece_;
    }
    const std::string_view slice = left_.substr(0, kSliceBytes);
    out.Take(std::string(slice));
    left_.remove_prefix(slice.size());
    return http::Pull::kMore;
  }

 private:
  static constexpr std::size_t kSliceBytes = std::size_t{64} << 10;

  openapi::V2Writer writer_;
  std::string piece_;      // Keeps its memory from piece to piece.
  std::string_view left_;  // Of the piece.
};

}  // namespace

V2Document::V2Document(std::shared_ptr<const openapi::V2Base> base,
                       std::vector<openapi::FragmentPtr> fragments)
    : base_(std::move(base)),
      fragments_(std::make_shared<const std::vector<openapi::FragmentPtr>>(std::move(fragments))) {
  etag_ = fragments_->empty() ? base_->document.etag : openapi::EtagOf(*base_, *fragments_);
}

OpenApiPtr V2Document::whole() const {
  return fragments_->empty() ? OpenApiPtr(base_, &base_->document) : nullptr;
}

std::unique_ptr<http::BodySource> V2Document::NewBody(http::Exchange& exchange,
                                                      bool protobuf) const {
  return response::NewPoolBody(exchange, std::make_unique<V2Body>(base_, fragments_, protobuf));
}

http::Step SendOpenApiV2(http::Exchange& exchange, const V2Document& document) {
  const Form* form = Choose(exchange.request().headers.Get("Accept"), kV2Forms);
  if (!form) return meta::NewGenericServerResponse(406, "", {}, "");
  if (OpenApiPtr whole = document.whole()) {
    SendDocument(exchange, *form, std::move(whole), {{"Vary", "Accept"}});
    return http::Step::Done();
  }
  http::ResponseHead head{.code = 200, .headers = {{"Vary", "Accept"}}};
  const std::string quoted = "\"" + document.etag() + "\"";
  head.headers.Set("Etag", quoted);
  if (exchange.request().headers.Get("If-None-Match") == quoted) {
    head.code = 304;
    exchange.writer().Send(std::move(head), {});
    return http::Step::Done();
  }
  head.headers.Set("Content-Type", std::string(form->content_type));
  exchange.writer().Stream(std::move(head), document.NewBody(exchange, form->protobuf));
  return http::Step::Done();
}

http::Step SendOpenApiV3Index(http::Exchange& exchange, const OpenApiPtr& index) {
  SendDocument(exchange, kV3Forms[0], index, {});
  return http::Step::Done();
}

http::Step SendOpenApiV3(http::Exchange& exchange, const OpenApiPtr& document, const Clock& clock) {
  const Form* form = Choose(exchange.request().headers.Get("Accept"), kV3Forms);
  if (!form) return meta::NewGenericServerResponse(406, "", {}, "");
  http::Headers headers{{"Vary", "Accept"}};
  const std::string_view hash = exchange.query().Get("hash");
  if (!hash.empty() && hash != document->etag) {
    // A client that asks by hash follows the index: with the present hash it may cache the answer
    // forever.
    headers.Set("Location", exchange.request().path + "?hash=" + document->etag);
    exchange.writer().Send({.code = 301, .headers = std::move(headers)}, {});
    return http::Step::Done();
  }
  if (!hash.empty()) {
    headers.Set("Cache-Control", "public, immutable");
    const auto in_a_year = clock.WallNow() + std::chrono::hours(24 * 365);
    headers.Set("Expires", http::FormatDate(std::chrono::floor<std::chrono::seconds>(in_a_year)));
  }
  SendDocument(exchange, *form, document, std::move(headers));
  return http::Step::Done();
}

http::Step SendNoOpenApi(http::Exchange& exchange) {
  exchange.writer().Send({.code = 200, .headers = {}}, {});
  return http::Step::Done();
}

}  // namespace apiserver::v0::server
