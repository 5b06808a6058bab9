#include "apiserver/meta/time.h"

#include "apiserver/runtime/time.h"

namespace apiserver::meta {

std::string Timestamp(const Clock& clock) {
  return runtime::FormatTime(runtime::UnixTime::From(clock.WallNow()));
}

std::string MicroTimestamp(const Clock& clock) {
  return runtime::FormatMicroTime(runtime::UnixTime::From(clock.WallNow()));
}

}  // namespace apiserver::meta
