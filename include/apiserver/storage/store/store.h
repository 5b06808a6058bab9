#pragma once

#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/store/calls.h"
#include "apiserver/storage/value/transformer.h"

namespace apiserver::inline v0::storage::store {

// The resource that a store holds, and the engine below it.
struct Options {
  // Required; must outlive the store.
  kv::Engine* engine = nullptr;
  // Required. Objects are written in its storage version, and returned in the version of their
  // bytes.
  runtime::KindPtr kind;
  // Required. Prepended to every key; it begins with '/' and does not end with one:
  // "/registry/wardle.example.com/wardle.example.com/flunders".
  std::string prefix;
  // Limits the objects that one read of the engine asks for while a selective list fills its page.
  std::size_t page_objects_max = 10'000;
  // Transforms values between encoding and engine, with the full key as authenticated data. Null:
  // bytes are stored as they are encoded, and encrypted values are not read.
  value::TransformerPtr transformer = nullptr;
  // The observer of the engine's calls, but for the reads with which a watch cache begins. Null:
  // there is none.
  std::shared_ptr<CallObserver> calls = nullptr;
  // Times requests, leases and bookmarks.
  const Clock* clock = &RealClock();
};

// Returns the storage of one resource over an engine: etcd3.store of k8s.io/apiserver.
std::unique_ptr<Interface> New(Options options);

}  // namespace apiserver::inline v0::storage::store
