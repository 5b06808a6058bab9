#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// Objects as messages of classes that protoc has generated from the kind's `.proto`, for hosts that
// want typed access, in a strategy say. A kind is served without such classes.
//
//   field::ErrorList Validate(const Context&, const runtime::Object& object) const override {
//     const auto gadget = codec::ToMessage<example::v1::Gadget>(object);
//     if (gadget.ok() && gadget->spec().replicas() > 9) …
namespace apiserver::inline v0::codec {

// The operations of google::protobuf::MessageLite that are needed; this header names no protobuf
// type.
template <class T>
concept ProtobufMessage = std::default_initializable<T> &&
    requires(T message, const T& read, std::string bytes) {
  { message.ParseFromString(bytes) } -> std::convertible_to<bool>;
  { read.SerializeToString(&bytes) } -> std::convertible_to<bool>;
};

// Returns the object, in the version it is in, as a serialized message without envelope.
// kNotAcceptable: the kind has no protobuf form. kInternalError: the content does not fit its
// schema.
Result<std::string> ToMessageBytes(const runtime::Object& object);
// Replaces the object's content by that of a serialized message. kBadRequest: it is no message of
// the object's kind and version; the object is unchanged.
Status FromMessageBytes(std::string_view bytes, runtime::Object& object);

// Returns the object as a message, in the version it is in, which in a strategy is the hub. Errors
// as ToMessageBytes; kInternalError also when `Message` cannot read it.
template <ProtobufMessage Message>
Result<Message> ToMessage(const runtime::Object& object) {
  Result<std::string> bytes = ToMessageBytes(object);
  if (!bytes.ok()) return bytes.status();
  Message message;
  if (!message.ParseFromString(*bytes)) {
    return Status(Reason::kInternalError, "the message class does not fit the kind");
  }
  return message;
}

// Replaces the object's content by the message's. Protobuf does not distinguish an empty list or
// map from an absent one: if JSON always has the field it becomes null. Errors as FromMessageBytes.
template <ProtobufMessage Message>
Status FromMessage(const Message& message, runtime::Object& object) {
  std::string bytes;
  if (!message.SerializeToString(&bytes)) {
    return Status(Reason::kBadRequest, "the message cannot be serialized");
  }
  return FromMessageBytes(bytes, object);
}

}  // namespace apiserver::inline v0::codec
