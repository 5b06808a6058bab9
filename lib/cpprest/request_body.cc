#include "cpprest/request_body.h"

#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace apiserver::v0::cpprest {
namespace {

// Collects a body on cpprestsdk's threads, which must not wait, so each piece is a continuation.
class BodyReader final : public std::enable_shared_from_this<BodyReader> {
 public:
  BodyReader(const web::http::http_request& request, std::size_t bytes_max,
             UniqueFunction<void(Result<std::string>)> done)
      : body_(request.body().streambuf()), bytes_max_(bytes_max), done_(std::move(done)) {}

  void Next() {
    try {
      // The future is set when so many bytes have come, or all.
      body_.getn(piece_.data(), bytes_max_ == 0 ? 1 : piece_.size())
          .then([self = shared_from_this()](const pplx::task<std::size_t>& task) {
            self->Got(task);
          });
    } catch (...) {
      BreakOff();
    }
  }

 private:
  void Got(const pplx::task<std::size_t>& task) {
    std::size_t bytes = 0;
    try {
      bytes = task.get();
    } catch (...) {
      return BreakOff();
    }
    if (bytes == 0) return End(std::move(text_));
    // Checked for each piece: the body may be chunked, and its length unknown.
    if (bytes > bytes_max_ - text_.size()) return Refuse();
    text_.append(reinterpret_cast<const char*>(piece_.data()), bytes);
    Next();
  }

  // Closing the buffer is what makes cpprestsdk stop reading.
  void Refuse() {
    try {
      const auto why = std::make_exception_ptr(std::runtime_error("the body is too large"));
      body_.close(std::ios_base::out, why).then([](const pplx::task<void>& task) {
        try {
          task.get();
        } catch (...) {  // NOLINT(bugprone-empty-catch): it is closed all the same
        }
      });
    } catch (...) {  // NOLINT(bugprone-empty-catch): as above
    }
    End(Status(Reason::kRequestEntityTooLarge,
               "Request entity too large: limit is " + std::to_string(bytes_max_)));
  }

  void BreakOff() { End(Status(Reason::kBadRequest, "the request's body is incomplete")); }
  void End(Result<std::string> result) { std::exchange(done_, nullptr)(std::move(result)); }

  concurrency::streams::streambuf<std::uint8_t> body_;
  const std::size_t bytes_max_;
  UniqueFunction<void(Result<std::string>)> done_;
  std::array<std::uint8_t, 16 << 10> piece_{};
  std::string text_;
};

}  // namespace

// `done` is called once, on any thread, perhaps before this returns.
void ReadRequestBody(const web::http::http_request& request, std::size_t bytes_max,
                     UniqueFunction<void(Result<std::string>)> done) {
  const auto& headers = request.headers();
  if (!headers.has(web::http::header_names::transfer_encoding) && headers.content_length() == 0) {
    return done(std::string());
  }
  std::make_shared<BodyReader>(request, bytes_max, std::move(done))->Next();
}

}  // namespace apiserver::v0::cpprest
