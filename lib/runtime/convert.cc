#include <exception>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"

namespace apiserver::v0::runtime {

namespace {

Status Failed(const Object& object, std::string_view why) {
  return Status(Reason::kInternalError,
                "conversion of " + object.gvk().ToString() + " failed: " + std::string(why));
}

// The host's functions may throw; the request must not end the process for it.
Status Call(const std::function<Status(Object&)>& convert, Object& object) {
  if (convert == nullptr) return {};
  try {
    const Status status = convert(object);
    return status.ok() ? status : Failed(object, status.message());
  } catch (const std::exception& error) {
    return Failed(object, error.what());
  } catch (...) {
    return Failed(object, "unknown exception");
  }
}

Status ThroughHub(Object& object, const KindVersion& from, const KindVersion& to) {
  RETURN_IF_ERROR(Call(from.to_hub, object));
  object.SetVersion(object.kind().hub_version());
  RETURN_IF_ERROR(Call(to.from_hub, object));
  object.SetVersion(to.version);
  if (from.to_hub == nullptr && to.from_hub == nullptr) return {};
  // The functions leave fields in any order.
  const Status settled = Settle(object, {.defaults = false});
  return settled.ok() ? settled : Failed(object, settled.message());
}

}  // namespace

Status ConvertTo(Object& object, std::string_view version) {
  if (object.version() == version) return {};
  const KindVersion* const from = object.kind().FindVersion(object.version());
  const KindVersion* const to = object.kind().FindVersion(version);
  if (from == nullptr || to == nullptr) {
    const std::string_view missing = from == nullptr ? object.version() : version;
    return Status(Reason::kBadRequest, "no version " + field::Quote(missing) + " of " +
                                           object.kind().group_kind().ToString());
  }
  const Value root = object.root();
  const std::string was = object.version();
  Status status = ThroughHub(object, *from, *to);
  if (status.ok()) return status;
  object.SetRoot(root);
  object.SetVersion(was);
  return status;
}

}  // namespace apiserver::v0::runtime
