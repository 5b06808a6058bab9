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

Status::Status(Reason reason, std::string message) {
  auto rep = std::make_shared<Rep>();
  rep->reason = reason;
  rep->message = std::move(message);
  rep_ = std::move(rep);
}

int Status::code() const {
  if (rep_ == nullptr) return 200;
  return rep_->code != 0 ? rep_->code : HttpCode(rep_->reason);
}

// Copies the representation first: it is shared, and other threads may be reading it. OK has none,
// so that only errors can be changed.
template <class Change>
Status Status::Changed(Change change) const {
  auto rep = std::make_shared<Rep>(*rep_);
  change(*rep);
  Status out;
  out.rep_ = std::move(rep);
  return out;
}

Status Status::WithDetails(StatusDetails details) const {
  return Changed([&](Rep& rep) { rep.details = std::move(details); });
}

Status Status::WithCode(int http_code) const {
  return Changed([&](Rep& rep) { rep.code = http_code; });
}

Status Status::WithMessage(std::string message) const {
  return Changed([&](Rep& rep) { rep.message = std::move(message); });
}

Status Status::WithContinueToken(std::string token) const {
  return Changed([&](Rep& rep) { rep.continue_token = std::move(token); });
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
  return a.rep_ != nullptr && b.rep_ != nullptr && *a.rep_ == *b.rep_;
}

}  // namespace apiserver::v0
