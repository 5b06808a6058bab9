#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <utility>

// The results of parsers in this room: Status and Result are in base, which is a later room.
namespace apiserver::inline v0::text {

// The reason why a text was refused, in Go's words. False: the text was accepted.
class Error {
 public:
  Error() = default;
  explicit Error(std::string message) : message_(std::move(message)) {}

  explicit operator bool() const { return message_.has_value(); }
  const std::string& message() const { return *message_; }

 private:
  std::optional<std::string> message_;
};

// A T or an Error.
template <class T>
class Read {
 public:
  Read(T value) : value_(std::move(value)) {}      // NOLINT: implicit
  Read(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace apiserver::inline v0::text
