#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0 {

// The reason why an operation failed, in the words of metav1.StatusReason. HttpCode() is the only
// table that turns one into a number.
enum class Reason : std::uint8_t {
  kUnknown,  // Go's empty reason; 500.
  kUnauthorized,
  kForbidden,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kGone,
  kInvalid,
  kServerTimeout,
  kStorageReadError,
  kTimeout,
  kTooManyRequests,
  kBadRequest,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInternalError,
  kExpired,
  kServiceUnavailable,
  // Never leaves the process: the caller's thread must not wait, and the answer needs waiting. An
  // operation that returns it has changed nothing and may be repeated where waiting is allowed.
  kWouldBlock,
};

// Returns the word for clients: "NotFound"; empty for kUnknown.
std::string_view ReasonWord(Reason reason);
// Returns the HTTP status code of a Status with this reason and no code of its own.
int HttpCode(Reason reason);

// One of the reasons why an object was refused, as metav1.StatusCause.
struct StatusCause {
  std::string reason;   // "FieldValueInvalid".
  std::string message;  // "Invalid value: 3: must be even".
  std::string field;    // "spec.replicas".

  friend bool operator==(const StatusCause&, const StatusCause&) = default;
};

// Details about the object that a Status concerns, as metav1.StatusDetails. Present but empty
// prints as `details: {}`.
struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;  // The plural resource for most reasons, the Kind for kInvalid: Go's habit.
  std::string uid;
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;  // > 0 also sets the Retry-After header.

  friend bool operator==(const StatusDetails&, const StatusDetails&) = default;
};

// The outcome of an operation that may fail: null when OK, else a reason, a message for people and
// optional details. Cheap to copy; immutable once made. It is metav1.Status without the envelope.
// API errors with Kubernetes' exact words are made in meta/errors.h.
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK.
  Status(const Status& other) : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(const Status& other) { return *this = Status(other); }
  Status& operator=(Status&& other) noexcept {
    if (Rep* old = std::exchange(rep_, std::exchange(other.rep_, nullptr))) Release(old);
    return *this;
  }
  ~Status() {
    if (rep_ != nullptr) Release(rep_);
  }

  // An error. `message` is read by people.
  Status(Reason reason, std::string message);

  // The same as Status().
  static Status Ok() { return {}; }

  bool ok() const { return rep_ == nullptr; }
  // kUnknown when OK.
  Reason reason() const { return rep_ ? rep_->content.reason : Reason::kUnknown; }
  // The HTTP status code; 200 when OK.
  int code() const;
  // Empty when OK.
  std::string_view message() const { return rep_ ? std::string_view(rep_->content.message) : ""; }
  // Null when there are none.
  const StatusDetails* details() const {
    return rep_ && rep_->content.details ? &*rep_->content.details : nullptr;
  }
  // metadata.continue of an Expired list; empty otherwise.
  std::string_view continue_token() const {
    return rep_ ? std::string_view(rep_->content.continue_token) : "";
  }

  // Copies this error with other details. This and the next methods must not be called on OK.
  Status WithDetails(StatusDetails details) const;
  // Copies it with an HTTP status code other than HttpCode(reason()).
  Status WithCode(int http_code) const;
  // Copies it with another message.
  Status WithMessage(std::string message) const;
  // Copies it with the metadata.continue of an Expired list.
  Status WithContinueToken(std::string token) const;

  // Formats it for logs and tests: "NotFound: flunders.wardle \"x\" not found".
  std::string ToString() const;

  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Content {
    Reason reason;
    int code = 0;  // 0: HttpCode(reason).
    std::string message;
    std::optional<StatusDetails> details;
    std::string continue_token;

    friend bool operator==(const Content&, const Content&) = default;
  };
  // Counts its owners, rather than being a shared_ptr's: all that each return of a Status or Result
  // compiles to is then one test.
  struct Rep {
    Content content;
    std::atomic<std::uint32_t> owners = 1;
  };
  explicit Status(Content content);
  static void Release(Rep* rep);

  Rep* rep_ = nullptr;
};

// A T, or the Status that says why there is none. A Result never holds an OK Status.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_(std::move(value)) {}        // NOLINT: implicit
  Result(Status error) : status_(std::move(error)) {}  // NOLINT: implicit
  // Converts from anything a T can be made of, so that `return std::make_unique<Derived>()` works.
  template <class U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)  // NOLINT: implicit
      : value_(std::in_place, std::forward<U>(value)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  // OK when there is a value.
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }

  // Must be ok(); std::bad_optional_access otherwise.
  T& value() & { return value_.value(); }
  const T& value() const& { return value_.value(); }
  T&& value() && { return std::move(value_.value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace apiserver::inline v0
