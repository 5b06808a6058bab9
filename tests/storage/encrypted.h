#pragma once

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/value/transformer.h"
#include "storage/backends.h"

// A storage with values that are encrypted at rest, whose keys change.
namespace apiserver::inline v0::testing {

using apiserver::storage::value::FromStorage;
using apiserver::storage::value::Prefixed;
using apiserver::storage::value::TransformerPtr;

// Another transformer from one call to the next: what a reloaded configuration is.
class Switch final : public apiserver::storage::value::Transformer {
 public:
  explicit Switch(TransformerPtr first) : now_(std::move(first)) {}
  void Set(TransformerPtr next) { *now_.Lock() = std::move(next); }
  Result<FromStorage> TransformFromStorage(std::string_view data,
                                           std::string_view key) const override {
    const TransformerPtr now = *now_.Lock();
    return now->TransformFromStorage(data, key);
  }
  Result<std::string> TransformToStorage(std::string_view data,
                                         std::string_view key) const override {
    const TransformerPtr now = *now_.Lock();
    return now->TransformToStorage(data, key);
  }

 private:
  Guarded<TransformerPtr> now_;
};

// The first of `names` writes, all are read.
inline TransformerPtr Keys(const std::vector<char>& names) {
  std::vector<Prefixed> keys;
  for (const char name : names) {
    keys.push_back({std::string("k8s:enc:aesgcm:v1:") + name + ":",
                    *apiserver::storage::value::NewAesGcm(std::string(32, name))});
  }
  return apiserver::storage::value::NewPrefixTransformers("no matching prefix found",
                                                          std::move(keys));
}

// The beginning of each value that was written with the key 'b'.
inline constexpr char kWithB[] = "k8s:enc:aesgcm:v1:b:";

struct Encrypted {
  explicit Encrypted(Form form, std::size_t history_max = 100'000)
      : keys(std::make_shared<Switch>(Keys({'a'}))), backend(form, history_max, keys) {}

  static std::string FullKey(std::string_view name) {
    return "/registry/test.example.com/widgets/ns/" + std::string(name);
  }
  // The engine's bytes.
  std::string Stored(std::string_view name) {
    apiserver::storage::kv::RangeRequest request;
    request.key = FullKey(name);
    const auto response = backend.engine->Range(backend.ctx, request);
    REQUIRE((response.ok() && response->kvs.size() == 1));
    return *response->kvs[0].value;
  }
  // Puts bytes under the storage's feet; returns their revision.
  std::string Put(std::string_view name, const std::string& bytes) {
    apiserver::storage::kv::RangeRequest request;
    request.key = FullKey(name);
    const auto before = backend.engine->Range(backend.ctx, request);
    REQUIRE(before.ok());
    apiserver::storage::kv::TxnRequest txn;
    txn.key = request.key;
    txn.expected_mod_revision = before->kvs.empty() ? 0 : before->kvs[0].mod_revision;
    txn.value = std::make_shared<const std::string>(bytes);
    const auto response = backend.engine->Txn(backend.ctx, txn);
    REQUIRE((response.ok() && response->succeeded));
    return std::to_string(response->revision);
  }
  // An update that changes nothing; the resource version after it.
  std::string Touch(std::string_view name) {
    const auto touched = backend.storage->GuaranteedUpdate(
        backend.ctx, Backend::KeyOf(name), {},
        [](const runtime::ObjectPtr& current) -> Result<apiserver::storage::Update> {
          apiserver::storage::Update update;
          update.object = current->Clone();
          return update;
        });
    INFO(touched.status().ToString());
    REQUIRE(touched.ok());
    return std::string((*touched)->resource_version());
  }

  std::shared_ptr<Switch> keys;
  Backend backend;
};

}  // namespace apiserver::inline v0::testing
