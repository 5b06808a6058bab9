#pragma once

#include <chrono>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "apiserver/client/informer.h"
#include "client/object_sink.h"

namespace apiserver::inline v0::client {

// Follows one collection: list or watch-list, then watch after watch, each from the revision at
// which the last one ended; from the start again if the server no longer has that revision. The
// methods are those of Informer.
class Reflector {
 public:
  // `client` and `sink` must outlive it. The handlers of `options` are not called.
  Reflector(Client& client, InformerOptions options, ObjectSink& sink)
      : client_(client),
        options_(std::move(options)),
        sink_(sink),
        watch_list_(options_.watch_list),
        ctx_(Context::Child(Context::Background())) {}
  ~Reflector() { Stop(); }

  void Start() {
    thread_ = Thread("informer", [this] { Run(); });
  }
  void Stop();
  bool HasSynced() const { return synced_.HasBeenNotified(); }
  bool WaitForSync(std::chrono::milliseconds timeout) const { return synced_.WaitFor(timeout); }
  std::string LastResourceVersion() const { return *resource_version_.Lock(); }
  const InformerOptions& options() const { return options_; }

 private:
  void Run();
  bool Stopped() const { return stopped_.HasBeenNotified(); }
  runtime::ObjectPtr Kept(const runtime::ObjectPtr& object) const;
  Status Sync();
  meta::ListOptions Selection() const;
  meta::ListOptions WatchOptions() const;
  Status ListAll();
  Status WatchList();
  Status Watch();
  // Reads events until the watch ends. OK: the next one may begin at once.
  Status Follow(WatchStream& stream);
  void Adopt(ObjectMap objects, std::string resource_version);
  // Handles an error that says that the known revision is gone. OK, the first time: a new list is
  // requested at once.
  Status Expire(Status error);

  Client& client_;
  const InformerOptions options_;
  ObjectSink& sink_;
  bool watch_list_;
  bool have_list_ = false;
  bool expired_ = false;
  std::chrono::milliseconds wait_ = options_.backoff;
  Guarded<std::string> resource_version_;
  Notification synced_;
  Notification stopped_;
  Context ctx_;
  Thread thread_;
};

}  // namespace apiserver::inline v0::client
