#include "apiserver/meta/time.h"

#include "apiserver/runtime/time.h"

namespace apiserver::v0::meta {

std::string Timestamp(const Clock& clock) {
  return runtime::FormatTime(runtime::UnixTime::From(clock.WallNow()));
}

std::string MicroTimestamp(const Clock& clock) {
  return runtime::FormatMicroTime(runtime::UnixTime::From(clock.WallNow()));
}

}  // namespace apiserver::v0::meta
