#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// Turning objects from one version of their kind into another. That is a step of its own, taken
// where the version matters, with the Context of the request that needs it: reading and parsing an
// object never converts it.
namespace apiserver::inline v0::runtime {

// How the versions of a kind turn into each other (KindOptions::converter). The one of a kind that
// names none applies the versions' declared conversions and calls their functions
// (KindVersion::conversions, to_hub and from_hub). Immutable; called from
// any thread, several at a time.
class VersionConverter {
 public:
  virtual ~VersionConverter() = default;

  // Rewrites each of `objects` into `version`: its content, which is to live in the object's own
  // arena, and then SetVersion(version). Called by the functions below, which see to the rest:
  //
  // - The objects are of one kind and settled (settle.h) in versions of it that are not `version`
  //   and need not be the same. There is at least one; `version` is a version of the kind.
  // - The implementation leaves them settled in `version`, but for defaults: those are of the
  //   version that content came in. Settle(object, {.defaults = false}) does that.
  // - Of metadata it may change labels and annotations only, and it refuses whatever else it is
  //   given back by somebody who does not know that.
  // - All are converted, or an error is returned, which reaches the client as it is. Content and
  //   version of all objects are then put back.
  // - It ends when `ctx` is done. An exception is an error.
  virtual Status Convert(const Context& ctx, std::span<Object* const> objects,
                         std::string_view version) const = 0;

  // Returns true if Convert() may wait, as for another process. It is called only where
  // ctx.may_block() then, never on a loop, and once for all objects that an answer, or one turn of
  // a watch, needs. Else it is called for one object of them after the other, so that a large list
  // need not be in memory as a whole. Must always return the same.
  virtual bool may_wait() const = 0;
};

// Converts what is not in `version` yet in one call of the kind's converter, if there is any. On an
// error all objects are as they were.
//
// kBadRequest: the kind has no such version. kWouldBlock: the converter may wait and `ctx` may not.
// kInternalError: the conversion failed, or content that was to be converted cannot be read; other
// reasons are the converter's own.
Status Convert(const Context& ctx, std::span<Object* const> objects, std::string_view version);
Status Convert(const Context& ctx, Object& object, std::string_view version);

// `object` itself if it is in `version`, else a converted copy, which shares what it can with the
// object. The object stays parsed then and keeps the copy, so that asking again converts nothing;
// the copy keeps the object. Null stays null. Errors as Convert().
Result<ObjectPtr> Converted(const Context& ctx, const ObjectPtr& object, std::string_view version);
// The same of each, in their order. None may be null.
Result<std::vector<ObjectPtr>> Converted(const Context& ctx, std::span<const ObjectPtr> objects,
                                         std::string_view version);

// Calls `visit` once with the place of each of `objects`, which are of one kind, and the object in
// `version`: itself, or a converted copy that is gone afterwards. Copies are made in one call if
// the converter may wait, and visited last; else there is one at a time. What cannot be read is
// visited as it is, and reads as empty. Errors as Convert(); some may have been visited then.
using Visit = std::function<void(std::size_t place, const Object&)>;
Status VisitConverted(const Context& ctx, std::span<const ObjectPtr> objects,
                      std::string_view version, const Visit& visit);

// The converter of kinds that have no other: applies the versions' declared conversions and calls
// their functions, here and now. Never
// waits as far as the library knows; functions of a host that do are kept off loops by the stores
// of their kinds (registry::StoreOptions::functions_inline).
std::shared_ptr<const VersionConverter> FunctionConverter();

}  // namespace apiserver::inline v0::runtime
