#include "apiserver/client/shared_informer.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "client/reflector.h"
#include "client/shared_store.h"

namespace apiserver::v0::client {
namespace {

using runtime::ObjectPtr;
using std::chrono::milliseconds;

class Registration final : public HandlerRegistration {
 public:
  Registration(std::shared_ptr<SharedStore> store, std::shared_ptr<Listener> listener)
      : store_(std::move(store)), listener_(std::move(listener)) {}
  ~Registration() override { Remove(); }

  void Remove() override {
    if (listener_ && !std::exchange(removed_, true)) store_->RemoveListener(listener_);
  }
  bool HasSynced() const override { return listener_ && listener_->synced().HasBeenNotified(); }
  bool WaitForSync(milliseconds timeout) const override {
    return listener_ && listener_->synced().WaitFor(timeout);
  }

 private:
  const std::shared_ptr<SharedStore> store_;
  const std::shared_ptr<Listener> listener_;  // Null: the informer was stopped already.
  bool removed_ = false;
};

class IndexInformer final : public SharedInformer {
 public:
  using SharedInformer::AddHandler;
  IndexInformer(Client& client, SharedInformerOptions options)
      : resync_(options.resync),
        store_(std::make_shared<SharedStore>()),
        reflector_(client, std::move(options.informer), *store_) {
    for (auto& [name, function] : options.indexes) {
      // Names of a map are different, and the built-in one is there whoever asks for it.
      (void)store_->AddIndex(name, std::move(function));
    }
    for (const InformerHandler& handler : reflector_.options().handlers) {
      (void)store_->AddListener(handler, resync_);  // The store keeps it.
    }
  }
  ~IndexInformer() override { Stop(); }

  void Start() override { reflector_.Start(); }
  void Stop() override {
    reflector_.Stop();
    store_->Stop();
  }
  bool HasSynced() const override { return reflector_.HasSynced(); }
  bool WaitForSync(milliseconds timeout) const override { return reflector_.WaitForSync(timeout); }
  std::string LastResourceVersion() const override { return reflector_.LastResourceVersion(); }
  ObjectPtr Get(std::string_view namespace_, std::string_view name) const override {
    return store_->Get(namespace_, name);
  }
  std::vector<ObjectPtr> List() const override { return store_->List(); }
  std::vector<ObjectPtr> List(std::string_view namespace_) const override {
    return store_->ListNamespace(namespace_);
  }

  std::unique_ptr<HandlerRegistration> AddHandler(InformerHandler handler,
                                                  std::optional<milliseconds> resync) override {
    return std::make_unique<Registration>(
        store_, store_->AddListener(std::move(handler), resync.value_or(resync_)));
  }
  Status AddIndex(std::string name, IndexFunction function) override {
    return store_->AddIndex(name, std::move(function));
  }
  Result<std::vector<ObjectPtr>> ByIndex(std::string_view name,
                                         std::string_view value) const override {
    return store_->ByIndex(name, value);
  }
  Result<std::vector<std::string>> IndexValues(std::string_view name) const override {
    return store_->IndexValues(name);
  }

 private:
  const milliseconds resync_;
  const std::shared_ptr<SharedStore> store_;
  Reflector reflector_;
};

class Informers final : public SharedInformers {
 public:
  Informers(Client& client, SharedInformerOptions options)
      : client_(client), options_(std::move(options)) {}
  ~Informers() override { Stop(); }

  SharedInformer& For(const runtime::GroupVersionResource& resource) override {
    const auto state = state_.Lock();
    for (const Entry& entry : state->entries) {
      if (entry.resource == resource) return *entry.informer;
    }
    SharedInformerOptions options = options_;
    options.informer.target.resource = resource;
    state->entries.push_back({resource, NewSharedInformer(client_, std::move(options))});
    return *state->entries.back().informer;
  }

  void Start() override {
    const auto state = state_.Lock();
    if (state->stopped) return;
    for (Entry& entry : state->entries) {
      if (!std::exchange(entry.started, true)) entry.informer->Start();
    }
  }

  bool WaitForSync(milliseconds timeout) const override {
    const auto until = RealClock().Now() + timeout;
    for (const SharedInformer* informer : Started()) {
      const auto left = std::chrono::ceil<milliseconds>(until - RealClock().Now());
      if (!informer->WaitForSync(std::max(left, milliseconds(0)))) return false;
    }
    return true;
  }

  void Stop() override {
    state_.Lock()->stopped = true;
    for (SharedInformer* informer : Started()) informer->Stop();
  }

 private:
  struct Entry {
    runtime::GroupVersionResource resource;
    std::unique_ptr<SharedInformer> informer;
    bool started = false;
  };
  struct State {
    std::vector<Entry> entries;
    bool stopped = false;
  };

  std::vector<SharedInformer*> Started() const {
    std::vector<SharedInformer*> started;
    const auto state = state_.Lock();
    for (const Entry& entry : state->entries) {
      if (entry.started) started.push_back(entry.informer.get());
    }
    return started;
  }

  Client& client_;
  const SharedInformerOptions options_;
  Guarded<State> state_;
};

}  // namespace

std::unique_ptr<SharedInformer> NewSharedInformer(Client& client, SharedInformerOptions options) {
  return std::make_unique<IndexInformer>(client, std::move(options));
}

std::unique_ptr<SharedInformers> NewSharedInformers(Client& client, SharedInformerOptions options) {
  return std::make_unique<Informers>(client, std::move(options));
}

}  // namespace apiserver::v0::client
