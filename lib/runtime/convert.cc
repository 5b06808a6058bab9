#include "apiserver/runtime/convert.h"

#include <exception>
#include <string>
#include <utility>

#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "runtime/convert_and_settle.h"
#include "runtime/passes.h"
#include "runtime/rename_fields.h"

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

// Applies the versions' declared conversions and calls their functions, through the hub version.
class Functions final : public VersionConverter {
 public:
  Status Convert(const Context& /*ctx*/, std::span<Object* const> objects,
                 std::string_view version) const override {
    for (Object* const object : objects) RETURN_IF_ERROR(ThroughHub(*object, version));
    return {};
  }
  bool may_wait() const override { return false; }

  // Converts by way of the hub, so that n versions need 2n functions. Fields are renamed on the
  // hub's outer side: the functions of both versions see the hub's names. Fields are then in any
  // order, or not in the version.
  static Status Unsettled(Object& object, std::string_view version) {
    const KindVersion& from = *object.kind().FindVersion(object.version());
    const KindVersion& to = *object.kind().FindVersion(version);
    RenameFields(object, from.conversions, RenameTo::kHub);
    RETURN_IF_ERROR(Call(from.to_hub, object));
    object.SetVersion(object.kind().hub_version());
    RETURN_IF_ERROR(Call(to.from_hub, object));
    RenameFields(object, to.conversions, RenameTo::kVersion);
    object.SetVersion(to.version);
    return {};
  }

 private:
  // Returns true if the version has the hub's shape.
  static bool IsSame(const KindVersion& version) {
    return version.to_hub == nullptr && version.from_hub == nullptr && version.conversions.empty();
  }

  // Returns true if a field of `from` may be unknown in `to`. Go types of one shape have the same
  // fields; each version of a custom resource has a schema of its own.
  static bool Prunes(const Kind& kind, const KindVersion& from, const KindVersion& to) {
    return kind.semantics() == Semantics::kCustomResource && from.schema != to.schema;
  }

  static Status ThroughHub(Object& object, std::string_view version) {
    const KindVersion& from = *object.kind().FindVersion(object.version());
    const KindVersion& to = *object.kind().FindVersion(version);
    const Value before = object.root();
    RETURN_IF_ERROR(Unsettled(object, version));
    if (IsSame(from) && IsSame(to) && !Prunes(object.kind(), from, to)) return {};
    const Status settled = SettleConverted(object, {from.schema.get(), before});
    return settled.ok() ? settled : Failed(object, settled.message());
  }
};

// Remembers the objects of one call, to put them back when it fails.
class Before {
 public:
  explicit Before(std::span<Object* const> objects) {
    was_.reserve(objects.size());
    for (Object* const object : objects)
      was_.push_back({object, object->root(), object->version()});
  }
  void PutBack() const {
    for (const One& one : was_) {
      one.object->SetRoot(one.root);
      one.object->SetVersion(one.version);
    }
  }

 private:
  struct One {
    Object* object;
    Value root;
    std::string version;
  };
  std::vector<One> was_;
};

Status CallConverter(const Context& ctx, std::span<Object* const> objects,
                     std::string_view version) {
  const Object& first = *objects.front();
  try {
    RETURN_IF_ERROR(first.kind().converter().Convert(ctx, objects, version));
  } catch (const std::exception& error) {
    return Failed(first, error.what());
  } catch (...) {
    return Failed(first, "unknown exception");
  }
  for (const Object* const object : objects) {
    if (object->version() != version) return Failed(*object, "the converter left it as it was");
  }
  return {};
}

// OK if the object can be given to its converter.
Status CheckConvertible(const Object& object, std::string_view version) {
  const Kind& kind = object.kind();
  const bool has_from = kind.FindVersion(object.version()) != nullptr;
  if (!has_from || kind.FindVersion(version) == nullptr) {
    const std::string_view missing = has_from ? version : std::string_view(object.version());
    return Status(Reason::kBadRequest,
                  "no version " + field::Quote(missing) + " of " + kind.group_kind().ToString());
  }
  return object.load_status();
}

// Returns a copy to be converted. It shares the content, which never changes any more: what the
// conversion leaves as it is, is not copied.
Result<std::unique_ptr<Object>> Sharing(const Object& object) {
  RETURN_IF_ERROR(object.load_status());
  return std::make_unique<Object>(object.kind_ptr(), object.version(), Arena(), object.root());
}

// Returns the cached form of `object` in `version`, which keeps the object alive. Null: none is
// cached.
ObjectPtr Kept(const ObjectPtr& object, std::string_view version) {
  const Object* const kept = object->FindConverted(version);
  return kept != nullptr ? ObjectPtr(object, kept) : nullptr;
}

