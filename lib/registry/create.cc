#include <chrono>
#include <string>
#include <utility>

#include "apiserver/rest/create.h"
#include "apiserver/rest/meta.h"
#include "apiserver/runtime/convert.h"
#include "base/status_macros.h"
#include "registry/dry_run.h"
#include "registry/generic_store.h"

namespace apiserver::v0::registry {
namespace {

// Enough for a million names per generateName with a chance of one in a thousand that one collides.
constexpr int kNameGenerationAttemptsMax = 8;

bool NeedsName(const runtime::Object& object) {
  return object.name().empty() && !object.generate_name().empty();
}

}  // namespace

// Tells a client that waits for a deletion from one whose name is taken for good, as
// registry.Store.Create.
Status GenericStore::InterpretCreateError(const Context& ctx, const Status& error,
                                          std::string_view key, const runtime::Object& object) {
  Status seen = Interpret(error, Verb::kCreate, object.name());
  seen = rest::CheckGeneratedNameError(object, seen);
  if (seen.reason() != Reason::kAlreadyExists) return seen;
  const auto existing = storage_->Get(ctx, key, {});
  if (!existing.ok() || !(*existing)->deleting()) return seen;
  return seen.WithMessage("object is being deleted: " + std::string(seen.message()));
}

// Follows the first half of registry.Store.Create. The key is made last, since only then the name
// is known.
Result<std::string> GenericStore::PrepareCreate(const Context& ctx, runtime::Object& object,
                                                const rest::ValidateObject& validate) const {
  rest::FillObjectMetaSystemFields(object, *config_.clock, *config_.random);
  if (NeedsName(object)) {
    object.Edit("metadata", "name") = rest::GenerateName(object.generate_name(), *config_.random);
  }
  if (options_.refuse_create) RETURN_IF_ERROR(options_.refuse_create(ctx, object));
  RETURN_IF_ERROR(
      rest::BeforeCreate(*options_.strategy, ctx, object, Checked(runtime::SchemaPart::kObject)));
  if (validate) RETURN_IF_ERROR(validate(ctx, object));
  return KeyFor(ctx, object.name());
}

Result<runtime::ObjectPtr> GenericStore::CreateOnce(const Context& ctx, runtime::Object& object,
                                                    const rest::ValidateObject& validate,
                                                    bool dry_run) {
  ASSIGN_OR_RETURN(const std::string key, PrepareCreate(ctx, object, validate));
  // Zero: the object does not expire.
  std::chrono::seconds ttl{0};
  if (options_.ttl) ttl = options_.ttl(object, false).value_or(ttl);

  auto stored = dry_run ? RehearseCreate(*storage_, ctx, key, object)
                        : storage_->Create(ctx, key, object, ttl);
  if (!stored.ok()) return InterpretCreateError(ctx, stored.status(), key, object);
  if (!dry_run) RETURN_IF_ERROR(Tell(ctx, options_.after_create, *stored));
  return stored;
}

Result<runtime::ObjectPtr> GenericStore::Create(const Context& ctx,
                                                std::unique_ptr<runtime::Object> object,
                                                const rest::ValidateObject& validate,
                                                const meta::CreateOptions& options) {
  if (!NeedsName(*object)) return CreateOnce(ctx, *object, validate, options.dry_run);
  for (int attempt = 1;; ++attempt) {
    // A copy for each attempt: a strategy may have changed the first one, with its name.
    const auto copy = object->Clone();
    auto stored = CreateOnce(ctx, *copy, validate, options.dry_run);
    const bool taken = !stored.ok() && stored.status().reason() == Reason::kAlreadyExists;
    if (!taken || attempt == kNameGenerationAttemptsMax) return stored;
  }
}

void GenericStore::CreateAsync(const Context& ctx, std::unique_ptr<runtime::Object> object,
                               const rest::ValidateObject& validate,
                               const meta::CreateOptions& options, Done done) {
  const auto fail = [&done](const Status& why) {
    done({nullptr, [why](const Context&) { return why; }});
  };
  // A second try, a rehearsal, a lease, a hook and converting elsewhere want a thread in any case.
  const bool told = options_.after_create || options_.after_write;
  if (NeedsName(*object) || options.dry_run || options_.ttl || told ||
      options_.kind->converter().may_wait()) {
    auto stored = Create(ctx, std::move(object), validate, options);
    return stored.ok() ? done({*std::move(stored), nullptr}) : fail(stored.status());
  }
  const auto key = PrepareCreate(ctx, *object, validate);
  if (!key.ok()) return fail(key.status());
  const runtime::Object& written = *object;
  // The lambda owns the object, which `written` refers to until the storage has called back.
  storage_->CreateAsync(ctx, *key, written,
                        [this, key = *key, object = std::move(object),
                         done = std::move(done)](Result<runtime::ObjectPtr> stored) mutable {
                          if (stored.ok()) return done({*std::move(stored), nullptr});
                          done({nullptr, [this, key, object = std::move(object),
                                          error = stored.status()](const Context& here) {
                                  return InterpretCreateError(here, error, key, *object);
                                }});
                        });
}

}  // namespace apiserver::v0::registry
