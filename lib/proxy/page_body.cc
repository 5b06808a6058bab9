#include "proxy/page_body.h"

#include <zlib.h>

#include <optional>
#include <utility>

#include "apiserver/base/fair_share.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/sync.h"
#include "http/tokens.h"
#include "proxy/html_rewriter.h"

namespace apiserver::v0::proxy {
namespace {

constexpr std::size_t kPageBytesMax = std::size_t{4} << 20;
constexpr std::size_t kGrowBytes = std::size_t{64} << 10;
// Window bits of zlib: 15 with zlib's own head, 16 more for gzip, negative for none.
constexpr int kGzip = 15 + 16;
constexpr int kZlib = 15;
constexpr int kRaw = -15;

// Lets `step` run until `stream` has no more output. nullopt: an error, or more than the limit.
template <class Run>
std::optional<std::string> Drain(z_stream& stream, std::string_view in, const Run& run) {
  std::string out;
  // zlib's interface has no const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  for (;;) {
    const std::size_t before = out.size();
    out.resize(before + kGrowBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(kGrowBytes);
    const int outcome = run();
    out.resize(out.size() - stream.avail_out);
    if (outcome == Z_STREAM_END) return out;
    const bool stuck = outcome != Z_OK || out.size() == before;
    if (stuck || out.size() > kPageBytesMax) return std::nullopt;
  }
}

std::optional<std::string> Inflate(std::string_view packed, int window_bits) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return std::nullopt;
  auto text = Drain(stream, packed, [&] { return inflate(&stream, Z_NO_FLUSH); });
  inflateEnd(&stream);
  return text;
}

std::optional<std::string> Deflate(std::string_view text, int window_bits) {
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  auto packed = Drain(stream, text, [&] { return deflate(&stream, Z_FINISH); });
  deflateEnd(&stream);
  return packed;
}

// "deflate" is zlib's format by RFC 9110, 8.4.1.2, and Go's bare one in practice.
int WindowBitsOf(std::string_view encoding, std::string_view page) {
  if (encoding == "gzip") return kGzip;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(page[at]); };
  const bool zlib =
      page.size() >= 2 && (byte(0) & 0x0f) == Z_DEFLATED && (byte(0) * 256 + byte(1)) % 31 == 0;
  return zlib ? kZlib : kRaw;
}

// The page between the loop and the pool.
struct Rewritten {
  std::optional<std::string> page;
  Waker waker;
};

class PageBody final : public http::BodySource, private http::ChunkWriter {
 public:
  PageBody(std::unique_ptr<http::BodySource> inner, LocationRewriter rewriter, std::string encoding,
           std::shared_ptr<http::Exchange> exchange)
      : inner_(std::move(inner)),
        rewriter_(std::move(rewriter)),
        encoding_(std::move(encoding)),
        exchange_(std::move(exchange)),
        charge_(exchange_->memory()->output) {
    charge_.SetTenant(exchange_->decoding().tenant());
  }

  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    if (inner_ && !passing_) return Collect(out, waker);
    if (passing_) return inner_->Next(out, waker);
    return Give(out, waker);
  }

 private:
  // --- Collects what `inner` makes.
  std::size_t room() const override { return kGrowBytes; }
  void Write(std::string_view copied) override { page_.append(copied); }
  void Take(std::string owned) override { page_.append(owned); }
  void Write(std::shared_ptr<const void> /*owner*/, std::string_view shared) override {
    page_.append(shared);
  }

  http::Pull Collect(http::ChunkWriter& out, const Waker& waker);
  http::Pull Give(http::ChunkWriter& out, const Waker& waker);
  void Rewrite();

  std::unique_ptr<http::BodySource> inner_;  // Null once the page is whole.
  const LocationRewriter rewriter_;
  const std::string encoding_;
  const std::shared_ptr<http::Exchange> exchange_;
  FairShare::Charge charge_;
  std::string page_;
  bool passing_ = false;  // The page is too long, and is passed on.
  std::shared_ptr<Guarded<Rewritten>> rewritten_;
};

http::Pull PageBody::Collect(http::ChunkWriter& out, const Waker& waker) {
  const http::Pull pulled = inner_->Next(*this, waker);
  charge_.Resize(page_.size());
  if (page_.size() > kPageBytesMax) {
    passing_ = true;
    out.Take(std::exchange(page_, {}));
    charge_.Resize(0);
    return pulled;
  }
  if (pulled != http::Pull::kEnd) return pulled;
  inner_.reset();
  Rewrite();
  return Give(out, waker);
}

// The pool must not keep the exchange, which ends on its loop.
void PageBody::Rewrite() {
  rewritten_ = std::make_shared<Guarded<Rewritten>>();
  exchange_->pool().Post([rewritten = rewritten_, page = std::move(page_), rewriter = rewriter_,
                          encoding = encoding_]() mutable {
    std::string made = RewritePage(std::move(page), rewriter, encoding);
    auto state = rewritten->Lock();
    state->page = std::move(made);
    state->waker.Wake();
  });
}

http::Pull PageBody::Give(http::ChunkWriter& out, const Waker& waker) {
  auto state = rewritten_->Lock();
  if (!state->page) {
    state->waker = waker;
    return http::Pull::kWait;
  }
  out.Take(std::move(*state->page));
  charge_.Resize(0);
  return http::Pull::kEnd;
}

}  // namespace

bool IsRewritablePage(const http::Headers& headers) {
  const std::string_view type = headers.Get("Content-Type");
  const std::string_view encoding = headers.Get("Content-Encoding");
  return http::Trim(type.substr(0, type.find(';'))) == "text/html" &&
         (encoding.empty() || encoding == "gzip" || encoding == "deflate");
}

std::string RewritePage(std::string page, const LocationRewriter& rewriter,
                        std::string_view encoding) {
  if (encoding.empty()) return RewriteHtml(page, rewriter);
  const int window_bits = WindowBitsOf(encoding, page);
  const auto plain = Inflate(page, window_bits);
  if (!plain) return page;
  auto packed = Deflate(RewriteHtml(*plain, rewriter), window_bits);
  return packed ? *std::move(packed) : std::move(page);
}

std::unique_ptr<http::BodySource> NewPageBody(std::unique_ptr<http::BodySource> inner,
                                              LocationRewriter rewriter, std::string encoding,
                                              std::shared_ptr<http::Exchange> exchange) {
  return std::make_unique<PageBody>(std::move(inner), std::move(rewriter), std::move(encoding),
                                    std::move(exchange));
}

}  // namespace apiserver::v0::proxy
