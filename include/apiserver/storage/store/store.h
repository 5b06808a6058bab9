#pragma once

#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/value/transformer.h"

namespace apiserver::inline v0::storage::store {

struct Options {
  // Required; must outlive the store.
  kv::Engine* engine = nullptr;
  // Required. Objects are written in its storage version, and handed out in the version of their
  // bytes.
  runtime::KindPtr kind;
  // Required. Prepended to every key, leading '/', none trailing:
  // "/registry/wardle.example.com/wardle.example.com/flunders".
  std::string prefix;
  // How many objects one read of the engine asks for while a selective list fills its page.
  std::size_t page_objects_max = 10'000;
  // Between encoding and engine; the full key is its authenticated data. Null: bytes are stored as
  // they are encoded, and what looks encrypted is not read.
  value::TransformerPtr transformer = nullptr;
  const Clock* clock = &RealClock();
};

// The objects of one resource over an engine: etcd3.store of k8s.io/apiserver.
std::unique_ptr<Interface> New(Options options);

}  // namespace apiserver::inline v0::storage::store