ObjectPtr Keep(const ObjectPtr& object, std::unique_ptr<Object> converted) {
  if (const Object* kept = object->StoreConverted(converted)) return {object, kept};
  converted->arena().Pin(object);
  return ObjectPtr(std::move(converted));
}

// `objects` are of versions other than `version`.
Status ConvertAll(const Context& ctx, std::span<Object* const> objects, std::string_view version) {
  if (objects.front()->kind().converter().may_wait() && !ctx.may_block()) {
    return Status(Reason::kWouldBlock, "converting an object");
  }
  for (const Object* const object : objects) RETURN_IF_ERROR(CheckConvertible(*object, version));
  const Before before(objects);
  Status status = CallConverter(ctx, objects, version);
  if (!status.ok()) before.PutBack();
  return status;
}

}  // namespace

Status Convert(const Context& ctx, std::span<Object* const> objects, std::string_view version) {
  std::vector<Object*> others;
  for (Object* const object : objects) {
    if (object->version() != version) others.push_back(object);
  }
  if (others.empty()) return {};
  return ConvertAll(ctx, others, version);
}

Status Convert(const Context& ctx, Object& object, std::string_view version) {
  if (object.version() == version) return {};
  Object* const one[] = {&object};
  return ConvertAll(ctx, one, version);
}

// The functions of a Go type leave it to the one pass at the end to settle what they made.
Status ConvertAndSettle(const Context& ctx, Object& object, std::string_view version) {
  const bool typed = object.kind().semantics() == Semantics::kGoType;
  if (typed && object.version() != version &&
      &object.kind().converter() == FunctionConverter().get()) {
    RETURN_IF_ERROR(CheckConvertible(object, version));
    RETURN_IF_ERROR(Functions::Unsettled(object, version));
  } else {
    RETURN_IF_ERROR(Convert(ctx, object, version));
  }
  const Status fits = typed ? Settle(object, {.defaults = false}) : Status();
  return fits.ok() ? fits : Status(Reason::kInternalError, std::string(fits.message()));
}

Result<ObjectPtr> Converted(const Context& ctx, const ObjectPtr& object, std::string_view version) {
  if (object == nullptr || object->version() == version) return object;
  if (ObjectPtr kept = Kept(object, version)) return kept;
  ASSIGN_OR_RETURN(std::unique_ptr<Object> copy, Sharing(*object));
  RETURN_IF_ERROR(Convert(ctx, *copy, version));
  return Keep(object, std::move(copy));
}

// Gives all objects that need it to the converter in one call: a webhook is called once per list.
Result<std::vector<ObjectPtr>> Converted(const Context& ctx, std::span<const ObjectPtr> objects,
                                         std::string_view version) {
  std::vector<ObjectPtr> converted;
  converted.reserve(objects.size());
  std::vector<std::size_t> places;
  std::vector<std::unique_ptr<Object>> copies;
  std::vector<Object*> together;
  for (const ObjectPtr& object : objects) {
    converted.push_back(object->version() == version ? object : Kept(object, version));
    if (converted.back() != nullptr) continue;
    ASSIGN_OR_RETURN(std::unique_ptr<Object> copy, Sharing(*object));
    places.push_back(converted.size() - 1);
    together.push_back(copy.get());
    copies.push_back(std::move(copy));
  }
  if (together.empty()) return converted;
  RETURN_IF_ERROR(ConvertAll(ctx, together, version));
  for (std::size_t i = 0; i < places.size(); ++i) {
    converted[places[i]] = Keep(objects[places[i]], std::move(copies[i]));
  }
  return converted;
}

// Converts and drops one copy at a time, unless the converter may wait: it gets all of its objects
// in one call. An object that cannot be read is visited as it is.
Status VisitConverted(const Context& ctx, std::span<const ObjectPtr> objects,
                      std::string_view version, const Visit& visit) {
  std::vector<std::size_t> places;
  std::vector<std::unique_ptr<Object>> copies;
  std::vector<Object*> together;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects[i]->version() == version) {
      visit(i, *objects[i]);
      continue;
    }
    std::unique_ptr<Object> copy = objects[i]->Clone();
    const bool readable = copy->load_status().ok();
    if (readable && copy->kind().converter().may_wait()) {
      places.push_back(i);
      together.push_back(copy.get());
      copies.push_back(std::move(copy));
      continue;
    }
    if (readable) RETURN_IF_ERROR(Convert(ctx, *copy, version));
    visit(i, *copy);
  }
  if (!together.empty()) RETURN_IF_ERROR(ConvertAll(ctx, together, version));
  for (std::size_t i = 0; i < places.size(); ++i) visit(places[i], *copies[i]);
  return {};
}

std::shared_ptr<const VersionConverter> FunctionConverter() {
  static const auto functions = std::make_shared<const Functions>();
  return functions;
}

}  // namespace apiserver::v0::runtime
