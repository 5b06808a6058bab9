#include "apiserver/base/status.h"

#include <array>

namespace apiserver::v0 {
namespace {

struct ReasonRow {
  std::string_view word;
  int http_code;
};

// Indexed by Reason. The codes are those of the constructors in apimachinery's api/errors: a server
// timeout really is a 500 there.
constexpr std::array kReasons = {
    ReasonRow{"", 500},
    ReasonRow{"Unauthorized", 401},
    ReasonRow{"Forbidden", 403},
    ReasonRow{"NotFound", 404},
    ReasonRow{"AlreadyExists", 409},
    ReasonRow{"Conflict", 409},
    ReasonRow{"Gone", 410},
    ReasonRow{"Invalid", 422},
    ReasonRow{"ServerTimeout", 500},
    ReasonRow{"StorageReadError", 500},
    ReasonRow{"Timeout", 504},
    ReasonRow{"TooManyRequests", 429},
    ReasonRow{"BadRequest", 400},
    ReasonRow{"MethodNotAllowed", 405},
    ReasonRow{"NotAcceptable", 406},
    ReasonRow{"RequestEntityTooLarge", 413},
    ReasonRow{"UnsupportedMediaType", 415},
    ReasonRow{"InternalError", 500},
    ReasonRow{"Expired", 410},
    ReasonRow{"ServiceUnavailable", 503},
    ReasonRow{"WouldBlock", 500},
};
static_assert(kReasons.size() == static_cast<std::size_t>(Reason::kWouldBlock) + 1);

const ReasonRow& RowOf(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }

}  // namespace

std::string_view ReasonWord(Reason reason) { return RowOf(reason).word; }

int HttpCode(Reason reason) { return RowOf(reason).http_code; }

Status::Status(Reason reason, std::string message)
    : Status(Content{.reason = reason, .message = std::move(message)}) {}

Status::Status(Content content) : rep_(new Rep{.content = std::move(content)}) {}

void Status::Release(Rep* rep) {
  if (rep->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

int Status::code() const {
  if (rep_ == nullptr) return 200;
  const Content& content = rep_->content;
  return content.code != 0 ? content.code : HttpCode(content.reason);
}

// These copy the content: it is shared, and other threads may be reading it. OK has none, so that
// only errors can be changed.
Status Status::WithDetails(StatusDetails details) const {
  Content changed = rep_->content;
  changed.details = std::move(details);
  return Status(std::move(changed));
}

Status Status::WithCode(int http_code) const {
  Content changed = rep_->content;
  changed.code = http_code;
  return Status(std::move(changed));
}

Status Status::WithMessage(std::string message) const {
  Content changed = rep_->content;
  changed.message = std::move(message);
  return Status(std::move(changed));
}

Status Status::WithContinueToken(std::string token) const {
  Content changed = rep_->content;
  changed.continue_token = std::move(token);
  return Status(std::move(changed));
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  const std::string_view word = ReasonWord(reason());
  std::string out(word.empty() ? "Unknown" : word);
  out += ": ";
  out += message();
  return out;
}

bool operator==(const Status& a, const Status& b) {
  if (a.rep_ == b.rep_) return true;
  return a.rep_ != nullptr && b.rep_ != nullptr && a.rep_->content == b.rep_->content;
}

}  // namespace apiserver::v0
