#pragma once

#include <memory>

#include "apiserver/audit/event.h"

namespace apiserver::inline v0::audit {

// An event in a few hundred bytes, for one that nobody looks at for hours: that of an open watch.
class PackedEvent {
 public:
  // Null, and `event` is as it was: it has parts that are not packed, which are an object of the
  // request or the response, and the details of a status.
  static std::unique_ptr<const PackedEvent> Pack(Event& event);

  // Returns the event, equal to that which was packed.
  Event Unpack() const;

 private:
  PackedEvent() = default;

  std::unique_ptr<char[]> texts_;
  auth::UserInfoPtr user_;
  auth::UserInfoPtr impersonated_user_;
  Clock::Wall request_received_;
  Clock::Wall stage_timestamp_;
  int code_ = 0;
  Level level_ = Level::kNone;
  Stage stage_ = Stage::kRequestReceived;
  bool has_object_ref_ = false;
  bool has_response_status_ = false;
};

}  // namespace apiserver::inline v0::audit
