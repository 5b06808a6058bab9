#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/runtime/time.h"
#include "apiserver/runtime/typed.h"

// meta/v1 ObjectMeta as a struct, for those that apiserver-gen writes.
namespace apiserver::inline v0::runtime {

// Names the object that owns another: meta/v1 OwnerReference.
struct OwnerReference {
  // NOLINTBEGIN(readability-identifier-naming): the names of JSON.
  std::string apiVersion;
  std::string kind;
  std::string name;
  std::string uid;
  std::optional<bool> controller;
  std::optional<bool> blockOwnerDeletion;
  // NOLINTEND(readability-identifier-naming)

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
  // Calls `fields` with the name and the member of each field.
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("apiVersion", &OwnerReference::apiVersion);
    fields("kind", &OwnerReference::kind);
    fields("name", &OwnerReference::name);
    fields("uid", &OwnerReference::uid);
    fields("controller", &OwnerReference::controller);
    fields("blockOwnerDeletion", &OwnerReference::blockOwnerDeletion);
  }
};

// Has no managedFields: they belong to the server, and stay in an object that is written over.
struct ObjectMeta {
  // NOLINTBEGIN(readability-identifier-naming): the names of JSON.
  std::optional<std::string> name;
  std::optional<std::string> generateName;
  std::optional<std::string> namespace_;  // JSON's namespace.
  std::optional<std::string> uid;
  std::optional<std::string> resourceVersion;
  std::optional<std::int64_t> generation;
  UnixTime creationTimestamp;  // Zero: not created yet.
  std::optional<UnixTime> deletionTimestamp;
  std::optional<std::int64_t> deletionGracePeriodSeconds;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::vector<OwnerReference> ownerReferences;
  std::vector<std::string> finalizers;
  // NOLINTEND(readability-identifier-naming)

  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
  // Calls `fields` with the name and the member of each field.
  template <class Fields>
  static void ForEachField(const Fields& fields) {
    fields("name", &ObjectMeta::name);
    fields("generateName", &ObjectMeta::generateName);
    fields("namespace", &ObjectMeta::namespace_);
    fields("uid", &ObjectMeta::uid);
    fields("resourceVersion", &ObjectMeta::resourceVersion);
    fields("generation", &ObjectMeta::generation);
    fields("creationTimestamp", &ObjectMeta::creationTimestamp);
    fields("deletionTimestamp", &ObjectMeta::deletionTimestamp);
    fields("deletionGracePeriodSeconds", &ObjectMeta::deletionGracePeriodSeconds);
    fields("labels", &ObjectMeta::labels);
    fields("annotations", &ObjectMeta::annotations);
    fields("ownerReferences", &ObjectMeta::ownerReferences, typed::FieldOptions{.keys = {"uid"}});
    fields("finalizers", &ObjectMeta::finalizers);
  }
};

}  // namespace apiserver::inline v0::runtime
