#include <string>

#include "apiserver/audit/request.h"
#include "apiserver/rest/meta.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/answer.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/owner_references.h"
#include "endpoints/handlers/too_large.h"

namespace apiserver::v0::endpoints {

namespace {

bool KeepsSystemFields(const RequestScope& scope) {
  const auto* const preserver = scope.capabilities.meta_preserver;
  return !scope.subresource.empty() && preserver != nullptr &&
         preserver->PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate();
}

// Does everything before the write.
// Follows the first half of handlers.createHandler; mostly runs on the pool, since admission may
// call webhooks.
Result<std::unique_ptr<runtime::Object>> Prepare(const RequestScope& scope,
                                                 http::Exchange& exchange,
                                                 const meta::CreateOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object,
                   scope.Decode(exchange, options.field_validation));
  const auto& info = exchange.Get<request::RequestInfo>();
  // A create at the path of an object was authorized, and is admitted, under the name of the path.
  if (scope.subresource.empty() && !info.name.empty()) {
    RETURN_IF_ERROR(scope.CheckName(*object, info.name, info.namespace_));
  }
  if (!KeepsSystemFields(scope)) rest::WipeObjectMetaSystemFields(*object);
  RETURN_IF_ERROR(rest::EnsureObjectNamespaceMatchesRequestNamespace(info.namespace_, *object));
  DedupOwnerReferences(exchange.ctx(), *object, /*after_admission=*/false);
  scope.TrackFields(exchange, nullptr, *object, options.field_manager);
  RETURN_IF_ERROR(Admitter(scope, exchange, options).Admit(exchange.ctx(), *object, nullptr));
  DedupOwnerReferences(exchange.ctx(), *object, /*after_admission=*/true);
  return object;
}

// A stored object is parsed to learn its name, and keeps what was parsed: only for a record.
void LogName(const Context& ctx, const runtime::Object& created) {
  audit::LogCreatedName(ctx, [&created] { return std::string(created.name()); });
}

http::Step Create(const ScopePtr& scope, http::Exchange& exchange);

// Tells the error, or begins the write again here if it had to wait on a loop.
http::Step Failed(const ScopePtr& scope, http::Exchange& exchange, rest::AsyncCreater::Outcome& of,
                  bool on_loop) {
  Status error = of.error(exchange.ctx());
  if (on_loop && error.reason() == Reason::kWouldBlock) return Create(scope, exchange);
  return error;
}

void Finish(const ScopePtr& scope, http::Exchange& exchange, rest::AsyncCreater::Outcome outcome,
            bool on_loop, http::Resume resume) {
  if (!outcome.object) {
    return resume(http::Step::OnPool(
        [scope, &exchange, outcome = std::move(outcome), on_loop]() mutable -> http::Step {
          return Failed(scope, exchange, outcome, on_loop);
        }));
  }
  LogName(exchange.ctx(), *outcome.object);
  Answer(scope, exchange, {std::move(outcome.object), /*created=*/true}, std::move(resume));
}

// The thread is free until the storage calls back.
http::Step CreateAsync(const ScopePtr& scope, http::Exchange& exchange,
                       std::unique_ptr<runtime::Object> object,
                       const meta::CreateOptions& options) {
  return http::Step::Later(
      [scope, &exchange, object = std::move(object), options](http::Resume resume) mutable {
        const auto validate = Admitter(*scope, exchange, options).ValidateCreate();
        scope->capabilities.async_creater->CreateAsync(
            exchange.ctx(), std::move(object), validate, options,
            [scope, &exchange, on_loop = !exchange.ctx().may_block(),
             resume = std::move(resume)](rest::AsyncCreater::Outcome outcome) mutable {
              Finish(scope, exchange, std::move(outcome), on_loop, std::move(resume));
            });
      });
}

Result<runtime::ObjectPtr> StoreOnce(const RequestScope& scope, http::Exchange& exchange,
                                     std::unique_ptr<runtime::Object> object,
                                     const meta::CreateOptions& options) {
  const Admitter admitter(scope, exchange, options);
  if (scope.capabilities.named_creater) {
    return scope.capabilities.named_creater->Create(
        exchange.ctx(), exchange.Get<request::RequestInfo>().name, std::move(object),
        admitter.ValidateCreate(), options);
  }
  return scope.capabilities.creater->Create(exchange.ctx(), std::move(object),
                                            admitter.ValidateCreate(), options);
}

// With its owners a larger body may exceed the storage's limit (etcd: 1.5 MiB); a smaller one is
// not cloned for a second attempt.
constexpr std::size_t kMayBeTooLarge = 256 << 10;

bool MayBeTooLarge(const http::Exchange& exchange) {
  return exchange.body() != nullptr && exchange.body()->size() > kMayBeTooLarge;
}

// Clones only a body that may need a second attempt, without managedFields.
Result<runtime::ObjectPtr> Store(const RequestScope& scope, http::Exchange& exchange,
                                 std::unique_ptr<runtime::Object> object,
                                 const meta::CreateOptions& options) {
  if (!MayBeTooLarge(exchange)) return StoreOnce(scope, exchange, std::move(object), options);
  return WriteWithoutOwnersIfTooLarge([&](bool with_owners) {
    if (with_owners) return StoreOnce(scope, exchange, object->Clone(), options);
    object->Erase("metadata", "managedFields");
    return StoreOnce(scope, exchange, std::move(object), options);
  });
}

http::Step StoreAndAnswer(const RequestScope& scope, http::Exchange& exchange,
                          std::unique_ptr<runtime::Object> object,
                          const meta::CreateOptions& options) {
  ASSIGN_OR_RETURN(const runtime::ObjectPtr created,
                   Store(scope, exchange, std::move(object), options));
  if (created == nullptr) return response::WriteSuccess(exchange, 201, {}, /*print_code=*/true);
  LogName(exchange.ctx(), *created);
  return response::WriteObject(exchange, 201, created, scope.target);
}

// The asynchronous way needs no clone, and a body that may be too large needs one. A name that is
// chosen here may be taken, and a rehearsal reads: both want a thread.
bool GoesAsync(const RequestScope& scope, const http::Exchange& exchange,
               const runtime::Object& object, const meta::CreateOptions& options) {
  if (scope.capabilities.async_creater == nullptr || MayBeTooLarge(exchange)) return false;
  return exchange.ctx().may_block() || (!object.name().empty() && !options.dry_run);
}

http::Step Create(const ScopePtr& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(CheckCreate(*scope, exchange));
  ASSIGN_OR_RETURN(const meta::CreateOptions options,
                   meta::ParseCreateOptions(exchange.query().all()));
  ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object, Prepare(*scope, exchange, options));
  if (GoesAsync(*scope, exchange, *object, options)) {
    return CreateAsync(scope, exchange, std::move(object), options);
  }
  if (exchange.ctx().may_block()) {
    return StoreAndAnswer(*scope, exchange, std::move(object), options);
  }
  return http::Step::OnPool(
      [scope, &exchange, object = std::move(object), options]() mutable -> http::Step {
        return StoreAndAnswer(*scope, exchange, std::move(object), options);
      });
}

}  // namespace

// Runs before the body is read, so that a request that fails anyway is refused without it.
Status CheckCreate(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope.target, /*watch=*/false));
  return BodyMediaType(exchange).status();
}

http::Handler NewCreateHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange, {admission::Operation::kCreate}));
    return Create(scope, exchange);
  };
}

}  // namespace apiserver::v0::endpoints
