#include "response/gzip.h"

#include <zlib.h>

#include <optional>
#include <utility>

#include "response/pool_body.h"

namespace apiserver::v0::response {

namespace {

// The fastest level: for Kubernetes' lists the slower ones gain little.
constexpr int kLevel = 1;
// Window bits of zlib's deflateInit2: 15, and 16 more for a gzip header.
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;
// The limits at which one job on the pool ends, by bytes read and by bytes made.
constexpr std::size_t kReadBytes = std::size_t{512} << 10;
constexpr std::size_t kMadeBytes = std::size_t{64} << 10;
constexpr std::size_t kRoomBytes = std::size_t{64} << 10;
constexpr std::size_t kGrowBytes = std::size_t{16} << 10;

// One gzip member.
class Member {
 public:
  Member() {
    ok_ = deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindowBits, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() {
    if (ok_) deflateEnd(&stream_);
  }

  // `flush` is Z_NO_FLUSH, Z_SYNC_FLUSH, or Z_FINISH for the end. False: no memory.
  // The loop ends once the output was not filled: only then has deflate() used up `text`.
  bool Add(std::string_view text, int flush, std::string& out) {
    if (!ok_) return false;
    // zlib's interface has no const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      const std::size_t before = out.size();
      out.resize(before + kGrowBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream_.avail_out = static_cast<uInt>(kGrowBytes);
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) return false;
      out.resize(out.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return true;
  }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

// Compresses the output of a body.
class Deflater final : public Packer {
 public:
  std::size_t room() const override { return kRoomBytes; }
  void Write(std::string_view copied) override {
    if (copied.empty()) return;
    read_ += copied.size();
    if (!member_) member_.emplace();
    failed_ |= !member_->Add(copied, Z_NO_FLUSH, made_);
  }
  void Take(std::string owned) override { Write(owned); }
  void Write(std::shared_ptr<const void>, std::string_view shared) override { Write(shared); }

  // Ends the member, so that everything so far can be decoded; the next text begins another one.
  // RFC 1952 §2.2 allows several members.
  void Flush() override {
    if (!member_) return;
    // Flushed before it ends, as Go does: Go's reader goes on to the next member, and so waits,
    // before it returns text that comes together with the end of this one.
    failed_ |= !member_->Add({}, Z_SYNC_FLUSH, made_) || !member_->Add({}, Z_FINISH, made_);
    member_.reset();
  }
  bool enough() const override {
    return failed_ || made_.size() >= kMadeBytes || read_ >= kReadBytes;
  }
  bool failed() const override { return failed_; }
  std::string TakeMade() override {
    read_ = 0;
    return std::exchange(made_, {});
  }

 private:
  std::optional<Member> member_;
  std::string made_;
  std::size_t read_ = 0;
  bool failed_ = false;
};

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

// As upstream, quality values are not understood: "gzip;q=0" is not "gzip".
bool WantsGzip(const http::Exchange& exchange, std::string_view feature) {
  std::string_view accepted = exchange.request().headers.Get("Accept-Encoding");
  while (!accepted.empty()) {
    const std::size_t comma = accepted.find(',');
    if (Trim(accepted.substr(0, comma)) == "gzip") return exchange.features().Enabled(feature);
    accepted = comma == std::string_view::npos ? "" : accepted.substr(comma + 1);
  }
  return false;
}

// Vary, since a cache must not give the compressed form to a client that did not ask for it.
void AddGzipHeaders(http::ResponseHead& head) {
  head.headers.Add("Content-Encoding", "gzip");
  head.headers.Add("Vary", "Accept-Encoding");
}

// Empty: zlib had no memory.
std::string Gzip(const http::Bytes& bytes) {
  Deflater deflater;
  for (const http::Bytes::Piece& piece : bytes.pieces()) deflater.Write(piece.text);
  deflater.Flush();
  return deflater.failed() ? std::string() : deflater.TakeMade();
}

std::unique_ptr<http::BodySource> NewGzipBody(http::Exchange& exchange,
                                              std::unique_ptr<http::BodySource> body) {
  return NewPoolBody(exchange, std::move(body), std::make_unique<Deflater>());
}

}  // namespace apiserver::v0::response
