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

// Converts objects from one version of their kind into another. Conversion is a separate step, made
// where the version matters and with the Context of the request that needs it. Reading and parsing
// an object never converts it.
namespace apiserver::inline v0::runtime {

// Converts objects between the versions of a kind (KindOptions::converter). The default,
// FunctionConverter(), applies the versions' declared conversions and calls their functions
// (KindVersion::conversions, to_hub and from_hub). Immutable; several threads may call it at the
// same time.
class VersionConverter {
 public:
  virtual ~VersionConverter() = default;

  // Rewrites each of `objects` into `version`: sets the content, which must live in the object's
  // own arena, and then calls SetVersion(version). Only the functions below call it. The contract:
  //
  // - The objects are of one kind and settled (settle.h) in versions of it that are not `version`
  //   and need not be the same. There is at least one; `version` is a version of the kind.
  // - The implementation leaves them settled in `version`, but for defaults: those are of the
  //   version that content came in. Settle(object, {.defaults = false}) does that.
  // - In metadata it may change labels and annotations only. If it delegates to another program
  //   that changes anything else in metadata, it returns an error.
  // - It converts all objects or returns an error, which reaches the client unchanged. The caller
  //   then restores content and version of all objects.
  // - It returns when `ctx` is done. An exception counts as an error.
  virtual Status Convert(const Context& ctx, std::span<Object* const> objects,
                         std::string_view version) const = 0;

  // Returns true if Convert() may block, for example on another process. Convert() is then called
  // only where ctx.may_block(), never on an event loop, and once for all objects of a response or
  // of one batch of watch events. If false, Convert() is called for one object at a time, so that a
  // large list need not be in memory as a whole. Must always return the same value.
  virtual bool may_wait() const = 0;
};

// Converts the objects that are not in `version` yet, in one call of the kind's converter. After an
// error all objects are unchanged.
//
// kBadRequest: the kind has no such version. kWouldBlock: the converter may block and `ctx` does
// not allow it. kInternalError: the conversion failed, or content that was to be converted cannot
// be read; other reasons are the converter's own.
Status Convert(const Context& ctx, std::span<Object* const> objects, std::string_view version);
Status Convert(const Context& ctx, Object& object, std::string_view version);

// Returns `object` itself if it is in `version`, else a converted copy that shares memory with it.
// The object then stays parsed and caches the copy, so a second call converts nothing; the copy
// keeps the object alive. A null `object` returns null. Errors as Convert().
Result<ObjectPtr> Converted(const Context& ctx, const ObjectPtr& object, std::string_view version);
// Returns Converted() of each object, in the same order. None may be null.
Result<std::vector<ObjectPtr>> Converted(const Context& ctx, std::span<const ObjectPtr> objects,
                                         std::string_view version);

// Receives an object and its index. Runs on the calling thread, within VisitConverted(); may block
// if that thread may.
using Visit = std::function<void(std::size_t place, const Object&)>;
// Calls `visit` once for each of `objects`, which are of one kind, with its index and the object in
// `version`: the object itself, or a converted copy that is destroyed afterwards. If the converter
// may block, all copies are made in one call and visited last; else one copy exists at a time. An
// object that cannot be read is visited unconverted and reads as empty. Errors as Convert(); some
// objects may have been visited by then.
Status VisitConverted(const Context& ctx, std::span<const ObjectPtr> objects,
                      std::string_view version, const Visit& visit);

// Returns the default converter: it applies the versions' declared conversions and calls their
// functions on the calling thread. It reports that it never blocks. Where a host's functions do
// block, the kind's store keeps them off event loops (registry::StoreOptions::functions_inline).
std::shared_ptr<const VersionConverter> FunctionConverter();

}  // namespace apiserver::inline v0::runtime
