#include <memory>
#include <utility>

#include "apiserver/base/trace.h"
#include "base/status_macros.h"
#include "storage/in_span.h"
#include "storage/list_options.h"
#include "storage/store/object_store.h"

namespace apiserver::v0::storage::store {

// An update that outlives the frame of its caller. Used by one thread after another.
struct ObjectStore::AsyncUpdate {
  AsyncUpdate(ObjectStore& owner, const Context& caller, UpdateCall wanted, UpdateDone told)
      : store(owner),
        ctx(caller),
        scope(ctx, "GuaranteedUpdate store"),
        call(std::move(wanted)),
        done(std::move(told)) {}

  ObjectStore& store;
  const Context ctx;
  trace::ScopedSpan scope;
  UpdateCall call;
  UpdateDone done;

  void Tell(UpdateOutcome outcome) { std::exchange(done, nullptr)(std::move(outcome)); }
  void End(Result<runtime::ObjectPtr> updated, bool unchanged = false) {
    scope.span().EndWith(updated.status());
    if (updated.ok()) return Tell({*std::move(updated), nullptr, unchanged});
    Tell({nullptr, [updated = std::move(updated)](const Context&) { return updated; }});
  }

  // Makes the attempts up to the first write.
  Result<Attempt> Begin() {
    ASSIGN_OR_RETURN(State state, store.FirstState(scope.ctx(), call.key, call.options));
    return store.NextChange(scope.ctx(), call, std::move(state));
  }

  // Goes on from the state that won the race. Decrypting it may wait.
  Result<runtime::ObjectPtr> Retry(const Context& here, const kv::KeyValue& winner) {
    const auto retry = [&]() -> Result<runtime::ObjectPtr> {
      ASSIGN_OR_RETURN(State state, store.StateOf(call.key, winner));
      return store.UpdateUntilDone(scope.ctx().WithMayBlock(here.may_block()), call,
                                   std::move(state));
    };
    auto updated = retry();
    scope.span().EndWith(updated.status());
    return updated;
  }
};

void ObjectStore::GuaranteedUpdateAsync(const Context& ctx, std::string_view key,
                                        const UpdateOptions& options, TryUpdate try_update,
                                        UpdateDone done) {
  const auto update = std::make_shared<AsyncUpdate>(
      *this, ctx, UpdateCall{.options = options, .try_update = std::move(try_update)},
      std::move(done));
  Describe({*options_.kind, key}, update->scope.span());
  auto prepared = PrepareKey(options_.prefix, key, false);
  if (!prepared.ok()) return update->End(prepared.status());
  update->call.key = *std::move(prepared);
  auto attempt = update->Begin();
  if (!attempt.ok()) return update->End(attempt.status());
  if (!attempt->change) return update->End(std::move(attempt->unchanged), /*unchanged=*/true);

  kv::TxnRequest txn = std::move(attempt->change->txn);
  options_.engine->TxnAsync(
      update->scope.ctx(), std::move(txn),
      [this, update, change = *std::move(attempt->change),
       began = options_.clock->Now()](Result<kv::TxnResponse> response) mutable {
        OnAnswered(update->ctx, Call::kUpdate, began, response.status());
        if (!response.ok()) return update->End(response.status());
        if (response->succeeded) {
          return update->End(Changed(update->call.key, std::move(change), response->revision));
        }
        update->Tell({nullptr, [update, winner = std::move(response->kv)](const Context& here) {
                        return update->Retry(here, winner);
                      }});
      });
}

}  // namespace apiserver::v0::storage::store
